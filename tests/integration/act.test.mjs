// SPDX-License-Identifier: GPL-2.0-or-later
//
// The hand through the control socket: the I cases that a terminal can show, and the rules of
// POST /v1/act.
import assert from 'node:assert/strict';
import fs from 'node:fs';

import { boxTest, waitFor } from './harness.mjs';
import { act, heldDown, keymap, locks, startTerminal, startXev } from './desk.mjs';

const type = (text) => [{ type: 'type', text }];
const ACCENTS = 'àáâãäçèéêëìíîïñòóôõöùúûüýÿÀÁÂÃÄÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝ';

boxTest('I01 I03 I05 I09 I27: text arrives exactly in a terminal, whatever the locale of the daemon', async (box) => {
  const server = await box.startXvfb();
  const daemon = await box.startDaemon({ display: server.display, env: { LC_ALL: 'C', LANG: 'C' } });
  const terminal = await startTerminal(box, daemon);
  const before = await keymap(box, server.env);
  for (const text of [ACCENTS, 'øøøøSpaß', 'Привет', '😀é🏼', '-mypassword', '-1', '-exampleOfSomethingToType',
    '"c?}xG$si"z{cov/K<g!!fwUZ^66\'QK', 'a b  c', '日本語テキスト', 'العربية', 'עברית', 'ไทย', 'e\u0301 n\u0303']) {
    const { results } = await act(daemon, type(text));
    assert.equal(results[0].typed, [...text].length, text);
    await terminal.expect(text);
  }
  for (let i = 0; i < 20; i++) {
    await act(daemon, type('Привет'));
    await terminal.expect('Привет');
  }
  assert.deepEqual(await heldDown(box, server.env), []);
  await waitFor('the keymap to be as before', async () => await keymap(box, server.env) === before, 20000, 200);
});

boxTest('I07: newline is Return, tab is Tab, CR LF is one Return', async (box) => {
  const { daemon } = await box.startScreen();
  const terminal = await startTerminal(box, daemon);
  await act(daemon, type('a\tb\nc\r\nd'));
  await terminal.expect('a\tb\nc\nd');
  const xev = await startXev(box, daemon);
  await act(daemon, type('a\tb\nc\r\nd'));
  const pressed = () => xev.keys().filter(({ edge }) => edge === '+').map(({ number }) => number);
  await waitFor('the key events', () => pressed().length >= 7);
  assert.deepEqual(pressed(), ['61', 'ff09', '62', 'ff0d', '63', 'ff0d', '64']);
  assert(!/synthetic YES/.test(xev.text()));
});

boxTest('I13: a character is itself whether Shift is held or not', async (box) => {
  const { server, daemon } = await box.startScreen();
  const terminal = await startTerminal(box, daemon);
  await act(daemon, type('<a>'));
  await terminal.expect('<a>');
  await act(daemon, [{ type: 'key_down', keys: 'shift' }, { type: 'type', text: '<a>' }, { type: 'key_up', keys: 'shift' }]);
  await terminal.expect('<a>');
  assert.deepEqual(await heldDown(box, server.env), []);
});

boxTest('I15: KP_1 types 1 and leaves Num Lock alone, from both states', async (box) => {
  const { server, daemon } = await box.startScreen();
  const terminal = await startTerminal(box, daemon);
  for (const isOn of [false, true]) {
    if ((await locks(box, server.env)).num !== isOn) await act(daemon, [{ type: 'key', keys: 'Num_Lock' }]);
    const before = await locks(box, server.env);
    assert.equal(before.num, isOn);
    await act(daemon, [{ type: 'key', keys: 'KP_1', count: 10 }]);
    await terminal.expect('1'.repeat(10));
    assert.deepEqual(await locks(box, server.env), before);
  }
});

boxTest('Caps Lock on: text is as sent, and the lock as before', async (box) => {
  const { server, daemon } = await box.startScreen();
  const terminal = await startTerminal(box, daemon);
  await act(daemon, [{ type: 'key', keys: 'Caps_Lock' }]);
  assert((await locks(box, server.env)).caps);
  await act(daemon, type('aBcÄö Привет'));
  await terminal.expect('aBcÄö Привет');
  assert((await locks(box, server.env)).caps);
});

