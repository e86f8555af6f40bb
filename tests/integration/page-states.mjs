// SPDX-License-Identifier: GPL-2.0-or-later
//
// How to get the page into each of its states, in any browser. A state is a script that runs in the page
// before anything else, or steps taken on it, or both. `open(link, script)` opens a browser's page and
// gives {run(function, argument), click(selector), waitFor(selector), type(selector, text)}.
import { makeLink } from './browsers.mjs';
import { waitFor } from './harness.mjs';
import { openTakeover } from './page.mjs';

export const NOTE = 'Please log in to the travel account. The code comes by SMS to your phone. I will go on with the booking then.';

const inPhase = (name) => `body[data-phase=${name}]`;

/* Scripts that make the daemon look like one that is slow, gone or not ready. */

const neverAnswers = () => { window.fetch = () => new Promise(() => {}); };
const cannotBeReached = () => { window.fetch = () => Promise.reject(new TypeError('no network')); };
const agentIsBusy = () => {
  const { fetch: plain } = window;
  window.fetch = (url, options) => (/takeover$/.test(url) ? new Promise(() => {}) : plain(url, options));
};
const socketStaysClosed = () => {
  window.WebSocket = class { static OPEN = 1; readyState = 0; close() {} send() {} };
};
const hasNoScreen = () => {
  window.WebSocket = class {
    static OPEN = 1;
    readyState = 3;
    constructor() { setTimeout(() => this.onclose(new CloseEvent('close', { code: 4503 }))); }
    close() {}
    send() {}
  };
};
const keepSockets = () => {
  const Plain = window.WebSocket;
  window.sockets = [];
  window.WebSocket = class extends Plain { constructor(...args) { super(...args); window.sockets.push(this); } };
};

/* Steps */

const hasPicture = () => {
  const canvas = document.querySelector('#frame .picture canvas');
  return Boolean(canvas?.width) && canvas.getContext('2d').getImageData(canvas.width >> 1, canvas.height >> 1, 1, 1).data[3] > 0;
};

async function take(page) {
  await page.waitFor('#card-take');
  await page.click('#card-take');
  await page.waitFor(inPhase('control'));
  await waitFor('the picture', () => page.run(hasPicture), 10000, 30);
}

const sheet = (name) => ({ async steps(page) {
  await take(page);
  await page.click(`#tool-${name}`);
  await page.waitFor('#sheet:not([hidden])');
} });

/** Another session of the same link takes the screen over, as a second person's page does. */
async function takeElsewhere({ takeover }) {
  const link = new URL(takeover.url);
  const call = async (name, body, session) => (await fetch(`${link.origin}${link.pathname}/${name}`, { method: 'POST',
    body: JSON.stringify(body), headers: session ? { Authorization: `Bearer ${session}` } : {} })).json();
  const { session } = await call('session', { token: link.searchParams.get('t') });
  await call('takeover', { confirm: true }, session);
}

