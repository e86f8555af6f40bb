// SPDX-License-Identifier: GPL-2.0-or-later
//
// The daemon's calls (docs/page-api.md). What the link's secret was exchanged for is kept for this tab,
// so that a reload goes on.

export interface Message {
  id: number;
  time: string;
  from: 'agent' | 'person';
  text: string;
}

export interface Takeover {
  id: string;
  state: 'open' | 'connected' | 'away';
  note: string;
  instructions?: string[];
  opened_at: string | null;
  expires_in_s: number;
  extensions_left: number;
}

export interface ServerState {
  role: 'view' | 'control';
  expires_in_s: number;
  screen: 'ready' | 'waiting';
  holder: 'agent' | 'you' | 'other';
  held_since: string | null;
  is_away: boolean;
  is_private: boolean;
  watchers_allowed: boolean;
  takeover: Takeover | null;
  messages?: Message[];
}

/** The link, or what came from it, is not valid (any more). */
export class NotValid extends Error {}

/** The daemon said no; `code` is its word for why. */
export class Refused extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** No answer in time: the box may be asleep. */
export class NoAnswer extends Error {}

const ANSWER_MS = 10000;
const here = location.pathname;
const storageKey = `boxscreen${here}`;
let session: string | null = null;

/** This tab's storage; some browsers deny it to pages in frames, which then start anew after a reload. */
const storage = {
  get(): string | null {
    try {
      return sessionStorage.getItem(storageKey);
    } catch {
      return null;
    }
  },
  set(value: string): void {
    try {
      sessionStorage.setItem(storageKey, value);
    } catch {
      // see above
    }
  },
  clear(): void {
    try {
      sessionStorage.removeItem(storageKey);
    } catch {
      // see above
    }
  },
};

export const boxName = decodeURIComponent(here.split('/').filter(Boolean).pop() ?? '');

async function request(method: string, name: string, body?: object): Promise<unknown> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (session !== null) headers.Authorization = `Bearer ${session}`;
  const reply = await fetch(`${here}/${name}`, {
    method,
    headers,
    body: body ? JSON.stringify(body) : null,
    cache: 'no-store',
    credentials: 'omit',
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch((error: unknown) => {
    throw error instanceof DOMException && error.name === 'TimeoutError' ? new NoAnswer() : error;
  });
  if (reply.status === 401) throw new NotValid();
  const answer = (await reply.json().catch(() => ({}))) as { error?: string; message?: string };
  // A gateway in front of a box that sleeps.
  if (reply.status >= 502 && reply.status <= 504) throw new NoAnswer();
  if (!reply.ok) throw new Refused(answer.error ?? String(reply.status), answer.message ?? '');
  return answer;
}

export function post(name: string, body: object = {}): Promise<unknown> {
  return request('POST', name, body);
}

/** Exchanges the secret, or goes on with this tab's session. */
export async function enter(secret: string | null): Promise<ServerState> {
  if (secret === null) {
    session = storage.get();
    if (session === null) throw new NotValid();
    return getState();
  }
  session = null;
  const reply = (await post('session', { token: secret })) as {
    session: string;
    state: ServerState;
  };
  session = reply.session;
  storage.set(session);
  return reply.state;
}

export function forget(): void {
  session = null;
  storage.clear();
}

export async function getState(): Promise<ServerState> {
  return (await request('GET', 'state')) as ServerState;
}

/** Takes the screen over; `confirm` takes it from another person, too. */
export async function takeOver(confirm: boolean): Promise<ServerState> {
  const reply = (await post('takeover', confirm ? { confirm } : {})) as { state: ServerState };
  return reply.state;
}

/** A ticket for one WebSocket. */
export async function getTicket(): Promise<string> {
  return ((await post('ticket')) as { ticket: string }).ticket;
}

export function liveUrl(): string {
  return `${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}${here}/live`;
}
