// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const { Keys } = await load('keys.ts');
const { Sticky } = await load('sticky.ts');
const { KEYSYM, ofCharacter, ofNamedKey } = await load('keysyms.ts');
const { keyEvent, pointerEvent } = await load('rfb_input.ts');

const NONE = { ctrlKey: false, altKey: false, metaKey: false, isAltGraph: false, isComposing: false };

function start(isMac = false) {
  const log = [];
  const send = (keysym, isDown) => log.push(`${isDown ? '+' : '-'}${keysym.toString(16)}`);
  const keys = new Keys(send, isMac);
  return { keys, send, log, down: (key, code, more) => keys.keyDown({ ...NONE, key, code, ...more }),
    up: (key, code) => keys.keyUp({ key, code }) };
}

test('characters are their keysyms, new lines are Return', () => {
  assert.equal(ofCharacter('@'), 0x40);
  assert.equal(ofCharacter('é'), 0xe9);
  assert.equal(ofCharacter('€'), 0x010020ac);
  assert.equal(ofCharacter('😀'), 0x0101f600);
  assert.equal(ofCharacter('\n'), KEYSYM.Return);
  assert.equal(ofNamedKey('F12', 'F12', false), 0xffc9);
  assert.equal(ofNamedKey('Shift', 'ShiftRight', false), 0xffe2);
  assert.equal(ofNamedKey('Meta', 'MetaLeft', true), KEYSYM.Control);
});

test('text is left to the browser, named keys and chords are taken', () => {
  const { down, up, log } = start();
  assert.equal(down('a', 'KeyA'), false);
  assert.deepEqual(log, []);
  assert.equal(down('Enter', 'Enter'), true);
  up('Enter', 'Enter');
  down('Control', 'ControlLeft', { ctrlKey: true });
  assert.equal(down('a', 'KeyA', { ctrlKey: true }), true);
  up('a', 'KeyA');
  up('Control', 'ControlLeft');
  assert.deepEqual(log, ['+ff0d', '-ff0d', '+ffe3', '+61', '-61', '-ffe3']);
});

test('V24: the key that is lifted is the one that was pressed, whatever it is called by then', () => {
  const { keys, down, up, log } = start();
  down('Control', 'ControlLeft', { ctrlKey: true });
  down('A', 'KeyA', { ctrlKey: true });
  up('Control', 'ControlLeft');
  up('a', 'KeyA');
  up('a', 'KeyA');
  assert.deepEqual(log, ['+ffe3', '+41', '-ffe3', '-41']);
  keys.releaseAll();
  assert.equal(log.length, 4);
});

test('V23: Ctrl and blur in either order leave nothing down', () => {
  for (const order of ['key first', 'blur first']) {
    const { keys, down, log } = start();
    if (order === 'blur first') keys.blur();
    down('Control', 'ControlLeft', { ctrlKey: true });
    if (order === 'key first') keys.blur();
    const balance = log.reduce((sum, line) => sum + (line[0] === '+' ? 1 : -1), 0);
    assert.equal(balance, 0, `${order}: ${log}`);
  }
});

test('a Mac: Cmd is Ctrl, Option makes characters, keys that Cmd swallows are lifted', () => {
  const { down, up, log } = start(true);
  down('Meta', 'MetaLeft', { metaKey: true });
  down('c', 'KeyC', { metaKey: true });
  up('Meta', 'MetaLeft'); // no keyup of C comes
  assert.deepEqual(log, ['+ffe3', '+63', '-ffe3', '-63']);
  assert.equal(down('Alt', 'AltLeft', { altKey: true }), false);
  assert.equal(down('@', 'KeyL', { altKey: true }), false);
});

test('AltGr on Windows: no Ctrl stays down, its character is text', () => {
  const { down, up, log } = start();
  down('Control', 'ControlLeft', { ctrlKey: true });
  down('AltGraph', 'AltRight', { ctrlKey: true, altKey: true, isAltGraph: true });
  assert.equal(down('@', 'KeyQ', { ctrlKey: true, altKey: true, isAltGraph: true }), false);
  up('AltGraph', 'AltRight');
  assert.deepEqual(log, ['+ffe3', '-ffe3']);
});

test('Ctrl, Alt and Shift together leave the stage, with nothing down', () => {
  const { keys, down, log } = start();
  let hasLeft = false;
  keys.onLeave = () => { hasLeft = true; };
  down('Control', 'ControlLeft', { ctrlKey: true });
  down('Alt', 'AltLeft', { ctrlKey: true, altKey: true });
  down('Shift', 'ShiftLeft', { ctrlKey: true, altKey: true });
  assert(hasLeft);
  assert.deepEqual(log, ['+ffe3', '+ffe9', '+ffe1', '-ffe1', '-ffe9', '-ffe3']);
});

test('Ctrl+V: the local text is typed instead, with Ctrl let go', () => {
  const { keys, down, log } = start();
  keys.onPasteChord = () => true;
  down('Control', 'ControlLeft', { ctrlKey: true });
  assert.equal(down('v', 'KeyV', { ctrlKey: true }), false);
  assert.deepEqual(log, ['+ffe3', '-ffe3']);
});

test('V29: chords of the key bar go down in order and come up in reverse; latches are used up', () => {
  const { log, send } = start();
  const sticky = new Sticky(send);
  sticky.tapCharacter('w', ['Control']);
  sticky.tap(KEYSYM.Tab, ['Alt']);
  assert.deepEqual(log.splice(0), ['+ffe3', '+77', '-77', '-ffe3', '+ffe9', '+ff09', '-ff09', '-ffe9']);
  sticky.toggle('Control');
  sticky.toggle('Shift');
  sticky.tapCharacter('a');
  sticky.tapCharacter('b');
  assert.deepEqual(log, ['+ffe3', '+ffe1', '+61', '-61', '-ffe1', '-ffe3', '+62', '-62']);
});

test('Tab with Shift is ISO_Left_Tab', () => {
  const { down, up, log, send } = start();
  down('Shift', 'ShiftLeft');
  down('Tab', 'Tab');
  up('Tab', 'Tab');
  up('Shift', 'ShiftLeft');
  new Sticky(send).tap(KEYSYM.Tab, ['Shift']);
  assert.deepEqual(log, ['+ffe1', '+fe20', '-fe20', '-ffe1', '+ffe1', '+fe20', '-fe20', '-ffe1']);
});

test('the messages as RFC 6143 has them', () => {
  assert.deepEqual([...keyEvent(0x0101f600, true)], [4, 1, 0, 0, 1, 1, 0xf6, 0]);
  assert.deepEqual([...pointerEvent(1279, 799, 5)], [5, 5, 4, 255, 3, 31]);
});