/** By name: {script, steps(page, {daemon, takeover, box}), link(context)}. */
export const STATES = {
  opening: { script: neverAnswers, async steps(page) { await page.waitFor('.card-box'); } },
  unreachable: { script: cannotBeReached, async steps(page) { await page.waitFor(inPhase('unreachable')); } },
  invalid: { link: ({ takeover }) => `${takeover.url}x`, async steps(page) { await page.waitFor(inPhase('invalid')); } },
  invite: { async steps(page) { await page.waitFor(inPhase('invite')); } },
  held: { before: takeElsewhere, async steps(page) { await page.waitFor(inPhase('held')); } },
  taking: { script: agentIsBusy, async steps(page) {
    await page.waitFor('#card-take');
    await page.click('#card-take');
    await page.waitFor(inPhase('taking'));
  } },
  connecting: { script: socketStaysClosed, async steps(page) {
    await page.waitFor('#card-take');
    await page.click('#card-take');
    await page.waitFor(inPhase('connecting'));
  } },
  waiting: { script: hasNoScreen, async steps(page) {
    await page.waitFor('#card-take');
    await page.click('#card-take');
    await page.waitFor(inPhase('waiting'));
  } },
  control: { steps: take },
  typing: { async steps(page) {
    await take(page);
    await page.click('#type-button');
    await page.type('#compose-field', 'zoe.mueller@example.org');
  } },
  password: { async steps(page) {
    await take(page);
    await page.click('#type-button');
    await page.click('#compose [aria-label="Password"]');
    await page.type('#compose-field', 'not this one');
  } },
  paste: sheet('paste'),
  zoom: sheet('zoom'),
  keys: sheet('keys'),
  more: sheet('more'),
  pointer: { async steps(page) {
    await take(page);
    await page.click('#tool-zoom');
    await page.click('#sheet .grid button:last-child');
    await page.waitFor('#sheet .pad');
  } },
  messages: { async steps(page, { daemon }) {
    await take(page);
    await daemon.request('POST', '/v1/say', { body: { text: 'I am on the log-in page now. The user name is filled in.' } });
    await page.waitFor('#messages li, #toast:not([hidden])');
    await page.run(() => new Promise((resolve) => setTimeout(resolve, 50)));
    if (await page.run(() => document.body.dataset.layout !== 'wide')) {
      await page.click('#tool-more');
      await page.click('#sheet .item:first-child');
    }
    await page.type('#message-field', 'Which of the two accounts?');
    await page.run(() => document.querySelector('#panel form').requestSubmit());
    await page.waitFor('#messages li.person');
  } },
  hand_back: { async steps(page) {
    await take(page);
    await page.click('#hand-back');
    await page.waitFor('#dialog[open]');
  } },
  reconnecting: { script: keepSockets, async steps(page) {
    await take(page);
    await page.run(() => {
      window.fetch = () => Promise.reject(new TypeError('no network'));
      window.sockets.at(-1).close();
    });
    await page.waitFor(inPhase('reconnecting'));
  } },
  asleep: { script: keepSockets, async steps(page) {
    await take(page);
    await page.run(() => { window.sockets.at(-1).onmessage = null; });
    await page.waitFor(inPhase('asleep'));
  } },
  taken_over: { async steps(page, context) {
    await take(page);
    await takeElsewhere(context);
    await page.waitFor(inPhase('taken_over'));
  } },
  handed_back: { async steps(page) {
    await take(page);
    await page.click('#hand-back');
    await page.waitFor('#hand-back-confirm');
    await page.click('#hand-back-confirm');
    await page.waitFor(inPhase('handed_back'));
  } },
  cancelled: { async steps(page, { daemon, takeover }) {
    await take(page);
    await daemon.request('POST', `/v1/takeovers/${takeover.id}/cancel`, { body: {} });
    await page.waitFor(inPhase('cancelled'));
  } },
  watching: { link: ({ daemon }) => makeLink(daemon, 'view'), async steps(page, { daemon }) {
    await page.waitFor(inPhase('view'));
    await waitFor('the picture', () => page.run(hasPicture), 10000, 30);
    for (const action of [{ type: 'click', x: 420, y: 350 }, { type: 'type', text: 'Zoë' }, { type: 'key', keys: 'Tab' }, { type: 'move', x: 500, y: 420 }])
      await daemon.request('POST', '/v1/act', { body: { actions: [action] } });
  } },
};

/** Gets a page of that state: calls open(link, script), then takes the steps. */
export async function openState(name, daemon, open) {
  const state = STATES[name];
  const takeover = await openTakeover(daemon, { note: NOTE });
  const context = { daemon, takeover };
  await state.before?.(context);
  const link = await (state.link?.(context) ?? takeover.url);
  const page = await open(link, state.script);
  const close = async () => {
    await page.close();
    await daemon.request('POST', `/v1/takeovers/${takeover.id}/cancel`, { body: {} });
  };
  try {
    await state.steps?.(page, context);
  } catch (error) {
    await close();
    throw error;
  }
  return { page, close };
}
