// SPDX-License-Identifier: GPL-2.0-or-later
//
// Keys from viewers: the keysym cases of the collected reports, sent as raw RFB, and what arrives in a
// terminal. After each case nothing is held and the keymap is as before.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectNoneHeld, keymap, startBrowser, startGtkEntry, startTerminal } from './desk.mjs';
import { boxTest, waitFor } from './harness.mjs';
import { LIKE_NOVNC, Rfb, TIGHT } from './rfb.mjs';

const NAMES = { Shift_L: 0xffe1, Control_L: 0xffe3, Caps_Lock: 0xffe5, ISO_Level3_Shift: 0xfe03, ISO_Left_Tab: 0xfe20,
  Shift_R: 0xffe2, Left: 0xff51, F5: 0xffc2, Return: 0xff0d, BackSpace: 0xff08, Tab: 0xff09, KP_7: 0xffb7, KP_0: 0xffb0, KP_Decimal: 0xffae, KP_Add: 0xffab };
const CYRILLIC = 'абвгдеёжзийклмнопрстуфхцчшщъыьэюяАБВГДЕЁЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ';
const BURST = Array.from({ length: 60 }, (_, i) => String.fromCodePoint(0x4e00 + 37 * i)).join('');

/** The keysym of a word of the cases: a name, a number, U+…, or a character. */
function keysymOf(word) {
  if (word in NAMES) return NAMES[word];
  if (/^0x/.test(word)) return Number(word);
  const code = /^U\+/.test(word) ? parseInt(word.slice(2), 16) : word.codePointAt(0);
  return code < 0x100 ? code : 0x01000000 + code;
}

async function play(client, steps) {
  for (const word of steps.split(' ')) {
    if (/^~\d/.test(word)) await sleep(Number(word.slice(1)));
    else if (/^\+./.test(word)) client.key(keysymOf(word.slice(1)), true);
    else if (/^-./.test(word)) client.key(keysymOf(word.slice(1)), false);
    else client.tap(keysymOf(word));
  }
}

/** [name, steps, what arrives]. */
const CASES = [
  ['01 plain', 'h e l l o', 'hello'],
  ['03 capitals without Shift', 'H I', 'HI'],
  ['05 lower case while Shift is down', '+Shift_L a b +C -C -Shift_L d', 'abCd'],
  ['07 other scripts', 'U+20AC U+4F60 U+597D', '€你好'],
  ['09 keysyms of old', '0x6c6 0x7e1 0xce0 0x20ac', 'фαא€'],
  ['11 60 distinct characters without a pause', [...BURST].join(' '), BURST],
  ['13 a dead key', '0xfe51 e x', 'éx'],
  ['15 AltGr held on a US layout', '+ISO_Level3_Shift +@ -@ -ISO_Level3_Shift a', '@a'],
  ['19 keypad digits', 'KP_7 KP_0 KP_Decimal KP_Add', '70.+'],
  ['21 a held key does not repeat by itself', '+a ~1200 -a b', 'ab'],
  ['23 rollover', '+a +b -a +c -b -c', 'abc'],
  ['25 Ctrl+A, then typing on', 'a b c +Control_L +a -a -Control_L z', 'abc\u0001z'],
  ['27 ISO_Left_Tab', '+Shift_L +ISO_Left_Tab -ISO_Left_Tab -Shift_L', '\u001b[Z'],
  ['27 Tab while Shift is held, as systems without ISO_Left_Tab say it', 'Tab +Shift_L Tab +Tab -Shift_L -Tab +Shift_R +Tab +Tab -Tab -Shift_R Tab',
    '\t\u001b[Z\u001b[Z\u001b[Z\u001b[Z\t'],
  ['27 other keys without a second form keep Shift', '+Shift_L Left F5 -Shift_L Left', '\u001b[1;2D\u001b[15;2~\u001b[D'],
  ['29 unknown keysyms', 'a 0x0 0x1fffffff 0xff b', 'aÿb'],
  ['I13 less while Shift is held', '+Shift_L +< -< -Shift_L a +Shift_L +> -> -Shift_L', '<a>'],
  ['V19 what phones send without Shift', '@ : _ " # { | ~ U+20AC', '@:_"#{|~€'],
  ['V24 a release in another case', '+Shift_L +A -Shift_L -a', 'A'],
  ['V25 all 66 Cyrillic letters', [...CYRILLIC].join(' '), CYRILLIC],
  ['V27 four downs and one up', '+b +b +b +b -b', 'bbbb'],
];

