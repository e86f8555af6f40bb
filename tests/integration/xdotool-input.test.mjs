// SPDX-License-Identifier: GPL-2.0-or-later
//
// The xdotool language: what its keys, its text and its pointer do to real windows.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { patience, waitFor } from './harness.mjs';
import { bothTest, deskTest, heldKeys, xdoProgram } from './xdotool.mjs';

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
