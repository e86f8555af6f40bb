// SPDX-License-Identifier: GPL-2.0-or-later
//
// How long to wait before the next try to connect. Pure.

const PAUSES_MS = [500, 1000, 2000, 4000, 8000, 15000];
const SPREAD = 0.2; // many pages that lost one server must not all come back at once

/** The pause before try number `attempt` (from 0), with `random` from [0, 1). */
export function pauseMs(attempt: number, random: number): number {
  const pause = PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)]!;
  return pause * (1 - SPREAD + 2 * SPREAD * random);
}