boxTest('I21 I22: names of keys, chords and their order', async (box) => {
  const { daemon } = await box.startScreen();
  const xev = await startXev(box, daemon);
  const events = () => xev.keys().map(({ edge, name }) => edge + name);
  let seen = 0;
  const expectKeys = async (keys, expected) => {
    await act(daemon, [{ type: 'key', keys }]);
    await waitFor(`${keys}: ${expected}`, () => events().length >= seen + expected.length).catch(() => {});
    assert.deepEqual(events().slice(seen), expected, keys);
    seen = events().length;
  };
  for (const [name, keysym] of [['enter', 'Return'], ['Esc', 'Escape'], ['PgDn', 'Next'], ['PageDown', 'Next'],
    ['ArrowDown', 'Down'], ['backtick', 'grave'], ['Backspace', 'BackSpace'], ['F5', 'F5']])
    await expectKeys(name, [`+${keysym}`, `-${keysym}`]);
  await expectKeys('ctrl+shift+t', ['+Control_L', '+Shift_L', '+T', '-T', '-Shift_L', '-Control_L']);
  await expectKeys('ctrl+plus', ['+Control_L', '+Shift_L', '+plus', '-plus', '-Shift_L', '-Control_L']);
  for (const [keys, named] of [['nosuch', 'nosuch'], ['ctrl-s', 'ctrl-s'], ['a nosuch b', 'nosuch']]) {
    const reply = await daemon.request('POST', '/v1/act', { body: { actions: [{ type: 'key', keys }] } });
    assert.equal(reply.status, 400);
    assert.match(reply.json().message, new RegExp(named));
  }
  assert.equal(events().length, seen, 'nothing is sent after an error');
});

boxTest('I25: the alphabet on layouts of two groups, groups and map as before', async (box) => {
  const { server, daemon } = await box.startScreen();
  const terminal = await startTerminal(box, daemon);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  for (const layout of [['us,ru'], ['cz,cz', ',rus'], ['de,us'], ['fr'], ['us', 'dvorak']]) {
    await box.ok('setxkbmap', ['-layout', layout[0], '-variant', layout[1] || ''], { env: server.env });
    await act(daemon, type(alphabet));
    await terminal.expect(alphabet);
  }
});

boxTest('I23: killed in the middle of a text, the next start gives the keymap back', async (box) => {
  const server = await box.startXvfb();
  const before = await keymap(box, server.env);
  const first = await box.startDaemon({ display: server.display });
  await startTerminal(box, first);
  const text = Array.from({ length: 3000 }, (_, i) => String.fromCodePoint(0x4e00 + i * 5)).join('');
  const pending = first.request('POST', '/v1/act', { body: { actions: type(text) } }).catch(() => {});
  await waitFor('the map to be borrowed', async () => await keymap(box, server.env) !== before);
  first.process.kill('SIGKILL');
  await Promise.all([first.exited, pending]);
  await box.startDaemon({ display: server.display });
  await waitFor('the keymap to be as before', async () => await keymap(box, server.env) === before, 10000, 100);
  assert.deepEqual(await heldDown(box, server.env), []);
});

boxTest('a batch is checked whole before anything is sent, and stops at the first failure', async (box) => {
  const { server, daemon } = await box.startScreen();
  const terminal = await startTerminal(box, daemon);
  for (const actions of [
    [...type('abc'), { type: 'fly' }],
    [...type('abc'), { type: 'key', keys: 'nosuch' }],
    [...type('abc'), { type: 'move', x: 5000, y: 1 }],
    [...type('abc'), { type: 'type', text: 'x\u0001y' }],
    [...type('abc'), { type: 'click', x: 1, y: 1, bogus: 1 }],
  ]) {
    const reply = await daemon.request('POST', '/v1/act', { body: { actions } });
    assert.equal(reply.status, 400, JSON.stringify(actions));
    assert.match(reply.json().message, /actions\[1\]/);
  }
  await terminal.expect('');
  assert.deepEqual(await heldDown(box, server.env), []);
});

boxTest('what a batch presses goes up at its end, unless it is kept', async (box) => {
  const { server, daemon } = await box.startScreen();
  await act(daemon, [{ type: 'button_down', button: 'left' }, { type: 'key_down', keys: 'shift' }]);
  assert.deepEqual(await heldDown(box, server.env), []);
  await act(daemon, [{ action: 'left_mouse_down' }]);
  assert((await heldDown(box, server.env)).includes('button[1]=down'));
  await act(daemon, [{ type: 'move', x: 10, y: 10 }]);
  assert((await heldDown(box, server.env)).includes('button[1]=down'));
  await act(daemon, [{ action: 'left_mouse_up' }]);
  assert.deepEqual(await heldDown(box, server.env), []);
});