async function startScreen(box) {
  const rfb = box.file('rfb.sock');
  const started = await box.startScreen({ daemon: { args: ['--rfb', rfb, '--rfb-role', 'control'] } });
  const connect = async (encodings = TIGHT) => {
    const client = await (await Rfb.unix(rfb)).open();
    box.onClose(() => client.destroy());
    client.setEncodings(encodings);
    return client;
  };
  return { ...started, connect };
}

async function startTyping(box) {
  const screen = await startScreen(box);
  return { ...screen, terminal: await startTerminal(box, screen.daemon) };
}

/** A case in a program; `text` of it where a terminal shows keys that others act on. */
const OTHERWISE = { '25 Ctrl+A, then typing on': 'z' };
const TERMINAL_ONLY = CASES.map(([name]) => name).filter((name) => /^27 /.test(name)); // elsewhere it moves the focus

async function playCase(box, { daemon, env, connect }, program, steps, text) {
  const client = await connect();
  await play(client, steps);
  await program.expect(text);
  await expectNoneHeld(box, env);
  client.destroy();
  await waitFor('it to be gone', async () => (await daemon.json('GET', '/v1/status')).viewers.length === 0);
}

boxTest('the keysym cases arrive, hold nothing and leave the keymap alone', async (box, t) => {
  const screen = await startTyping(box);
  const before = await keymap(box, screen.env);
  for (const [name, steps, text] of CASES)
    await t.test(name, () => playCase(box, screen, screen.terminal, steps, text));
  await waitFor('31: the keymap as before', async () => (await keymap(box, screen.env)) === before, 8000, 100);
}, { timeout: 240000 });

for (const [where, start] of [['a GTK entry', startGtkEntry], ['Chromium', startBrowser]]) {
  boxTest(`the keysym cases arrive in ${where}`, async (box, t) => {
    const screen = await startScreen(box);
    const before = await keymap(box, screen.env);
    const program = await start(box, screen.daemon);
    for (const [name, steps, text] of CASES.filter(([name]) => !TERMINAL_ONLY.includes(name))) {
      await t.test(name, async () => {
        await playCase(box, screen, program, steps, OTHERWISE[name] ?? text);
        await program.clear?.();
      });
    }
    await waitFor('31: the keymap as before', async () => (await keymap(box, screen.env)) === before, 8000, 100);
  }, { timeout: 240000 });
}

boxTest('17: Caps Lock on the screen changes no letter', async (box) => {
  const { env, terminal, connect } = await startTyping(box);
  const modern = await connect(LIKE_NOVNC); // it follows the lights, so its Caps Lock is the screen's
  await waitFor('the lights', () => { modern.request(true); return modern.lights === 0; }, 5000, 50);
  modern.tap(NAMES.Caps_Lock);
  await waitFor('Caps Lock', () => { modern.request(true); return modern.lights === 4; }, 5000, 50);
  const client = await connect();
  await play(client, 'a B c');
  await terminal.expect('aBc');
  client.tap(NAMES.Caps_Lock); // a viewer without lights: its letters have the right case already
  await play(client, 'd E');
  await terminal.expect('dE');
  await expectNoneHeld(box, env);
});

boxTest('QEMU key events: the keysym decides, and the place where there is no keysym', async (box) => {
  const { terminal, connect } = await startTyping(box);
  const client = await connect(LIKE_NOVNC);
  const qemu = (isDown, keysym, scancode) => {
    const message = Buffer.from([255, 0, 0, isDown, 0, 0, 0, 0, 0, 0, 0, 0]);
    message.writeUInt32BE(keysym, 4);
    message.writeUInt32BE(scancode, 8);
    client.write(message);
  };
  for (const [keysym, scancode] of [[0x79, 0x2c], [0, 0x1e], [0, 0x9c]]) { // y of a German keyboard; A; Enter
    qemu(1, keysym, scancode);
    qemu(0, keysym, scancode);
  }
  await terminal.expect('ya\n');
});

boxTest('two controllers: who types has the screen, and their keys do not mix', async (box) => {
  const { env, terminal, connect } = await startTyping(box);
  const first = await connect();
  const second = await connect();
  first.key(NAMES.Shift_L, true);
  first.tap(0x41);
  await terminal.expect('A');
  second.tap(0x62); // takes over: the first one's Shift is let go
  await terminal.expect('b');
  await expectNoneHeld(box, env);
  first.key(NAMES.Shift_L, false);
  first.tap(0x63);
  await terminal.expect('c');
});
