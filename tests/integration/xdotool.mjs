// SPDX-License-Identifier: GPL-2.0-or-later
//
// A screen on which the xdotool language (tests/xdo is display/xdotool.h as a program) runs beside Debian's
// xdotool, with a window manager (openbox) or without one, for the tests of xdotool*.test.mjs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { boxTest, build, waitFor } from './harness.mjs';

export const xdoProgram = path.join(build, 'tests/xdo');

/** A screen with what the tests do on it. */
class Desk {
  static async start(box, { manager = false } = {}) {
    const desk = new Desk();
    Object.assign(desk, { box, hasManager: manager, server: await box.startXvfb() });
    desk.env = desk.server.env;
    if (manager) {
      desk.manager = box.spawn('openbox', [], { env: desk.env });
      /* Its list of windows comes last; a window mapped before may be overlooked. */
      await waitFor('the window manager', async () =>
        /window id/.test(await desk.property('-root', '_NET_CLIENT_LIST')));
    }
    return desk;
  }

  async call(program, args, options) {
    const started = performance.now();
    const result = await this.box.run(program, args.map(String), { env: this.env, ...options });
    assert.doesNotMatch(result.stderr, /Sanitizer|runtime error/, args.join(' '));
    return { status: result.status, out: result.stdout.toString(), err: result.stderr,
      ms: performance.now() - started };
  }

  xdo(...args) { return this.call(xdoProgram, args); }

  real(...args) { return this.call('xdotool', args); }

  /** What the chain prints; fails unless it ends with 0. */
  async ok(...args) {
    const result = await this.xdo(...args);
    assert.equal(result.status, 0, `${args.join(' ')}: ${result.err}`);
    return result.out;
  }

  async fails(message, ...args) {
    const result = await this.xdo(...args);
    assert.equal(result.status, 1, `${args.join(' ')}: status ${result.status}, ${result.err}`);
    assert.match(result.err, message, args.join(' '));
    assert.equal(result.out, '');
    return result;
  }

  async script(text, ...args) {
    return this.call(xdoProgram, ['-', ...args], { input: text });
  }

  async property(...args) { return (await this.box.run('xprop', args.map(String), { env: this.env })).stdout.toString(); }

  async pointer() {
    const [, x, y] = (await this.ok('getmouselocation')).match(/^x:(-?\d+) y:(-?\d+) screen:0 window:\d+\n$/);
    return [Number(x), Number(y)];
  }

  /** A window that writes down its events. */
  async xev(name, geometry = '300x200+100+100') {
    const child = this.box.spawn('stdbuf', ['-oL', 'xev', '-name', name, '-geometry', geometry],
      { env: this.env, name: `xev ${name}` });
    const id = Number(await waitFor('xev', () => child.output().match(/Outer window is (0x[0-9a-f]+)/)?.[1]));
    const window = new EventWindow(this, child, id);
    await window.shown();
    return window;
  }

  /** A terminal that writes down the text it gets, and has the keys. */
  async terminal() {
    const file = this.box.file('typed');
    this.box.spawn('xterm', ['-T', 'typed into', '-e', 'sh', '-c', `stty raw -echo; touch ${file}; exec cat > ${file}`],
      { env: this.env });
    await this.ok('search', '--sync', '--onlyvisible', '--name', 'typed into', 'windowactivate', '--sync', 'mousemove',
      '--window', '%1', '20', '20');
    await waitFor('the terminal', () => fs.existsSync(file));
    return { text: () => fs.readFileSync(file, 'utf8') };
  }
}

class EventWindow {
  constructor(desk, child, id) {
    Object.assign(this, { desk, child, id });
  }

  async shown() {
    await waitFor('the window to be on the screen', async () =>
      /IsViewable/.test((await this.desk.box.run('xwininfo', ['-id', String(this.id)],
        { env: this.desk.env })).stdout.toString()));
  }

  /** Each key and button event: "+a", "-a", "+1" (buttons), with the modifiers' mask in front of it. */
  events() {
    const events = [];
    for (const block of this.child.output().split(/\n\n/)) {
      const kind = block.match(/^(Key|Button)(Press|Release) event/m);
      if (!kind) continue;
      const detail = block.match(/state (0x[0-9a-f]+), (?:keycode \d+ \(keysym 0x[0-9a-f]+, (\w+)\)|button (\d+)), same_screen/);
      if (!detail) continue; // not written to its end yet
      const [, state, keysym, button] = detail;
      const name = keysym ?? button;
      events.push({ text: (kind[2] === 'Press' ? '+' : '-') + name, state: Number(state),
        isSynthetic: /synthetic YES/.test(block) });
    }
    return events;
  }

  text() { return this.events().map((event) => event.text).join(' '); }

  /** Waits for exactly these events since the last look. */
  async expect(wanted) {
    const seen = () => this.text().slice(this.seen ?? 0).trim();
    await waitFor(`"${wanted}", not "${seen()}"`, () => seen().length >= wanted.length, 3000).catch(() => {});
    assert.equal(seen(), wanted);
    this.seen = this.text().length;
  }

  async geometry() {
    const text = await this.desk.ok('getwindowgeometry', '--shell', this.id);
    return Object.fromEntries(text.trim().split('\n').map((line) => line.split('=')));
  }

  async place() {
    const { X, Y } = await this.geometry();
    return [Number(X), Number(Y)];
  }

  /** The corner of its inside; xev's own border is 2 pixels wide, which a window manager takes away. */
  async inside() {
    const border = this.desk.hasManager ? 0 : 2;
    return (await this.place()).map((value) => value + border);
  }

  async size() {
    const { WIDTH, HEIGHT } = await this.geometry();
    return [Number(WIDTH), Number(HEIGHT)];
  }

  async isViewable() {
    const info = await this.desk.box.run('xwininfo', ['-id', String(this.id)], { env: this.desk.env });
    return /IsViewable/.test(info.stdout.toString());
  }
}

export function deskTest(name, body, options) {
  boxTest(name, async (box, t) => body(await Desk.start(box, options), t));
}

export function bothTest(name, body) {
  deskTest(`${name}, without a window manager`, body);
  deskTest(`${name}, with a window manager`, body, { manager: true });
}

/** How many keys are down. */
export async function heldKeys(desk) {
  const result = await desk.box.run('python3', ['-c', `
import ctypes
x = ctypes.CDLL('libX11.so.6')
x.XOpenDisplay.restype = ctypes.c_void_p
d = x.XOpenDisplay(None)
keys = (ctypes.c_char * 32)()
x.XQueryKeymap(ctypes.c_void_p(d), keys)
print(sum(bin(b).count('1') for b in keys.raw))`], { env: desk.env });
  return Number(result.stdout.toString());
}