boxTest('a caller that goes away stops its batch, and nothing stays down', async (box) => {
  const { server, daemon } = await box.startScreen();
  const terminal = await startTerminal(box, daemon);
  const agent = new (await import('node:http')).Agent();
  const body = JSON.stringify({ actions: [{ type: 'key_down', keys: 'ctrl' }, { type: 'wait', ms: 60000 }, ...type('late')] });
  const call = (await import('node:http')).request({ socketPath: daemon.socket, method: 'POST', path: '/v1/act', agent,
    headers: { 'Content-Length': Buffer.byteLength(body) } });
  call.on('error', () => {});
  call.end(body);
  await waitFor('ctrl to be down', async () => (await heldDown(box, server.env)).length > 0);
  call.destroy();
  await waitFor('ctrl to be up', async () => (await heldDown(box, server.env)).length === 0);
  await act(daemon, type('next'));
  await terminal.expect('next');
});

boxTest('callers at once: batches and xdotool chains never mix, and one that goes away takes only its own', async (box) => {
  const { server, daemon } = await box.startScreen();
  const terminal = await startTerminal(box, daemon);
  const texts = ['a', 'б', 'c', '你', 'e', 'ф'].map((letter) => letter.repeat(300));
  await Promise.all(texts.map(async (text, i) => {
    if (i % 2 === 0) return act(daemon, type(text));
    const reply = await daemon.json('POST', '/v1/xdotool', { body: { args: ['type', '--delay', '0', text] } });
    return assert.equal(reply.exit, 0, reply.stderr);
  }));
  const arrived = await waitFor('all', () => [...terminal.read()].length >= 1800 && terminal.read());
  assert.deepEqual(arrived.match(/(.)\1*/gu).sort(), [...texts].sort());
  assert.deepEqual(await heldDown(box, server.env), []);
});

boxTest('settle tells whether and when the screen changed, and a picture comes only if it did', async (box) => {
  const { daemon } = await box.startScreen();
  const terminal = await startTerminal(box, daemon);
  await daemon.request('GET', '/v1/shot?wait=stable');
  const still = await act(daemon, [{ type: 'cursor_position' }], { settle: { quiet_ms: 50 }, shot: {} });
  assert.deepEqual([still.changed, still.shot, still.changed_at_ms], [false, 'unchanged', null]);
  assert(still.settled_at_ms >= 50);
  await box.run('true');
  const shell = box.spawn('xterm', ['-T', 'second', '-geometry', '40x10+700+500'], { env: daemon.env });
  await waitFor('a second window', async () => (await daemon.json('GET', '/v1/windows')).windows.length > 1);
  await daemon.request('GET', '/v1/shot?wait=stable');
  const typed = await act(daemon, [{ type: 'click', x: 750, y: 550 }, ...type('echo visible')],
    { settle: {}, shot: { region: [700, 500, 200, 100] } });
  assert.equal(typed.changed, true);
  assert(typed.changed_at_ms <= typed.settled_at_ms);
  assert.equal(typed.shot.format, 'png');
  assert.deepEqual(typed.shot.origin, [700, 500]);
  assert.equal(Buffer.from(typed.shot.base64, 'base64').subarray(1, 4).toString(), 'PNG');
  shell.stop();
  void terminal;
  void fs;
});

boxTest('coordinates are those of the picture that the caller saw', async (box) => {
  const { daemon } = await box.startScreen();
  const { results } = await act(daemon, [{ action: 'mouse_move', coordinate: [320, 100] }, { action: 'cursor_position' },
    { action: 'screenshot' }], { space: { width: 640, height: 400 } });
  assert.deepEqual([results[1].x, results[1].y], [320, 100]);
  assert.deepEqual([results[2].picture.width, results[2].picture.height], [640, 400]);
  const inFull = await act(daemon, [{ type: 'cursor_position' }]);
  assert.deepEqual([inFull.results[0].x, inFull.results[0].y], [640, 200]);
});

boxTest('without a screen input answers 503 at once, and bad input still 400', async (box) => {
  const daemon = await box.startDaemon({ display: ':64321', waits: false });
  const reply = await daemon.request('POST', '/v1/act', { body: { actions: [{ type: 'wait', ms: 1 }] } });
  assert.equal(reply.status, 503);
  assert.equal(reply.json().error, 'screen_unavailable');
  assert.equal((await daemon.request('POST', '/v1/act', { body: { actions: [{ type: 'fly' }] } })).status, 400);
});

boxTest('a million keys of xdotool leave room for shots, and end with their caller', async (box) => {
  const { daemon } = await box.startScreen();
  const typing = new AbortController();
  const call = daemon.request('POST', '/v1/xdotool',
    { body: { args: ['key', '--delay', '0', '--repeat', '1000000', 'a'] }, signal: typing.signal });
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal((await daemon.request('GET', '/v1/shot')).status, 200);
  typing.abort();
  await assert.rejects(call, { name: 'AbortError' });
  assert.equal((await act(daemon, [{ type: 'move', x: 5, y: 5 }])).done, 1);
});
