// SPDX-License-Identifier: GPL-2.0-or-later
//
// Browsers that a test drives: Chromium over its debugging pipe, Firefox over Marionette. Each gets a
// profile in the test's folder and runs headless.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import { patience, waitFor } from './harness.mjs';

const CHROMIUM = ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-extensions',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--mute-audio',
  '--password-store=basic', '--remote-debugging-pipe', '--disable-dev-shm-usage'];

/** One page of Chromium. run(expression) evaluates in it; promises are awaited. */
export class Chromium {
  static async start(box, { args = [], env = {}, width = 1300, height = 900, keepsHead = false } = {}) {
    const folder = fs.mkdtempSync(box.file('chromium.'));
    const flags = keepsHead ? CHROMIUM.slice(1) : CHROMIUM;
    const child = box.spawn('chromium', [...flags, `--user-data-dir=${folder}`,
      `--window-size=${width},${height}`, ...args, 'about:blank'], { fds: ['pipe', 'pipe'], env: { HOME: folder, ...env } });
    const browser = new Chromium(child);
    const { targetInfos } = await waitFor('Chromium to have a page', async () => {
      const targets = await browser.send('Target.getTargets');
      return targets.targetInfos.some((target) => target.type === 'page') && targets;
    }, 20000);
    const page = targetInfos.find((target) => target.type === 'page');
    browser.session = (await browser.send('Target.attachToTarget',
      { targetId: page.targetId, flatten: true })).sessionId;
    await browser.send('Page.enable');
    await browser.send('Runtime.enable');
    await browser.send('Log.enable');
    return browser;
  }

  constructor(child) {
    Object.assign(this, { child, nextId: 1, waiting: new Map(), console: [] });
    let text = '';
    child.process.stdio[4].on('data', (data) => {
      const parts = (text + data).split('\0');
      text = parts.pop();
      for (const part of parts) this.onMessage(JSON.parse(part));
    });
  }

  onMessage(message) {
    if (message.id) {
      const { resolve, reject } = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error) reject(new Error(message.error.message)); else resolve(message.result);
    } else if (message.method === 'Runtime.exceptionThrown') {
      const details = message.params.exceptionDetails;
      this.console.push(`exception: ${details.exception?.description ?? details.text}`);
    } else if (message.method === 'Runtime.consoleAPICalled') {
      this.console.push(`${message.params.type}: ${message.params.args.map((arg) => arg.value ?? arg.description).join(' ')}`);
    } else if (message.method === 'Page.javascriptDialogOpening') {
      // Whether to leave a page that has the screen: a test that leaves means it.
      this.send('Page.handleJavaScriptDialog', { accept: true }).catch(() => {});
    } else if (message.method === 'Log.entryAdded') {
      this.console.push(`${message.params.entry.level}: ${message.params.entry.text}`);
    }
  }

  send(method, params = {}) {
    const id = this.nextId++;
    const message = { id, method, params, ...(this.session ? { sessionId: this.session } : {}) };
    this.child.process.stdio[3].write(`${JSON.stringify(message)}\0`);
    return new Promise((resolve, reject) => { this.waiting.set(id, { resolve, reject }); });
  }

  async goto(url) { await this.send('Page.navigate', { url }); }

  async run(expression) {
    const reply = await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (reply.exceptionDetails) throw new Error(reply.exceptionDetails.exception?.description ?? reply.exceptionDetails.text);
    return reply.result.value;
  }

  async key(type, key, code, keyCode, text) {
    await this.send('Input.dispatchKeyEvent', { type, key, code, windowsVirtualKeyCode: keyCode, text });
  }

  async mouse(type, x, y, options = {}) { await this.send('Input.dispatchMouseEvent', { type, x, y, ...options }); }
}

