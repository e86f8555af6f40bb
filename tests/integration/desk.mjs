// SPDX-License-Identifier: GPL-2.0-or-later
//
// Programs on the box's screen that tell what reached them: a terminal that copies its input to a
// file (recipe H1 of the cases), a browser page that posts its text and events (H2), and what the X
// server knows of keys, buttons and the keymap.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

import { root, waitFor } from './harness.mjs';

/** xterm whose input goes to a file, byte by byte. Enter arrives as \n (icrnl is on). */
export async function startTerminal(box, daemon, { args = [] } = {}) {
  const file = box.file(`typed${Math.random().toString(36).slice(2)}`);
  fs.writeFileSync(file, '');
  const ready = `${file}.ready`;
  const terminal = box.spawn('xterm', ['-u8', '-T', 'terminal', '-geometry', '100x30+0+0', ...args, '-e', 'sh', '-c',
    `stty -echo -icanon min 1 -ixon; touch ${ready}; exec dd of=${file} bs=1 2>/dev/null`],
  { env: { ...daemon.env, LANG: 'C.UTF-8' } });
  await waitFor('the terminal', () => fs.existsSync(ready));
  const id = await waitFor('the terminal\'s window', async () => (await daemon.json('GET', '/v1/windows')).windows
    .find((window) => window.title === 'terminal' && window.visible)?.id);
  // Without a window manager the focus follows the pointer.
  await act(daemon, [{ type: 'move', x: 200, y: 200 }]);
  let offset = 0; // dd keeps its place in the file, so it is never truncated
  const arrived = () => fs.readFileSync(file, 'utf8').slice(offset);
  return {
    id,
    terminal,
    read: arrived,
    /** Waits until exactly `text` has arrived since the last call; fails with what did. */
    async expect(text, deadlineMs = 15000) {
      await waitFor('the text', () => arrived().length >= text.length, deadlineMs).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 30)); // what comes too much
      assert.equal(arrived(), text);
      offset += text.length;
    },
  };
}

/** xev in a window of its own under the pointer; keys() lists '+Control_L', '-Control_L', … */
export async function startXev(box, daemon, kind = 'keyboard') {
  const xev = box.spawn('xev', ['-event', kind, '-name', 'xev', '-geometry', '300x200+700+500'], { env: daemon.env });
  await waitFor('xev', async () => (await daemon.json('GET', '/v1/windows')).windows
    .some((window) => window.title === 'xev' && window.visible));
  await act(daemon, [{ type: 'move', x: 800, y: 600 }]);
  return {
    xev,
    text: () => xev.output(),
    keys: () => [...xev.output().matchAll(/Key(Press|Release)[^]*?keysym 0x([0-9a-f]+), (\w+)/g)]
      .map(([, edge, number, name]) => ({ edge: edge === 'Press' ? '+' : '-', number, name })),
  };
}

const PAGE = `<!doctype html><meta charset=utf-8><title>page</title>
<style>body{margin:0;font:16px sans-serif}textarea{width:600px;height:200px;display:block}
#source,#target{position:absolute;top:300px;width:100px;height:100px;background:#8c8}#source{left:50px}#target{left:400px;background:#c88}
#wheel{position:absolute;top:450px;left:50px;width:500px;height:200px;background:#ccf}
#slider{position:absolute;top:300px;left:650px;width:400px;margin:0}#secret{position:absolute;top:400px;left:650px;width:300px;height:40px}</style>
<textarea autofocus></textarea><div id=source draggable=true>source</div><div id=target>target</div><div id=wheel></div>
<input type=range id=slider max=1000 value=100><input type=password id=secret>
<script>
const field = document.querySelector('textarea');
const events = [];
let queue = Promise.resolve();
const post = () => { queue = queue.then(() => fetch('/state', { method: 'POST',
  body: JSON.stringify({ value: field.value, slider: Number(slider.value), secret: secret.value, events, focus: document.hasFocus() && document.activeElement === field }) })); };
for (const name of ['dragstart', 'dragover', 'drop', 'wheel', 'keydown', 'click', 'dblclick'])
  addEventListener(name, (event) => {
    if (name === 'dragover' || name === 'drop') event.preventDefault();
    events.push({ name, key: event.key, deltaY: event.deltaY, detail: event.detail, x: event.clientX, y: event.clientY,
      ctrl: event.ctrlKey, shift: event.shiftKey });
    post();
  }, { passive: false, capture: true });
for (const each of [field, slider, secret]) each.addEventListener('input', post);
addEventListener('focus', post, true);
fetch('/command').then(function next(reply) { return reply.text().then((text) => {
  if (text === 'clear') { field.value = ''; events.length = 0; field.focus(); }
  post(); return fetch('/command').then(next); }); });
document.querySelector('textarea').focus(); post();
</script>`;

