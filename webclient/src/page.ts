// SPDX-License-Identifier: GPL-2.0-or-later
//
// The live screen in a browser: opens the session, shows the picture, reconnects when the line drops.
import RFB from '@novnc/novnc';
import { RfbChannel } from './rfb_channel';
import { forgetSession, getTicket, liveUrl, NotValid, openSession, takeSecret } from './session';
import type { Session } from './session';

const secret = takeSecret(); // before anything else

const stage = document.getElementById('stage')!;
const statusLine = document.getElementById('status')!;
const handBack = document.getElementById('hand-back') as HTMLButtonElement;

/** Close codes after which trying again is of no use, and what they mean. */
const ENDS: Record<number, string> = {
  4401: 'This link is not valid. Ask for a new one.',
  4409: 'Someone else has taken over.',
  4410: 'The screen was handed back.',
};
const PAUSES_S = [0.5, 1, 2, 4, 8, 15];

let session: Session;
let attempt = 0;
let timer = 0;

const say = (text: string) => { statusLine.textContent = text; };

function end(text: string) {
  clearTimeout(timer);
  stage.replaceChildren();
  handBack.hidden = true;
  say(text);
}

function retry() {
  const pause = PAUSES_S[Math.min(attempt++, PAUSES_S.length - 1)];
  say('The line dropped. Trying again…');
  stage.classList.add('stale');
  clearTimeout(timer);
  timer = window.setTimeout(connect, pause * 1000 * (0.8 + Math.random() * 0.4));
}

/** At once when the tab or the network comes back, unless a try is under way. */
function retryNow() {
  if (timer === 0 || document.hidden) return;
  clearTimeout(timer);
  connect();
}

function showHolder(holder: unknown) {
  const canAct = session.role === 'control';
  handBack.hidden = holder !== 'you';
  if (!canAct) say('Watching');
  else if (holder === 'you') say('You have control');
  else if (holder === 'other') say('Someone else has control; click or type to take it');
  else say('The agent has control; click or type to take it');
}

async function connect() {
  timer = 0;
  let ticket: string;
  try {
    ticket = await getTicket(session);
  } catch (error) {
    if (!(error instanceof NotValid)) return retry();
    forgetSession();
    return end(ENDS[4401]);
  }
  const channel = new RfbChannel(liveUrl(), ticket);
  // noVNC takes its canvas away when it disconnects; the old one stays until the new one shows.
  const frame = document.createElement('div');
  frame.className = 'screen';
  const old = [...stage.children];
  stage.append(frame);
  const rfb = new RFB(frame, channel, { shared: true });
  rfb.viewOnly = session.role !== 'control';
  rfb.scaleViewport = true;
  rfb.resizeSession = false;
  rfb.showDotCursor = true;
  rfb.background = 'transparent';
  let wasConnected = false;
  rfb.addEventListener('connect', () => {
    attempt = 0;
    wasConnected = true;
    stage.classList.remove('stale');
    for (const element of old) element.remove();
    rfb.focus();
  });
  channel.onServerMessage = (message) => {
    if (message.t === 'state') showHolder(message.holder);
  };
  handBack.onclick = () => channel.tell({ t: 'hand_back' });
  channel.onEnd = (code) => {
    if (!wasConnected) frame.remove();
    if (code in ENDS) end(ENDS[code]);
    else retry();
  };
}

addEventListener('online', retryNow);
document.addEventListener('visibilitychange', retryNow);

try {
  session = await openSession(secret);
  say('Connecting…');
  await connect();
} catch (error) {
  end(error instanceof NotValid ? ENDS[4401] : 'The service cannot be reached. Reload to try again.');
}
