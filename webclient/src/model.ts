// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the page knows, and which of its states follows from that. Pure.
import type { ServerState } from './api';

export type Line =
  | 'none' // nothing live is wanted yet
  | 'connecting'
  | 'up'
  | 'down' // dropped; being tried again
  | 'silent'; // there, or accepting, but nobody answers: the box sleeps

export type End = 'invalid' | 'taken_over' | 'handed_back' | 'cancelled';

export type Phase =
  | 'opening'
  | 'unreachable' // the first call failed
  | 'invite'
  | 'held' // the same, but another person has the screen
  | 'taking' // the agent finishes its action
  | 'connecting'
  | 'waiting' // for the screen
  | 'control'
  | 'view'
  | 'reconnecting'
  | 'asleep'
  | End;

export interface Model {
  server: ServerState | null;
  line: Line;
  isScreenMissing: boolean; // the socket was closed for want of a screen
  wantsLive: boolean;
  isTaking: boolean;
  hasFailed: boolean;
  end: End | null;
  heldS: number | null;
  outcome: string | null;
}

export const INITIAL: Model = {
  server: null,
  line: 'none',
  isScreenMissing: false,
  wantsLive: false,
  isTaking: false,
  hasFailed: false,
  end: null,
  heldS: null,
  outcome: null,
};

export function phaseOf(model: Model): Phase {
  const { server, line } = model;
  if (model.end) return model.end;
  if (!server) return model.hasFailed ? 'unreachable' : 'opening';
  if (model.isTaking) return 'taking';
  if (!model.wantsLive) return server.holder === 'other' ? 'held' : 'invite';
  if (line === 'silent') return 'asleep';
  if (line === 'down') return 'reconnecting';
  if (model.isScreenMissing || server.screen === 'waiting') return 'waiting';
  if (line !== 'up') return 'connecting';
  return server.holder === 'you' ? 'control' : 'view';
}

/** Whether the live picture, or its last frame, is to be seen. */
export function showsPicture(phase: Phase): boolean {
  return ['control', 'view', 'reconnecting', 'asleep', 'waiting', 'connecting'].includes(phase);
}

/** What the end of a socket means: an end of the session, or another try. */
export function endOf(closeCode: number): End | null {
  switch (closeCode) {
    case 4401:
      return 'invalid';
    case 4409:
      return 'taken_over';
    case 4410:
      return 'handed_back';
    default:
      return null;
  }
}

/** Whether the page goes straight to the screen, without asking: watchers, and those who hold it already. */
export function opensAtOnce(server: ServerState): boolean {
  return server.role === 'view' || server.holder === 'you' || server.takeover === null;
}

/** "4:05" */
export function formatClock(seconds: number): string {
  const left = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
}