/** Chromium in app mode on a page with a text field, a thing to drag and a place to scroll. */
export async function startBrowser(box, daemon) {
  let state = { value: '', events: [], focus: false };
  let waiting = null;
  const server = http.createServer((request, reply) => {
    if (request.url === '/command') {
      waiting = reply;
    } else if (request.method === 'POST') {
      const parts = [];
      request.on('data', (part) => parts.push(part));
      request.on('end', () => { state = JSON.parse(Buffer.concat(parts)); reply.end(); });
    } else {
      reply.setHeader('Content-Type', 'text/html; charset=utf-8');
      reply.end(PAGE);
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  const browser = box.spawn('chromium', ['--no-sandbox', '--test-type', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
    '--no-default-browser-check', `--user-data-dir=${box.file('chromium')}`, '--window-position=0,0',
    '--window-size=1200,780', `--app=${url}`], { env: daemon.env, detached: true });
  box.onClose(() => {
    server.closeAllConnections?.();
    server.close();
    try { process.kill(-browser.pid, 'SIGKILL'); } catch { /* it has ended */ }
  });
  await waitFor('the page', () => state.focus, 60000);
  await daemon.request('GET', '/v1/shot?wait=stable&quiet_ms=300&timeout_ms=10000');
  return {
    browser,
    state: () => state,
    names: () => state.events.map((event) => event.name),
    /** Empties the field and the list of events. */
    async clear() {
      await waitFor('the page to listen', () => waiting);
      const reply = waiting;
      waiting = null;
      reply.end('clear');
      await waitFor('an empty page', () => state.value === '' && state.events.length === 0 && waiting);
    },
    async expect(text, deadlineMs = 15000) {
      await waitFor('the text', () => state.value === text, deadlineMs).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal(state.value, text);
    },
  };
}

/** A GTK entry with the focus. */
export async function startGtkEntry(box, daemon) {
  const file = box.file('gtk-entry');
  const program = box.spawn('/usr/bin/python3', [path.join(root, 'tests/helper/gtk_entry.py'), file], { env: daemon.env });
  await waitFor('the entry', () => fs.existsSync(file), 20000);
  await waitFor('the entry\'s window', async () => (await daemon.json('GET', '/v1/windows')).windows
    .some((window) => window.title === 'gtk entry' && window.visible), 20000);
  await daemon.request('GET', '/v1/shot?wait=stable&quiet_ms=200&timeout_ms=10000');
  await act(daemon, [{ type: 'click', x: 200, y: 200 }]); // without a window manager the focus follows the pointer
  const read = () => fs.readFileSync(file, 'utf8');
  return {
    program,
    /** Waits until the text is exactly this, and empties the entry. */
    async expect(text, deadlineMs = 15000) {
      await waitFor('the text', () => read() === text, deadlineMs).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal(read(), text);
      process.kill(program.pid, 'SIGUSR1');
      await waitFor('an empty entry', () => read() === '');
    },
  };
}

/** Runs actions; fails unless all are done. */
export async function act(daemon, actions, more = {}) {
  const reply = await daemon.request('POST', '/v1/act', { body: { actions, ...more } });
  assert.equal(reply.status, 200, `act: ${reply.status} ${reply.body.toString().slice(0, 500)}`);
  return reply.json();
}

/** Keys and buttons that are down on the XTEST devices: must be none after every test. */
export async function heldDown(box, env) {
  const held = [];
  for (const device of ['Virtual core XTEST keyboard', 'Virtual core XTEST pointer'])
    held.push(...(await box.ok('xinput', ['query-state', device], { env })).match(/(key|button)\[\d+\]=down/g) || []);
  return held;
}

/** Fails when something stays down. What a viewer lets go arrives a moment after what its press has typed. */
export async function expectNoneHeld(box, env) {
  let held;
  await waitFor('nothing to be down', async () => (held = await heldDown(box, env)).length === 0).catch((error) => {
    throw new Error(`${error.message}: ${held}`);
  });
}

/** The keymap as two tools print it. */
export async function keymap(box, env) {
  const text = await box.ok('xmodmap', ['-pke'], { env });
  const full = await box.ok('xkbcomp', [env.DISPLAY, '-'], { env });
  return `${text}\n${full}`;
}

/** Caps Lock, Num Lock and the group, as xset tells them. */
export async function locks(box, env) {
  const text = await box.ok('xset', ['q'], { env });
  return { caps: /Caps Lock:\s+on/.test(text), num: /Num Lock:\s+on/.test(text), mask: text.match(/LED mask:\s+(\d+)/)[1] };
}
