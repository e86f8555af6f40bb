// SPDX-License-Identifier: GPL-2.0-or-later
//
// The xdotool language (tests/xdo is display/xdotool.h as a program) beside Debian's xdotool, and its
// effects on real windows, with a window manager (openbox) and without one. docs/xdotool.md names the
// tests of this file, row by row; the last test here checks that it does.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { boxTest, build, patience, root, waitFor } from './harness.mjs';

const xdoProgram = path.join(build, 'tests/xdo');

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

function deskTest(name, body, options) {
  boxTest(name, async (box, t) => body(await Desk.start(box, options), t));
}

function bothTest(name, body) {
  deskTest(`${name}, without a window manager`, body);
  deskTest(`${name}, with a window manager`, body, { manager: true });
}

/* Beside the real one */

const alike = [
  ['mousemove', '0', '0', 'getmouselocation'], ['mousemove', '10', '20', 'getmouselocation', '--shell'],
  ['getmouselocation', '--shell', '--prefix', 'B_'], ['getdisplaygeometry'], ['getdisplaygeometry', '--shell'],
  ['mousemove', '--polar', '225', '300', 'getmouselocation'], ['mousemove', '--polar', '0', '390', 'getmouselocation'],
  ['mousemove', '--', '-5', '-5', 'getmouselocation'], ['mousemove', '5000', '5000', 'getmouselocation'],
  ['mousemove', '10', '20', 'mousemove', '30', '40', 'mousemove', 'restore', 'getmouselocation'],
  ['mousemove', '10.7', '3', 'getmouselocation'], ['MouseMove', '7', '7', 'getmouselocation'],
  ['mousemove', '9', '9', 'mousemove_relative', '3', '4', 'getmouselocation'],
  ['mousemove', '9', '9', 'mousemove_relative', '--', '-3', '-40', 'getmouselocation'],
  ['search', '--name', 'first'], ['search', '--name', 'FIRST|second'], ['search', 'term'], ['search', '--class', 'xterm'],
  ['search', '--classname', 'xterm'], ['search', '--class', '.'], ['search', '--name', '.'], ['search', '.'],
  ['search', '--name', 'nosuch'], ['search', '--shell', '--name', 'term'], ['search', '--shell', '--name', 'nosuch'],
  ['search', '--shell', '--prefix', 'P', '--name', 'term'], ['search', '--limit', '1', '--name', '.'],
  ['search', '--maxdepth', '1', '--name', '.'], ['search', '--maxdepth', '0', '.'], ['search', '--title', 'first'],
  ['search', '--onlyvisible', '--name', '.'], ['search', '--all', '--name', '--class', 'term'],
  ['search', '--class', '--classname', 'xterm'], ['search', '--desktop', '0', '--name', '.'],
  ['search', '--pid', '1', 'getactivewindow'], ['search', '--name', 'first|second', 'getwindowname', '%@'],
  ['search', '--name', 'first|second', 'getwindowname', '%2'], ['search', '--name', 'first', 'getwindowname', '%3'],
  ['search', '--class', 'xterm', 'getwindowname'], ['search', '--name', 'first', 'search', '--name', 'second', 'getwindowname'],
  ['getwindowname'], ['getwindowname', '0x1'], ['getwindowname', 'nonsense'], ['getwindowname', '%1'],
  ['windowsize', '77', '1', '1'], ['windowmove', '12'], ['mousemove', 'restore'], ['mousemove', '1'], ['search'], ['type'],
  ['key'], ['click'], ['click', '--repeat'], ['click', '0'], ['click', '12'], ['sleep'], ['sleep', '0.01'], ['bogus'],
  ['mousemove', '1', '1', 'bogus'], ['getwindowfocus', '--bogus'], ['exec'], ['get_desktop_for_window'],
  ['windowactivate', '77'], ['windowkill', '0x3'], ['windowunmap', '--sync'], ['getwindowgeometry', '77'],
  ['set_window', '--name', 'first', '77'], ['mousemove', '1', '2', '--sync'],
];
const alikeWithManager = [
  ['getactivewindow', 'getwindowname'], ['getwindowfocus', 'getwindowname'], ['getactivewindow'], ['getwindowfocus'],
  ['getwindowfocus', '-f'], ['get_num_desktops'], ['get_desktop'], ['search', '--name', 'first', 'get_desktop_for_window'],
  ['search', '--desktop', '1', '--name', '.'], ['search', '--name', 'first', 'getactivewindow'],
];

async function compare(desk, lists) {
  const wrong = [];
  for (const args of lists) {
    const real = await desk.real(...args);
    const ours = await desk.xdo(...args);
    /* The place of the pointer is compared; the window under it is one of the intended differences. */
    const plain = (text) => text.replace(/window:\d+/, 'window').replace(/WINDOW=\d+/, 'WINDOW');
    if (plain(real.out) !== plain(ours.out) || real.status !== ours.status)
      wrong.push({ args, real, ours });
  }
  assert.deepEqual(wrong, []);
}

for (const manager of [false, true]) {
  deskTest(`answers as Debian's xdotool does, ${manager ? 'with' : 'without'} a window manager`, async (desk) => {
    await desk.xev('first one', '300x200+100+100');
    await desk.xev('second one', '300x200+500+100');
    desk.box.spawn('xterm', ['-T', 'term', '-geometry', '+100+400', '-e', 'sleep', '1000'], { env: desk.env });
    const [id] = (await desk.ok('search', '--sync', '--onlyvisible', '--class', 'xterm')).split('\n');
    if (manager) await desk.ok('windowactivate', '--sync', id);
    await compare(desk, manager ? [...alike, ...alikeWithManager] : alike);
    if (manager) await compare(desk, [['search', '--class', 'xterm', 'getwindowpid']]);
  }, { manager });
}

/* Keys */

deskTest('key presses chords and lets go in reverse', async (desk) => {
  const window = await desk.xev('keys');
  await desk.ok('mousemove', '--window', window.id, '20', '20', 'key', 'a', 'ctrl+shift+t', 'Return', 'mousemove', 5, 5);
  await window.expect('+a -a +Control_L +Shift_L +T -T -Shift_L -Control_L +Return -Return');
  assert(window.events().every((event) => !event.isSynthetic));
});

