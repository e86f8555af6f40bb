// SPDX-License-Identifier: GPL-2.0-or-later
//
// From the secret in the address to a WebSocket ticket. The secret leaves the address bar before
// anything else; what it was exchanged for is kept for this tab, so that a reload goes on.

export class NotValid extends Error {}

export interface Session {
  session: string;
  role: 'view' | 'control';
}

const here = location.pathname;
const storageKey = `boxscreen${here}`;

/** The link's secret, taken out of the address bar. */
export function takeSecret(): string | null {
  const secret = new URLSearchParams(location.search).get('t')
    ?? new URLSearchParams(location.hash.slice(1)).get('t');
  if (secret !== null) history.replaceState(null, '', here);
  return secret;
}

async function post(name: string, body: object, headers: Record<string, string> = {}) {
  const reply = await fetch(`${here}/${name}`, {
    method: 'POST', body: JSON.stringify(body), cache: 'no-store', credentials: 'omit',
    headers: { 'Content-Type': 'application/json', ...headers },
  });
  if (reply.status === 401) throw new NotValid();
  if (!reply.ok) throw new Error(`${name}: ${reply.status}`);
  return reply.json();
}

/** Exchanges the secret, or goes on with this tab's session. */
export async function openSession(secret: string | null): Promise<Session> {
  if (secret === null) {
    const kept = sessionStorage.getItem(storageKey);
    if (kept === null) throw new NotValid();
    return JSON.parse(kept) as Session;
  }
  const session = await post('session', { token: secret }) as Session;
  sessionStorage.setItem(storageKey, JSON.stringify(session));
  return session;
}

export function forgetSession() { sessionStorage.removeItem(storageKey); }

/** A ticket for one WebSocket. */
export async function getTicket(session: Session): Promise<string> {
  const reply = await post('ticket', {}, { Authorization: `Bearer ${session.session}` });
  return (reply as { ticket: string }).ticket;
}

export function liveUrl(): string {
  return `${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}${here}/live`;
}
