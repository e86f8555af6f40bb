// SPDX-License-Identifier: GPL-2.0-or-later
//
// People on the page: browsers with it open, on phones and desktops, and what they do there. A visitor's
// page keeps what must stay empty: faults, requests to others, violations of its policy.
import assert from 'node:assert/strict';
import net from 'node:net';
import { chromium } from 'playwright-core';
import { patience, waitFor } from './harness.mjs';

export const PIXEL = { viewport: { width: 390, height: 664 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true,
  userAgent: 'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36' };
export const IPHONE = { viewport: { width: 393, height: 660 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true,
  userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1' };
export const DESKTOP = { viewport: { width: 1280, height: 800 } };

/** Chromium for all visitors of a test. */
export async function startPeople(box) {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', timeout: 30000 * patience,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  box.onClose(() => browser.close());
  return browser;
}

/** Opens a takeover, or goes on with the one that is open; {id, url, …} as the daemon answers. */
export async function openTakeover(daemon, { note = 'Please log in. The code comes by SMS.', ...more } = {}) {
  const reply = await daemon.request('POST', '/v1/takeovers', { body: { note, ...more } });
  assert(reply.status === 201 || reply.status === 200, reply.body.toString());
  return reply.json();
}

export const getTakeover = (daemon, { id }, query = '') => daemon.json('GET', `/v1/takeovers/${id}${query}`);

export class Visitor {
  /** A person with a device of their own, at the link. `script` runs in the page before anything else. */
  static async open(browser, url, { device = PIXEL, script, waits = true, ...options } = {}) {
    const context = await browser.newContext({ ...device, ...options });
    const visitor = new Visitor(context, await context.newPage(), new URL(url).origin);
    await visitor.page.addInitScript(watchPage);
    if (script) await visitor.page.addInitScript(script);
    await visitor.page.goto(url);
    if (waits) await visitor.page.locator('body[data-phase]:not([data-phase=opening])').waitFor();
    return visitor;
  }

  constructor(context, page, origin) {
    Object.assign(this, { context, page, requests: [], console: [] });
    page.setDefaultTimeout(20000 * patience);
    page.on('request', (request) => this.requests.push(request.url()));
    page.on('console', (message) => this.console.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => this.console.push(`exception: ${error.stack}`));
    page.on('dialog', (dialog) => dialog.accept().catch(() => {})); // the page may be closing
    this.origin = origin;
  }

  phase() { return this.page.evaluate(() => document.body.dataset.phase); }

  async expectPhase(phase, deadlineMs = 20000) {
    await waitFor(`the phase ${phase}`, async () => await this.phase() === phase, deadlineMs, 30)
      .catch(async (error) => { throw new Error(`${error.message}; it is ${await this.phase()}\n${this.console.join('\n')}`); });
  }

  /** Presses Take over and waits for the picture. */
  async takeOver() {
    await this.page.click('#card-take');
    await this.expectPhase('control');
    await this.expectPicture();
  }

  async expectPicture(deadlineMs = 20000) {
    await waitFor('the picture', () => this.page.evaluate(() => {
      const canvas = document.querySelector('#frame .picture:last-child canvas');
      if (!canvas?.width) return false;
      return canvas.getContext('2d').getImageData(canvas.width >> 1, canvas.height >> 1, 1, 1).data[3] > 0;
    }), deadlineMs, 20);
  }

  /** Where on the page the middle of a pixel of the box's screen is. */
  place(x, y) {
    return this.page.evaluate(([px, py]) => {
      const { left, top, width } = document.querySelector('#frame .picture:last-child canvas').getBoundingClientRect();
      const scale = width / document.querySelector('#frame canvas').width;
      return { x: left + (px + 0.5) * scale, y: top + (py + 0.5) * scale, scale };
    }, [x, y]);
  }

  /** Several fingers: send('touchStart' | 'touchMove' | 'touchEnd', [x, y] each). */
  async touch(type, ...points) {
    this.cdp ??= await this.context.newCDPSession(this.page);
    await this.cdp.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  }

  /** A tap on a pixel of the box's screen. */
  async tap(x, y) {
    const at = await this.place(x, y);
    await this.touch('touchStart', [at.x, at.y]);
    await this.touch('touchEnd');
  }

  /** Opens the compose bar, types as a person does, and inserts. */
  async insert(text, { key } = {}) {
    if (!await this.page.isVisible('#compose-field')) await this.page.click('#type-button');
    await this.page.locator('#compose-field').fill(text);
    if (key) await this.page.press('#compose-field', key);
    else await this.page.click('#insert');
    await this.expectField('');
  }

  async expectField(text) {
    await waitFor(`the field to hold "${text}"`, async () => await this.page.inputValue('#compose-field') === text, 20000, 20);
  }

  async handBack({ outcome, message } = {}) {
    await this.page.click('#hand-back');
    if (outcome) await this.page.check(`#dialog input[value=${outcome}]`);
    if (message) await this.page.fill('#hand-back-message', message);
    await this.page.click('#hand-back-confirm');
    await this.expectPhase('handed_back');
  }

  toast() { return this.page.evaluate(() => document.getElementById('toast').textContent); }

  /** What the page has sent: {json: […], keys: ['+61', …], pointer: [[x, y, mask], …]} since the last call. */
  sent() { return this.page.evaluate(() => window.takeSent()); }

  /** Hides the page as a phone does that shows another app, or brings it back. */
  setHidden(isHidden) {
    return this.page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, isHidden);
  }

  /** Nothing went wrong, nothing was asked of anybody else, nothing broke the policy. */
  async expectClean({ allowed = [] } = {}) {
    // Reading the canvas back is the tests' doing.
    const known = [/willReadFrequently/, ...allowed];
    const faults = this.console.filter((line) => /^(exception|error|warning)/.test(line) && !known.some((each) => each.test(line)));
    assert.deepEqual(faults, []);
    assert.deepEqual(this.requests.filter((url) => !url.startsWith(this.origin) && !/^(data|blob):/.test(url)), []);
    assert.deepEqual(await this.page.evaluate(() => window.violations), []);
  }

  /** Everything a program could find in the page: its elements, fields and storage. */
  async remains() {
    return this.page.evaluate(() => JSON.stringify([document.documentElement.outerHTML,
      [...document.querySelectorAll('input, textarea')].map((field) => field.value),
      { ...localStorage }, { ...sessionStorage }, document.cookie, location.href]));
  }

  close() { return this.context.close(); }
}

/** Runs in the page before anything else: notes violations and what goes over the socket. */
function watchPage() {
  window.violations = [];
  document.addEventListener('securitypolicyviolation', (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
  let sent = { json: [], keys: [], pointer: [] };
  window.takeSent = () => { const all = sent; sent = { json: [], keys: [], pointer: [] }; return all; };
  const { send } = WebSocket.prototype;
  window.sockets = [];
  WebSocket.prototype.send = function watched(data) {
    if (!window.sockets.includes(this)) window.sockets.push(this);
    if (typeof data === 'string') sent.json.push(JSON.parse(data));
    else {
      const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
      if (view.getUint8(0) === 4 && view.byteLength === 8) sent.keys.push((view.getUint8(1) ? '+' : '-') + view.getUint32(4).toString(16));
      if (view.getUint8(0) === 5 && view.byteLength === 6) sent.pointer.push([view.getUint16(2), view.getUint16(4), view.getUint8(1)]);
    }
    return send.call(this, data);
  };
}

/** A window over the whole screen that tells of pointer events: take() → ['+1 100,200', '-1 100,200', 'm 5,5']. */
export async function startPointerLog(box, daemon) {
  const xev = box.spawn('xev', ['-event', 'button', '-event', 'mouse', '-name', 'pointer log', '-geometry', '1280x800+0+0'],
    { env: daemon.env });
  await waitFor('xev', async () => (await daemon.json('GET', '/v1/windows')).windows
    .some((window) => window.title === 'pointer log' && window.visible));
  let taken = 0;
  const all = () => [...xev.output().matchAll(/(ButtonPress|ButtonRelease|MotionNotify) event[^]*?root:\((\d+),(\d+)\),?[^]*?(?:button (\d+)|is_hint)/g)]
    .map(([, kind, x, y, button]) => `${{ ButtonPress: '+', ButtonRelease: '-', MotionNotify: 'm' }[kind]}${button ?? ''} ${x},${y}`);
  return {
    /** The events since the last call; with a count, waits for so many presses and releases first. */
    async take(clicks = 0) {
      const isClick = (line) => /^[+-]/.test(line);
      await waitFor(`${clicks} events`, () => all().slice(taken).filter(isClick).length >= clicks, 5000, 20).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 60)); // what comes too much
      const events = all().slice(taken);
      taken += events.length;
      return events;
    },
  };
}

/** A line to the daemon that can be cut: {url(link), cut(), isDown}. While down, tries are counted and refused. */
export async function startLine(box, daemon) {
  const target = Number(new URL(daemon.url).port);
  const sockets = new Set();
  const line = { isDown: false, tries: [] };
  const server = net.createServer((client) => {
    if (line.isDown) {
      line.tries.push(performance.now());
      client.destroy();
      return;
    }
    const upstream = net.connect(target, '127.0.0.1');
    for (const [a, b] of [[client, upstream], [upstream, client]]) {
      sockets.add(a);
      a.pipe(b);
      a.on('error', () => b.destroy());
      a.on('close', () => { sockets.delete(a); b.destroy(); });
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  box.onClose(() => { line.cut(); server.close(); });
  line.cut = () => { for (const socket of sockets) socket.destroy(); };
  line.url = (link) => link.replace(`:${target}/`, `:${server.address().port}/`);
  return line;
}