deskTest('key takes every kind of name', async (desk) => {
  const window = await desk.xev('keys');
  await desk.ok('mousemove', '--window', window.id, '20', '20');
  await desk.ok('key', 'enter', 'PageDown', 'pgdn', 'backtick', 'esc', 'ArrowDown', 'Prior', 'F5', 'meta', '7', '0x61');
  await window.expect('+Return -Return +Next -Next +Next -Next +grave -grave +Escape -Escape +Down -Down ' +
    '+Prior -Prior +F5 -F5 +Alt_L -Alt_L +7 -7 +a -a');
  await desk.ok('key', 'ctrl+plus', 'ctrl++');
  await window.expect('+Control_L +Shift_L +plus -plus -Shift_L -Control_L +Control_L +Shift_L +plus -plus -Shift_L -Control_L');
  await desk.ok('key', 'A', 'exclam', 'eacute');
  await window.expect('+Shift_L +A -A -Shift_L +Shift_L +exclam -exclam -Shift_L +eacute -eacute');
});

deskTest('key: an unknown name sends nothing at all', async (desk) => {
  const window = await desk.xev('keys');
  await desk.ok('mousemove', '--window', window.id, '20', '20');
  await desk.fails(/unknown key name "nosuch"; nothing was sent/, 'key', 'a', 'nosuch', 'b');
  await desk.fails(/joined with '\+', not '-'/, 'key', 'ctrl-s');
  await desk.fails(/Unknown command: bogus/, 'click', '1', 'key', 'a', 'click', '1', 'bogus');
  await desk.ok('key', 'z');
  await window.expect('+z -z');
});

deskTest('key takes raw keycodes', async (desk) => {
  const window = await desk.xev('keys');
  await desk.ok('mousemove', '--window', window.id, '20', '20', 'key', '38', 'ctrl+56');
  await window.expect('+a -a +Control_L +b -b -Control_L');
});

deskTest('key --repeat, --delay and --repeat-delay', async (desk) => {
  const window = await desk.xev('keys');
  await desk.ok('mousemove', '--window', window.id, '20', '20');
  const { ms } = await desk.xdo('key', '--repeat', '3', 'q', 'w');
  await window.expect('+q -q +w -w '.repeat(3).trim());
  assert(ms < 400 * patience, `took ${ms} ms without delays`);
  const slow = await desk.xdo('key', '--repeat', '2', '--delay', '100', '--repeat-delay', '300', 'q', 'w');
  await window.expect('+q -q +w -w '.repeat(2).trim());
  assert(slow.ms >= 700, `took ${slow.ms} ms`);
});

bothTest('key --window types by XTEST and gives the focus back', async (desk) => {
  const one = await desk.xev('one', '200x200+50+50'), two = await desk.xev('two', '200x200+400+50');
  await desk.ok('windowfocus', '--sync', one.id);
  await desk.ok('key', '--window', one.id, 'exclam');
  await one.expect('+Shift_L +exclam -exclam -Shift_L');
  await desk.ok('key', '--window', two.id, 'exclam');
  await two.expect('+Shift_L +exclam -exclam -Shift_L');
  await desk.ok('type', '--window', two.id, 'ab');
  await two.expect('+a -a +b -b');
  assert([...one.events(), ...two.events()].every((event) => !event.isSynthetic));
  assert.equal(await desk.ok('getwindowfocus'), `${one.id}\n`);
  await one.expect('');
  await desk.ok('windowunmap', '--sync', two.id);
  await desk.fails(/is not on the screen: it cannot be given keys/, 'key', '--window', two.id, 'a');
  await desk.fails(/does not exist/, 'key', '--window', '77', 'a');
});

bothTest('key goes to %1 when there are windows in the stack', async (desk) => {
  const one = await desk.xev('one', '200x200+50+50'), two = await desk.xev('two', '200x200+400+50');
  await desk.ok('windowfocus', '--sync', one.id, 'search', '--name', 'two', 'key', 'x');
  await two.expect('+x -x');
  await desk.ok('search', '--name', '^(one|two)$', 'key', '--window', '%@', 'y');
  await two.expect('+y -y');
  await one.expect('+y -y');
});

deskTest('keydown holds until keyup', async (desk) => {
  const window = await desk.xev('keys');
  await desk.ok('mousemove', '--window', window.id, '20', '20');
  await desk.ok('keydown', 'shift', 'key', 'a', 'keyup', 'shift', 'key', 'b');
  await window.expect('+Shift_L +A -A -Shift_L +b -b');
});

deskTest('a chain that fails lets go of what it pressed', async (desk) => {
  const window = await desk.xev('keys');
  await desk.ok('mousemove', '--window', window.id, '20', '20');
  await desk.fails(/^$/, 'keydown', 'ctrl', 'mousedown', '1', 'search', '--name', 'nosuch', 'key', 'a');
  await window.expect('+Control_L +1 -1 -Control_L');
});

deskTest('--clearmodifiers lifts what is held and puts it back', async (desk) => {
  const window = await desk.xev('keys');
  await desk.ok('mousemove', '--window', window.id, '20', '20');
  await desk.ok('keydown', 'ctrl', 'key', '--clearmodifiers', 'a', 'click', '--clearmodifiers', '1', 'keyup', 'ctrl');
  await waitFor('the last event', () => window.text().endsWith('-Control_L'));
  const state = (text) => window.events().find((event) => event.text === text).state & 4;
  assert.equal(state('+a'), 0);
  assert.equal(state('+1'), 0);
  assert.equal(await heldKeys(desk), 0);
});