/** One page of Firefox, with the same run() and goto(). */
export class Firefox {
  static async start(box, { width = 1300, height = 900, prefs = {} } = {}) {
    const folder = fs.mkdtempSync(box.file('firefox.'));
    const port = await freePort();
    const all = { 'marionette.port': port, 'app.update.enabled': false, 'browser.shell.checkDefaultBrowser': false,
      'datareporting.policy.dataSubmissionEnabled': false, 'toolkit.telemetry.enabled': false, ...prefs };
    fs.writeFileSync(`${folder}/user.js`, Object.entries(all)
      .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(''));
    box.spawn('firefox-esr', ['--headless', '--marionette', '--no-remote', '--profile', folder,
      `--width=${width}`, `--height=${height}`], { env: { HOME: folder, MOZ_HEADLESS: '1' } });
    const socket = await waitFor('Firefox', () => new Promise((resolve) => {
      const attempt = net.connect(port, '127.0.0.1');
      attempt.on('connect', () => resolve(attempt));
      attempt.on('error', () => resolve(null));
    }), 30000, 100);
    const browser = new Firefox(socket);
    box.onClose(() => socket.destroy());
    await browser.send('WebDriver:NewSession', { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } });
    await browser.send('WebDriver:SetTimeouts', { script: 60000 * patience });
    return browser;
  }

  constructor(socket) {
    Object.assign(this, { socket, nextId: 1, waiting: new Map() });
    let data = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (part) => {
      data = Buffer.concat([data, part]);
      for (;;) {
        const colon = data.indexOf(':');
        const length = Number(data.subarray(0, colon));
        if (colon < 0 || data.length < colon + 1 + length) return;
        this.onMessage(JSON.parse(data.subarray(colon + 1, colon + 1 + length)));
        data = data.subarray(colon + 1 + length);
      }
    });
  }

  onMessage(message) {
    if (!Array.isArray(message) || message[0] !== 1) return;
    const [, id, error, result] = message;
    const { resolve, reject } = this.waiting.get(id);
    this.waiting.delete(id);
    if (error) reject(new Error(`${error.error}: ${error.message}`)); else resolve(result);
  }

  send(command, params = {}) {
    const id = this.nextId++;
    const text = JSON.stringify([0, id, command, params]);
    this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    return new Promise((resolve, reject) => { this.waiting.set(id, { resolve, reject }); });
  }

  async goto(url) { await this.send('WebDriver:Navigate', { url }); }

  async run(expression) {
    const reply = await this.send('WebDriver:ExecuteAsyncScript', {
      script: `const done = arguments[0];
        (async () => (${expression}))().then((value) => done({ value }), (error) => done({ error: String(error) }));`,
      args: [], newSandbox: false });
    if (reply.value?.error) throw new Error(reply.value.error);
    return reply.value?.value;
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** The pixels of noVNC's canvas: {width, height, pixel(x, y)}, or null while there is none. */
export async function readCanvas(browser) {
  const picture = await browser.run(`(async () => {
    const canvas = document.querySelector('#stage canvas');
    if (!canvas || !canvas.width) return null;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    // RGB only, deflated: a whole screen would be slow as text.
    const rgb = new Uint8Array(canvas.width * canvas.height * 3);
    for (let i = 0, o = 0; i < data.length; i += 4) { rgb[o++] = data[i]; rgb[o++] = data[i + 1]; rgb[o++] = data[i + 2]; }
    const stream = new Blob([rgb]).stream().pipeThrough(new CompressionStream('deflate'));
    const packed = new Uint8Array(await new Response(stream).arrayBuffer());
    let text = '';
    for (let i = 0; i < packed.length; i += 32768) text += String.fromCharCode(...packed.subarray(i, i + 32768));
    return { width: canvas.width, height: canvas.height, data: btoa(text) };
  })()`);
  if (!picture) return null;
  const { inflateSync } = await import('node:zlib');
  const data = inflateSync(Buffer.from(picture.data, 'base64'));
  return { width: picture.width, height: picture.height,
    pixel: (x, y) => [...data.subarray((y * picture.width + x) * 3, (y * picture.width + x) * 3 + 3)], data };
}

/** How many pixels differ between two pictures, inside an area; -1 when their sizes do. */
export function countDifferences(a, b, area = { x: 0, y: 0, width: a.width, height: a.height }) {
  if (a.width !== b.width || a.height !== b.height) return -1;
  let count = 0;
  for (let y = area.y; y < area.y + area.height; y++) {
    for (let x = area.x; x < area.x + area.width; x++) {
      const [p, q] = [a.pixel(x, y), b.pixel(x, y)];
      if (p[0] !== q[0] || p[1] !== q[1] || p[2] !== q[2]) count++;
    }
  }
  return count;
}

/** A link to the live screen. */
export async function makeLink(daemon, role, ttl = 600) {
  const reply = await daemon.request('POST', '/v1/links', { body: { role, ttl_s: ttl } });
  assert.equal(reply.status, 201, reply.body.toString());
  return reply.json().url;
}

export async function waitCanvasExact(browser, daemon, deadlineMs = 5000) {
  return waitFor('the canvas to be the screen exactly', async () => {
    const [canvas, shot] = [await readCanvas(browser), await daemon.shot()];
    return canvas && countDifferences(canvas, shot) === 0;
  }, deadlineMs, 50);
}