/** How many keys are down. */
async function heldKeys(desk) {
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

deskTest('KP_1 leaves Num Lock alone', async (desk) => {
  const terminal = await desk.terminal();
  const numLock = async () => /Num Lock:\s+on/.test((await desk.box.run('xset', ['q'], { env: desk.env })).stdout.toString());
  const before = await numLock();
  await desk.ok('key', ...Array(10).fill('KP_1'));
  assert.equal(await numLock(), before);
  await desk.ok('key', 'Num_Lock');
  assert.equal(await numLock(), !before);
  await desk.ok('key', ...Array(10).fill('KP_1'));
  assert.equal(await numLock(), !before);
  await waitFor('twenty ones', () => terminal.text() === '1'.repeat(20)).catch(() => {});
  assert.equal(terminal.text(), '1'.repeat(20));
});

bothTest('type types all words left, exactly', async (desk) => {
  const terminal = await desk.terminal();
  let wanted = '';
  const types = async (text, ...args) => {
    await desk.ok(...args);
    wanted += text;
    await waitFor(`"${wanted}"`, () => terminal.text() === wanted, 5000).catch(() => {});
    assert.equal(terminal.text(), wanted);
  };
  await types('Hello, world!', 'type', 'Hello, world!');
  await types('oneclick1', 'type', 'one', 'click', '1');
  await types('-1', 'type', '--', '-1');
  await types('-exampleOfSomethingToType', 'type', '--', '-exampleOfSomethingToType');
  await types('ab\rc\t', 'type', 'ab\nc\t');
  await types('abz', 'type', '--args', '2', 'a', 'b', 'key', 'z');
  await types('abz', 'type', '--terminator', 'END', 'a', 'b', 'END', 'key', 'z');
  await types('c?}xG$si"z{cov/K<g!!fwUZ^66\'QK', 'type', 'c?}xG$si"z{cov/K<g!!fwUZ^66\'QK');
  await types('Grüße λ中 ж', 'type', '--clearmodifiers', '--delay', '1', 'Grüße λ中 ж');
  await types('', 'type', '');
  await desk.fails(/unrecognized option '-1'/, 'type', '-1');
  await desk.fails(/type: .*cannot be typed|type: .*character/, 'type', 'a\u0007b');
  assert.equal(terminal.text(), wanted);
});

deskTest('type --file types what the caller has read', async (desk) => {
  const terminal = await desk.terminal();
  const file = desk.box.file('text');
  fs.writeFileSync(file, 'from a file\n');
  await desk.ok('type', '--file', file, 'and words');
  await waitFor('the text', () => terminal.text() === 'from a file\rand words').catch(() => {});
  assert.equal(terminal.text(), 'from a file\rand words');
  const result = await desk.call(xdoProgram, ['type', '--file', '-'], { input: ' and stdin' });
  assert.equal(result.status, 0, result.err);
  await waitFor('stdin', () => terminal.text().endsWith(' and stdin'));
  await desk.fails(/Failed opening '\/nosuch'/, 'type', '--file', '/nosuch');
});

/* Pointer */

deskTest('mousemove', async (desk) => {
  await desk.ok('mousemove', '12', '34');
  assert.deepEqual(await desk.pointer(), [12, 34]);
  await desk.ok('mousemove', '--screen', '0', '1280', '800');
  assert.deepEqual(await desk.pointer(), [1279, 799]);
  await desk.ok('mousemove', '--', '-5', '7');
  assert.deepEqual(await desk.pointer(), [0, 7]);
  await desk.ok('mousemove', '--polar', '90', '100');
  assert.deepEqual(await desk.pointer(), [740, 400]);
  await desk.ok('mousemove', '--polar', '180', '100');
  assert.deepEqual(await desk.pointer(), [640, 500]);
  await desk.fails(/'a' is no coordinate/, 'mousemove', 'a', '5');
  await desk.fails(/there is one screen/, 'mousemove', '--screen', '1', '5', '5');
});

bothTest('mousemove --window counts from the corner of the window', async (desk) => {
  const window = await desk.xev('where', '300x200+400+400');
  const [x, y] = await window.inside();
  await desk.ok('mousemove', '100', '200', 'mousemove', '--window', window.id, '100', '200');
  assert.deepEqual(await desk.pointer(), [x + 100, y + 200]);
  await desk.ok('mousemove', '--window', window.id, '--polar', '0', '50');
  assert.deepEqual(await desk.pointer(), [x + 150, y + 50]);
  await desk.fails(/does not exist/, 'mousemove', '--window', '77', '1', '1');
});

deskTest('mousemove restore', async (desk) => {
  const window = await desk.xev('where', '300x200+400+400');
  await desk.ok('mousemove', '5', '6');
  assert.match(await desk.ok('mousemove', '100', '100', 'mousemove', '--window', window.id, '1', '1', 'mousemove', 'restore',
    'getmouselocation'), /^x:5 y:6 /);
  await desk.fails(/Have no previous mouse position/, 'mousemove', 'restore');
});

deskTest('--sync of the pointer returns at once when it is there already', async (desk) => {
  for (const [x, y] of [[5, 5], [5000, 5000]]) {
    const { status, ms } = await desk.xdo('mousemove', '--sync', x, y, 'mousemove', '--sync', x, y);
    assert.equal(status, 0);
    assert(ms < 200 * patience, `${ms} ms`);
  }
  assert.deepEqual(await desk.pointer(), [1279, 799]);
  const { ms } = await desk.xdo('mousemove_relative', '--sync', '0', '0', 'mousemove_relative', '--sync', '1', '1');
  assert(ms < 200 * patience, `${ms} ms`);
});

deskTest('mousemove_relative', async (desk) => {
  await desk.ok('mousemove', '100', '100', 'mousemove_relative', '5', '6', 'mousemove_relative', '--', '-10', '-1');
  assert.deepEqual(await desk.pointer(), [95, 105]);
  await desk.ok('mousemove', '100', '100', 'mousemove_relative', '--polar', '90', '50');
  assert.deepEqual(await desk.pointer(), [150, 100]);
  await desk.ok('mousemove', '100', '100', 'mousemove_relative', '--polar', '30', '50');
  assert.deepEqual(await desk.pointer(), [125, 57]);
});

deskTest('one screen, whatever its monitors', async (desk) => {
  const { box, env } = desk;
  await box.ok('xrandr', ['--setmonitor', 'L', '640/1x800/1+0+0', 'screen'], { env });
  await box.ok('xrandr', ['--setmonitor', 'R', '640/1x800/1+640+0', 'none'], { env });
  assert.equal(await desk.ok('getdisplaygeometry'), '1280 800\n');
  assert.equal(await desk.ok('getdisplaygeometry', '--shell'), 'WIDTH=1280\nHEIGHT=800\n');
  await desk.ok('mousemove', '1000', '700');
  assert.deepEqual(await desk.pointer(), [1000, 700]);
});

deskTest('click', async (desk) => {
  const window = await desk.xev('clicks');
  await desk.ok('mousemove', '--window', window.id, '100', '100', 'click', '1');
  await window.expect('+1 -1');
  const single = await desk.xdo('click', '1', 'click', '2', 'click', '3');
  await window.expect('+1 -1 +2 -2 +3 -3');
  assert(single.ms < 250 * patience, `${single.ms} ms for three clicks`);
  const double = await desk.xdo('click', '--repeat', '2', '1');
  await window.expect('+1 -1 +1 -1');
  assert(double.ms >= 100, `${double.ms} ms for a double click`);
  await desk.ok('click', '--repeat', '250', '--delay', '0', '4');
  await window.expect('+4 -4 '.repeat(250).trim());
  await desk.ok('click', '--repeat', '5', '--delay', '0', '5', 'click', '8');
  await window.expect('+5 -5 '.repeat(5) + '+8 -8');
  assert(window.events().every((event) => !event.isSynthetic));
});

bothTest('click --window wants the pointer to be over the window', async (desk) => {
  const window = await desk.xev('clicks');
  await desk.ok('mousemove', '--window', window.id, '100', '100', 'click', '--window', window.id, '1');
  await waitFor('the click', () => window.text() === '+1 -1');
  await desk.fails(/the pointer is not over window/, 'mousemove', '1200', '700', 'click', '--window', window.id, '1');
  await desk.fails(/does not exist/, 'click', '--window', '77', '1');
  await desk.fails(/the pointer is not over window/, 'mousedown', '--window', window.id, '1');
  assert.equal(window.text(), '+1 -1');
});

deskTest('what follows a click finds the focus where the click put it', async (desk) => {
  const one = await desk.xev('one', '200x200+50+50'), two = await desk.xev('two', '200x200+400+50');
  for (let i = 0; i < 10; i++) {
    const window = i % 2 ? two : one;
    await desk.ok('mousemove', '--window', window.id, '100', '100', 'click', '1', 'type', 'x');
    await window.expect('+1 -1 +x -x');
  }
}, { manager: true });

deskTest('mousedown and mouseup', async (desk) => {
  const window = await desk.xev('buttons');
  await desk.ok('mousemove', '--window', window.id, '100', '100', 'mousedown', '1', 'mousemove_relative', '20', '0',
    'mouseup', '1', 'mouseup', '1');
  await window.expect('+1 -1');
});

deskTest('a move with a button down goes in steps', async (desk) => {
  const window = await desk.xev('dragged', '600x400+100+100');
  const motions = () => [...window.child.output().matchAll(/MotionNotify event.*\n.*root:\((\d+),(\d+)\)/g)]
    .map((match) => [Number(match[1]), Number(match[2])]);
  const [x, y] = await window.inside();
  await desk.ok('mousemove', x + 100, y + 100);
  await waitFor('the pointer', () => motions().length === 1);
  await desk.ok('mousedown', '1', 'mousemove', x + 500, y + 300, 'mouseup', '1');
  await waitFor('the release', () => window.text() === '+1 -1');
  const places = motions().slice(1);
  assert(places.length >= 12, `${places.length} moves`);
  assert.deepEqual(places.at(-1), [x + 500, y + 300]);
  for (let i = 1; i < places.length; i++)
    assert(places[i][0] > places[i - 1][0] && places[i][1] > places[i - 1][1], 'straight on');
  assert(Math.hypot(places.at(-2)[0] - x - 500, places.at(-2)[1] - y - 300) < 4, 'two moves at the target');
  await desk.ok('mousemove', x + 100, y + 100, 'mousedown', '1', 'mousemove_relative', '5', '5', 'mouseup', '1');
  await waitFor('the release', () => window.text() === '+1 -1 +1 -1');
  assert.equal(motions().length, places.length + 3, 'small moves and moves without a button are one move');
});

bothTest('getmouselocation tells the window that is under the pointer', async (desk) => {
  const window = await desk.xev('where', '300x200+400+400');
  const [x, y] = await window.inside();
  await desk.ok('mousemove', '--window', window.id, '100', '100');
  assert.equal(await desk.ok('getmouselocation'), `x:${x + 100} y:${y + 100} screen:0 window:${window.id}\n`);
  assert.equal(await desk.ok('getmouselocation', '--shell'), `X=${x + 100}\nY=${y + 100}\nSCREEN=0\nWINDOW=${window.id}\n`);
  assert.equal(await desk.ok('getmouselocation', 'getwindowname'), 'where\n');
});

/* Windows */

bothTest('search fills the stack and prints only at the end', async (desk) => {
  const one = await desk.xev('one', '200x200+50+50'), two = await desk.xev('two', '200x200+400+50');
  assert.equal(await desk.ok('search', '--name', '^two$'), `${two.id}\n`);
  assert.equal(await desk.ok('search', '--name', '^two$', 'getwindowname'), 'two\n');
  assert.equal(await desk.ok('search', '--shell', '--name', '^two$', 'getwindowname'), `WINDOWS=(${two.id}\n)\ntwo\n`);
  const names = await desk.ok('search', '--name', '^(one|two)$', 'getwindowname', '%@');
  assert.deepEqual(names.split('\n').sort(), ['', 'one', 'two']);
  const last = (await desk.ok('search', '--name', '^(one|two)$')).trim().split('\n')[1];
  assert.equal(await desk.ok('search', '--name', '^(one|two)$', 'getwindowname', '%-1'),
    Number(last) === one.id ? 'one\n' : 'two\n');
  await desk.fails(/^$/, 'search', '--name', 'nosuch', 'key', 'a');
  await desk.fails(/Failed to compile regex/, 'search', '[');
  await desk.ok('set_window', '--role', 'editor', one.id);
  assert.equal(await desk.ok('search', '--role', 'edit'), `${one.id}\n`);
  assert.equal(await desk.ok('search', '--all', '--role', '--name', '^(one|editor)$'), `${one.id}\n`);
  await desk.fails(/There are no windows in the stack/, 'getwindowname');
  await desk.fails(/out of range/, 'search', '--name', '^two$', 'getwindowname', '%2');
});

deskTest('search --pid', async (desk) => {
  const xterm = desk.box.spawn('xterm', ['-T', 'mine', '-e', 'sleep', '1000'], { env: desk.env });
  const id = (await desk.ok('search', '--sync', '--onlyvisible', '--class', 'xterm')).trim();
  assert.equal(await desk.ok('search', '--pid', xterm.pid), `${id}\n`);
  assert.equal(await desk.ok('search', '--pid', xterm.pid, 'getwindowname'), 'mine\n');
  await desk.fails(/^$/, 'search', '--all', '--pid', xterm.pid, '--name', 'nosuch');
  assert.equal(await desk.ok('search', '--any', '--pid', xterm.pid, '--name', 'nosuch'), `${id}\n`);
});

bothTest('search --sync waits for the window', async (desk) => {
  const search = desk.xdo('search', '--sync', '--onlyvisible', '--name', 'late', 'getwindowname');
  await new Promise((resolve) => setTimeout(resolve, 300));
  await desk.xev('late');
  const result = await search;
  assert.equal(result.out, 'late\n', result.err);
  const retitled = desk.xdo('search', '--sync', '--name', 'other name');
  await new Promise((resolve) => setTimeout(resolve, 200));
  await desk.ok('search', '--name', 'late', 'set_window', '--name', 'the other name');
  assert.match((await retitled).out, /^\d+\n$/);
});

bothTest('getactivewindow and getwindowfocus', async (desk) => {
  const one = await desk.xev('one', '200x200+50+50'), two = await desk.xev('two', '200x200+400+50');
  await desk.ok('windowactivate', '--sync', one.id);
  assert.equal(await desk.ok('getactivewindow'), `${one.id}\n`);
  assert.equal(await desk.ok('getwindowfocus'), `${one.id}\n`);
  assert.equal(await desk.ok('getwindowfocus', '-f'), `${one.id}\n`);
  await desk.ok('windowfocus', '--sync', two.id);
  assert.equal(await desk.ok('getwindowfocus', 'getwindowname'), 'two\n');
});

bothTest('getwindowname, getwindowclassname, getwindowpid, getwindowgeometry', async (desk) => {
  const xterm = desk.box.spawn('xterm', ['-T', 'Grüße', '-e', 'sleep', '1000'], { env: desk.env });
  const id = (await desk.ok('search', '--sync', '--onlyvisible', '--class', 'xterm')).trim();
  assert.equal(await desk.ok('getwindowname', id), 'Grüße\n');
  assert.equal(await desk.ok('getwindowclassname', id), 'XTerm\n');
  assert.equal(await desk.ok('getwindowpid', id), `${xterm.pid}\n`);
  const window = await desk.xev('where', '300x200+400+300');
  const [x, y] = await window.place();
  if (!desk.hasManager) assert.deepEqual([x, y], [400, 300]);
  const info = (await desk.box.run('xwininfo', ['-id', String(window.id)], { env: desk.env })).stdout.toString();
  assert.equal(Number(info.match(/Absolute upper-left X:\s+(\d+)/)[1]), x);
  assert.equal(Number(info.match(/Absolute upper-left Y:\s+(\d+)/)[1]), y);
  assert.equal(await desk.ok('getwindowgeometry', window.id),
    `Window ${window.id}\n  Position: ${x},${y} (screen: 0)\n  Geometry: 300x200\n`);
  assert.equal(await desk.ok('getwindowgeometry', '--shell', '--prefix', 'A', window.id),
    `AWINDOW=${window.id}\nAX=${x}\nAY=${y}\nAWIDTH=300\nAHEIGHT=200\nASCREEN=0\n`);
  for (const command of ['getwindowname', 'getwindowclassname', 'getwindowpid', 'getwindowgeometry'])
    await desk.fails(/does not exist/, command, '77');
});

bothTest('windowactivate brings a window to the front', async (desk) => {
  const one = await desk.xev('one', '300x200+100+100');
  const two = await desk.xev('two', '300x200+120+120');
  for (const window of [one, two, one]) {
    await desk.ok('windowactivate', '--sync', window.id);
    assert.equal(await desk.ok('getactivewindow'), `${window.id}\n`);
    await desk.ok('mousemove', '--window', window.id, '150', '150');
    await waitFor('it to be on top', async () =>
      (await desk.ok('getmouselocation')).endsWith(`window:${window.id}\n`));
  }
  const { ms } = await desk.xdo('windowactivate', '--sync', one.id);
  assert(ms < 300 * patience, `${ms} ms for what is active already`);
  await desk.fails(/does not exist/, 'windowactivate', '--sync', '77');
});

deskTest('windowactivate goes to the desktop of the window', async (desk) => {
  const one = await desk.xev('one');
  await desk.ok('set_desktop_for_window', one.id, '2');
  await waitFor('the move', async () => (await desk.ok('get_desktop_for_window', one.id)) === '2\n');
  await desk.ok('windowactivate', '--sync', one.id);
  assert.equal(await desk.ok('get_desktop'), '2\n');
}, { manager: true });

bothTest('windowfocus', async (desk) => {
  const one = await desk.xev('one', '200x200+50+50'), two = await desk.xev('two', '200x200+400+50');
  await desk.ok('windowfocus', '--sync', one.id, 'type', 'a');
  await one.expect('+a -a');
  await desk.ok('windowfocus', two.id, 'type', 'b');
  await two.expect('+b -b');
  await desk.ok('windowunmap', '--sync', one.id);
  await desk.fails(/is not on the screen/, 'windowfocus', one.id);
});

bothTest('windowsize', async (desk) => {
  const window = await desk.xev('size');
  await desk.ok('windowsize', '--sync', window.id, '345', '123');
  assert.deepEqual(await window.size(), [345, 123]);
  const { ms } = await desk.xdo('windowsize', '--sync', window.id, '345', '123');
  assert(ms < 300 * patience, `${ms} ms for a window that has the size`);
  await desk.ok('windowsize', '--sync', window.id, '50%', '25%');
  assert.deepEqual(await window.size(), [640, 200]);
  await desk.fails(/the X server refused/, 'windowsize', window.id, '0', '5');
  desk.box.spawn('xterm', ['-T', 'term', '-e', 'sleep', '1000'], { env: desk.env });
  const id = (await desk.ok('search', '--sync', '--onlyvisible', '--class', 'xterm')).trim();
  await desk.ok('windowsize', '--sync', '--usehints', id, '40', '10');
  const hints = await desk.property('-id', id, 'WM_NORMAL_HINTS');
  const [, stepX, stepY] = hints.match(/resize increment: (\d+) by (\d+)/).map(Number);
  const [, baseX, baseY] = hints.match(/base size: (\d+) by (\d+)/).map(Number);
  assert.match(await desk.ok('getwindowgeometry', '--shell', id),
    new RegExp(`WIDTH=${baseX + 40 * stepX}\nHEIGHT=${baseY + 10 * stepY}\n`));
});

bothTest('windowmove', async (desk) => {
  const window = await desk.xev('place');
  await desk.ok('windowmove', '--sync', window.id, '200', '150');
  const [x, y] = await window.place();
  if (!desk.hasManager) assert.deepEqual([x, y], [200, 150]);
  await desk.ok('windowmove', '--sync', '--relative', window.id, '10', '20');
  assert.deepEqual(await window.place(), [x + 10, y + 20]);
  await desk.ok('windowmove', '--sync', '--relative', '--', window.id, '-10', '-20');
  assert.deepEqual(await window.place(), [x, y]);
  await desk.ok('windowmove', '--sync', window.id, 'x', '300');
  assert.deepEqual(await window.place(), [x, y + 150]);
  await desk.ok('windowmove', '--sync', window.id, '25%', 'y');
  assert.deepEqual(await window.place(), [x + 120, y + 150]);
  const { ms, status } = await desk.xdo('windowmove', '--sync', window.id, 'x', 'y');
  assert.equal(status, 0);
  assert(ms < 300 * patience, `${ms} ms for a window that is there`);
  await desk.fails(/does not exist/, 'windowmove', '77', '1', '1');
});

bothTest('windowraise and windowlower', async (desk) => {
  const one = await desk.xev('one', '300x200+100+100');
  const two = await desk.xev('two', '300x200+100+100');
  await desk.ok('mousemove', '250', '250');
  const top = async (window) => waitFor('it to be on top', async () =>
    (await desk.ok('getmouselocation')).endsWith(`window:${window.id}\n`));
  await desk.ok('windowraise', one.id);
  await top(one);
  await desk.ok('windowlower', one.id);
  await top(two);
  await desk.fails(/does not exist/, 'windowraise', '77');
  await desk.fails(/does not exist/, 'windowlower', '77');
});

bothTest('windowmap and windowunmap', async (desk) => {
  const window = await desk.xev('mapped');
  await desk.ok('windowunmap', '--sync', window.id);
  assert.equal(await window.isViewable(), false);
  await desk.ok('windowmap', '--sync', window.id);
  assert.equal(await window.isViewable(), true);
  const { ms } = await desk.xdo('windowmap', '--sync', window.id);
  assert(ms < 300 * patience, `${ms} ms for a window that is mapped`);
  await desk.fails(/does not exist/, 'windowmap', '--sync', '77');
});

deskTest('windowminimize', async (desk) => {
  const window = await desk.xev('small');
  await desk.ok('windowminimize', '--sync', window.id);
  assert.equal(await window.isViewable(), false);
  assert.match(await desk.property('-id', window.id, 'WM_STATE'), /Iconic/);
  await desk.ok('windowactivate', '--sync', window.id);
  assert.equal(await window.isViewable(), true);
}, { manager: true });

deskTest('windowminimize and windowstate say that they need a window manager', async (desk) => {
  const window = await desk.xev('small');
  await desk.fails(/no window manager/, 'windowminimize', window.id);
  await desk.fails(/no window manager/, 'windowstate', '--add', 'ABOVE', window.id);
  for (const args of [['get_desktop'], ['get_num_desktops'], ['set_desktop', '1'], ['set_num_desktops', '2'],
    ['get_desktop_viewport'], ['set_desktop_viewport', '0', '0'], ['set_desktop_for_window', window.id, '1']])
    await desk.fails(/no window manager runs/, ...args);
  await desk.fails(/is on no desktop/, 'get_desktop_for_window', window.id);
});

bothTest('windowclose, windowquit and windowkill', async (desk) => {
  const gone = (window) => waitFor('the window to go', async () =>
    (await desk.xdo('getwindowname', window.id)).status === 1);
  const quit = await desk.xev('quit');
  await desk.ok('windowquit', quit.id);
  await waitFor('its program to end', () => quit.child.end);
  const killed = await desk.xev('killed');
  await desk.ok('windowkill', killed.id);
  await waitFor('its program to end', () => killed.child.end);
  const closed = await desk.xev('closed');
  await desk.ok('windowclose', closed.id);
  await gone(closed);
  for (const command of ['windowclose', 'windowquit', 'windowkill'])
    await desk.fails(/does not exist/, command, closed.id);
  const root_ = (await desk.ok('search', '--maxdepth', '0', '--name', '')).trim();
  for (const command of ['windowclose', 'windowkill', 'windowunmap'])
    await desk.fails(/is not to be touched/, command, root_);
});

deskTest('windowstate', async (desk) => {
  const window = await desk.xev('state');
  const state = () => desk.property('-id', window.id, '_NET_WM_STATE');
  await desk.ok('windowstate', '--add', 'maximized_vert', '--add', 'MAXIMIZED_HORZ', window.id);
  await waitFor('both', async () => /MAXIMIZED_VERT.*MAXIMIZED_HORZ|MAXIMIZED_HORZ.*MAXIMIZED_VERT/.test(await state()));
  await desk.ok('windowstate', '--remove', 'MAXIMIZED_VERT', window.id);
  await waitFor('one', async () => !/MAXIMIZED_VERT/.test(await state()));
  await desk.ok('windowstate', '--toggle', 'FULLSCREEN', window.id);
  await waitFor('the whole screen', async () => /FULLSCREEN/.test(await state()));
  await desk.fails(/does not exist/, 'windowstate', '--add', 'ABOVE', '77');
}, { manager: true });

bothTest('set_window', async (desk) => {
  const window = await desk.xev('old');
  await desk.ok('set_window', '--name', 'näme', '--icon-name', 'icon', '--role', 'rôle', '--class', 'Klass',
    '--classname', 'inst', '--urgency', '1', window.id);
  assert.equal(await desk.ok('getwindowname', window.id), 'näme\n');
  assert.equal(await desk.ok('getwindowclassname', window.id), 'Klass\n');
  assert.equal(await desk.ok('search', '--classname', '^inst$'), `${window.id}\n`);
  assert.equal(await desk.ok('search', '--role', 'rôle'), `${window.id}\n`);
  assert.match(await desk.property('-id', window.id, 'WM_HINTS'), /urgency|0x100/i);
  await desk.ok('set_window', '--class', 'Only', window.id);
  assert.equal(await desk.ok('search', '--classname', '^inst$'), `${window.id}\n`);
  await desk.ok('set_window', '--overrideredirect', '1', window.id);
  const info = await desk.box.run('xwininfo', ['-id', String(window.id)], { env: desk.env });
  assert.match(info.stdout.toString(), /Override Redirect State: yes/);
  await desk.fails(/does not exist/, 'set_window', '--name', 'x', '77');
});

deskTest('windowreparent', async (desk) => {
  const outer = await desk.xev('outer', '400x300+100+100'), inner = await desk.xev('inner', '100x100+600+100');
  await desk.ok('windowreparent', inner.id, outer.id);
  const tree = await desk.box.run('xwininfo', ['-tree', '-id', String(inner.id)], { env: desk.env });
  assert.match(tree.stdout.toString(), new RegExp(`Parent window id: 0x${outer.id.toString(16)}`));
  await desk.fails(/does not exist/, 'windowreparent', '77', outer.id);
  await desk.fails(/the X server refused/, 'windowreparent', outer.id, inner.id);
});

deskTest('desktops', async (desk) => {
  const window = await desk.xev('one');
  assert.equal(await desk.ok('get_num_desktops'), '4\n');
  await desk.ok('set_num_desktops', '3');
  await waitFor('three', async () => (await desk.ok('get_num_desktops')) === '3\n');
  const shows = (number) => waitFor(`desktop ${number}`, async () => (await desk.ok('get_desktop')) === `${number}\n`);
  await desk.ok('set_desktop', '2');
  await shows(2);
  await desk.ok('set_desktop', '--relative', '1');
  await shows(0);
  await desk.ok('set_desktop', '--relative', '--', '-1');
  await shows(2);
  await desk.ok('set_desktop_for_window', window.id, '1');
  await waitFor('the window to move', async () => (await desk.ok('get_desktop_for_window', window.id)) === '1\n');
  assert.equal(await desk.ok('search', '--desktop', '1', '--name', '^one$'), `${window.id}\n`);
  await desk.fails(/^$/, 'search', '--desktop', '0', '--name', '^one$');
  await desk.ok('set_desktop_for_window', '--', window.id, '-1');
  await waitFor('it to be everywhere', async () => (await desk.ok('get_desktop_for_window', window.id)) === '-1\n');
  assert.equal(await desk.ok('get_desktop_viewport'), '0 0\n');
  assert.equal(await desk.ok('get_desktop_viewport', '--shell'), 'X=0\nY=0\n');
  await desk.ok('set_desktop_viewport', '0', '0');
}, { manager: true });

bothTest('a window that dies is an error, never a crash', async (desk) => {
  const window = await desk.xev('dying');
  // --sync: between two frames of a window manager it is nowhere in the tree.
  const waiting = desk.xdo('windowunmap', window.id, 'windowmap', window.id, 'search', '--sync', '--name', 'dying',
    'windowkill', 'windowmove', '--sync', '5', '5');
  const result = await waiting;
  assert.equal(result.status, 1);
  assert.match(result.err, /window \d+ does not exist/);
  const other = await desk.xev('other');
  await desk.ok('windowunmap', '--sync', other.id);
  const mapped = desk.xdo('getdisplaygeometry', 'sleep', '1', 'windowactivate', '--sync', other.id);
  await new Promise((resolve) => setTimeout(resolve, 400)); // ids of what dies before it connects become its own
  other.child.process.kill();
  const end = await mapped;
  assert.equal(end.status, 1);
  assert.match(end.err, /does not exist|was not activated/);
});

/* The rest */

deskTest('sleep', async (desk) => {
  const { ms, status } = await desk.xdo('sleep', '0.25', 'sleep', '.1');
  assert.equal(status, 0);
  assert(ms >= 350 && ms < 350 + 400 * patience, `${ms} ms`);
});

deskTest('exec, behave, behave_screen_edge and selectwindow are refused before anything is done', async (desk) => {
  await desk.ok('mousemove', '50', '50');
  await desk.fails(/exec: not here/, 'mousemove', '9', '9', 'exec', 'touch', desk.box.file('x'));
  await desk.fails(/behave: not here/, 'mousemove', '9', '9', 'behave', '%1', 'focus', 'key', 'a');
  await desk.fails(/behave_screen_edge: not here/, 'behave_screen_edge', 'left', 'key', 'a');
  await desk.fails(/selectwindow: not here/, 'selectwindow');
  assert.deepEqual(await desk.pointer(), [50, 50]);
  assert(!fs.existsSync(desk.box.file('x')));
});

deskTest('help and version', async (desk) => {
  assert.match(await desk.ok('version'), /^xdotool version 4\.20260303\.1 \(boxscreen .*\)\n$/);
  assert.equal(await desk.ok('--version'), await desk.ok('-v'));
  const help = await desk.ok('help');
  assert.match(help, /^Available commands:\n {2}key\n/);
  assert.equal(await desk.ok('--help'), help);
  assert.match(await desk.ok('mousemove', '--help', 'bogus'), /^Usage: mousemove \[options\] X Y/);
  const nothing = await desk.xdo();
  assert.deepEqual([nothing.status, nothing.out, nothing.err], [1, help, 'Usage: xdotool <cmd> <args>\n']);
  const known = new Set(help.trim().split('\n').slice(1).map((line) => line.trim()));
  const refused = new Set(['exec', 'behave', 'behave_screen_edge', 'selectwindow']);
  const real = (await desk.real('help')).out.trim().split('\n').slice(1).map((line) => line.trim());
  for (const name of real) assert(known.has(name) !== refused.has(name), name);
});

deskTest('scripts run line by line', async (desk) => {
  const window = await desk.xev('scripted');
  let result = await desk.script('search --name "script ed"\nsearch --name scripted\ngetwindowname # the stack stays\n');
  assert.deepEqual([result.status, result.out], [0, 'scripted\n'.replace(/^/, `${window.id}\n`)]);
  result = await desk.script('mousemove $1 $2 getmouselocation\n', '44', '55');
  assert.match(result.out, /^x:44 y:55 /);
  result = await desk.script('getmouselocation\nbogus\n');
  assert.equal(result.status, 1);
  result = await desk.script('mousemove 1 1\nbogus\nmousemove 2 2 getmouselocation\n');
  assert.equal(result.status, 0, 'the status is the last line\'s');
  assert.match(result.err, /Unknown command: bogus/);
  assert.match(result.out, /^x:2 y:2 /);
  result = await desk.script('mousemove 3 3\ntype "abc\n');
  assert.equal(result.status, 1);
  assert.match(result.err, /line 2: the quote " is not closed/);
  assert.deepEqual(await desk.pointer(), [2, 2], 'nothing of a broken script is run');
  result = await desk.script('getwindowname $NOSUCHVARIABLE');
  assert.match(result.err, /line 1: environment variable \$NOSUCHVARIABLE is not set/);
  const file = desk.box.file('script');
  fs.writeFileSync(file, '#!/usr/bin/xdotool\nmousemove $1 9\ngetmouselocation\n');
  assert.match(await desk.ok(file, '8'), /^x:8 y:9 /);
  const many = await desk.script('mousemove 1 1\n'.repeat(5000) + 'getmouselocation\n');
  assert.match(many.out, /^x:1 y:1 /);
});

deskTest('scripts type quotes and blanks as they are', async (desk) => {
  const terminal = await desk.terminal();
  const result = await desk.script('type "a b  c"\ntype \'c?}xG$si"z\'\ntype --clearmodifiers -- \\\n');
  assert.equal(result.status, 0, result.err);
  const wanted = 'a b  cc?}xG$si"z\\';
  await waitFor('the text', () => terminal.text() === wanted).catch(() => {});
  assert.equal(terminal.text(), wanted);
});

deskTest('nothing is done when somebody else holds the screen', async (desk) => {
  const window = await desk.xev('locked');
  await desk.ok('mousemove', '--window', window.id, '20', '20');
  const at = await desk.pointer();
  const locked = await desk.xdo('--locked', 'mousemove', '1', '1', 'key', 'a', 'getdisplaygeometry');
  assert.deepEqual([locked.status, locked.out], [123, '']);
  assert.match(locked.err, /somebody else holds the screen/);
  for (const args of [['sleep', '10'], ['search', '--sync', '--name', 'nosuch'], ['key', '--delay', '20000', 'b'],
    ['type', '--delay', '500', 'abcdefghijklmnopqrstuvwxyz'], ['click', '--repeat', '100', '--delay', '200', '1']]) {
    const start = performance.now();
    const result = await desk.xdo('--lock-after', '150', ...args, 'mousemove', '1', '1');
    assert.equal(result.status, 123, `${args.join(' ')}: ${result.err}`);
    assert(performance.now() - start < 3000 * patience, args.join(' '));
  }
  assert.deepEqual(await desk.pointer(), at);
  assert.equal(await heldKeys(desk), 0);
});

deskTest('a run that is canceled lets go of everything', async (desk) => {
  const window = await desk.xev('canceled');
  await desk.ok('mousemove', '--window', window.id, '20', '20');
  for (const args of [['keydown', 'shift', 'mousedown', '1', 'sleep', '10'], ['key', '--delay', '20000', 'b'],
    ['search', '--sync', '--name', 'nosuch'], ['windowfocus', '--sync', window.id, 'sleep', '10']]) {
    const result = await desk.xdo('--cancel-after', '150', ...args);
    assert.equal(result.status, 143, result.err);
    assert.equal(await heldKeys(desk), 0);
  }
  await window.expect('+Shift_L +1 -1 -Shift_L +b -b');
});

deskTest('many commands take little time', async (desk) => {
  const args = [];
  for (let i = 0; i < 1000; i++) args.push('mousemove', i, i % 800);
  const { ms, status } = await desk.xdo(...args, 'getmouselocation');
  assert.equal(status, 0);
  assert(ms < 1000 * patience, `${ms} ms for 1000 moves`);
});

/* The document */

test('docs/xdotool.md names a test of this file for each command', async () => {
  const page = fs.readFileSync(path.join(root, 'docs/xdotool.md'), 'utf8');
  const own = fs.readFileSync(path.join(root, 'tests/integration/xdotool.test.mjs'), 'utf8');
  const unit = fs.readFileSync(path.join(root, 'tests/unit/test_xdotool.c'), 'utf8');
  const table = fs.readFileSync(path.join(root, 'display/xdotool_commands.c'), 'utf8');
  const names = [...own.matchAll(/(?:deskTest|bothTest|test)\((?:'([^']+)'|`([^`$]+))/g)].map((match) => match[1] ?? match[2]);
  const commands = [...table.matchAll(/^\t\{"(\w+)"/gm)].map((match) => match[1]);
  assert(commands.length > 45, 'the table of commands was found');
  const rows = page.split('\n').filter((line) => /^\| `/.test(line));
  for (const command of commands)
    assert(rows.some((row) => row.split('|')[1].includes(`\`${command}\``)), `no row for ${command}`);
  for (const row of rows) {
    const tests = row.split('|').at(-2).split(';').map((name) => name.trim());
    for (const name of tests)
      assert(names.some((known) => known.startsWith(name) || known === name) || unit.includes(`(${name})`),
        `no test "${name}" for ${row.split('|')[1]}`);
  }
});
