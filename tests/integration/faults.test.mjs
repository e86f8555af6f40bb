// SPDX-License-Identifier: GPL-2.0-or-later
//
// Faults that people found by trying to break things, each with its right value.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';

import { boxTest, patience, waitFor } from './harness.mjs';
import { act, heldDown, startBrowser, startXev } from './desk.mjs';

/** A GET on the page listener: {status, body}. */
const get = (url) => new Promise((resolve, reject) => {
  http.get(url, (reply) => {
    const parts = [];
    reply.on('data', (part) => parts.push(part));
    reply.on('end', () => resolve({ status: reply.statusCode, body: Buffer.concat(parts) }));
  }).on('error', reject);
});

boxTest('a daemon whose X server is stopped ends on SIGTERM all the same', async (box) => {
  const { server, daemon } = await box.startScreen();
  server.process.kill('SIGSTOP');
  const shot = daemon.request('GET', '/v1/shot').catch(() => {});
  const start = performance.now();
  const end = await daemon.stop('SIGTERM', 10000);
  server.process.kill('SIGCONT');
  await shot;
  assert.equal(end.code, 0);
  assert(performance.now() - start < 8000 * patience, 'within some seconds');
});

boxTest('input that was given up is not carried out when a stopped X server goes on', async (box) => {
  const { server, daemon } = await box.startScreen();
  const xev = await startXev(box, daemon, 'button');
  const presses = () => (xev.text().match(/ButtonPress/g) || []).length;
  const actions = [{ type: 'move', x: 800, y: 600 }, { type: 'click' }, { type: 'wait', ms: 100 }, { type: 'click' }];
  await act(daemon, actions);
  await waitFor('two clicks', () => presses() === 2);
  server.process.kill('SIGSTOP');
  await waitFor('the server to be stopped', () => /\) T /.test(fs.readFileSync(`/proc/${server.pid}/stat`, 'utf8')));
  const body = JSON.stringify({ actions });
  const call = http.request({ socketPath: daemon.socket, method: 'POST', path: '/v1/act', headers: { 'Content-Length': body.length } });
  call.on('error', () => {});
  call.end(body);
  const refused = await daemon.request('POST', '/v1/act', { body: { actions } });
  assert.equal(refused.status, 504);
  assert.equal(refused.json().error, 'timeout');
  call.destroy();
  await new Promise((resolve) => setTimeout(resolve, 100)); // for the daemon to hear of it
  server.process.kill('SIGCONT');
  await act(daemon, [{ type: 'cursor_position' }]);
  await act(daemon, [{ type: 'click', x: 800, y: 600 }]);
  await waitFor('the click that was meant', () => presses() >= 3);
  assert.equal(presses(), 3, 'nothing of what was given up');
});

boxTest('why there is no X server is told: no Xvfb program', async (box) => {
  const daemon = await box.startDaemon({ xvfb: 'auto', waits: false, env: { PATH: '/nonexistent' } });
  await waitFor('the reason', async () =>
    /install/.test((await daemon.json('GET', '/v1/status')).screen.message || ''));
  const shot = await daemon.request('GET', '/v1/shot');
  assert.equal(shot.status, 503);
  assert.match(shot.json().message, /install/);
});

boxTest('a download link is to the file as it was', async (box) => {
  const { daemon } = await box.startScreen();
  const path = box.file('a.png');
  const save = () => daemon.json('POST', '/v1/shots', { body: { path } });
  const first = await save();
  assert.equal((await get(first.url)).status, 200);
  const second = await save();
  assert.equal((await get(first.url)).status, 410, 'another picture under the name');
  assert.equal((await get(second.url)).status, 200);
  fs.rmSync(path);
  fs.symlinkSync('/etc/passwd', path);
  const linked = await get(second.url);
  assert.equal(linked.status, 410);
  assert(!linked.body.includes('root:'));
});

boxTest('pictures without a path are the daemon\'s, for as long as their links are good', async (box) => {
  const stateDir = box.file('state');
  const server = await box.startXvfb();
  const start = () => box.startDaemon({ display: server.display, stateDir, args: ['--box-id', 'b'] });
  const daemon = await start();
  const keep = async (on) => (await on.json('POST', '/v1/shots', { body: { inline: true } }));
  const first = await keep(daemon), second = await keep(daemon);
  assert.equal((await get(first.url)).status, 200);
  assert.deepEqual(fs.readFileSync(first.path), Buffer.from(first.base64, 'base64'));
  assert.equal(fs.statSync(first.path).mode & 0o777, 0o600);
  assert.equal((await daemon.request('POST', '/v1/shots', { body: { scale: 1 } })).status, 400, 'neither path nor inline');
  await daemon.stop();
  // An hour later the first one's link is over; and a daemon that was killed has left a file.
  const table = fs.readFileSync(`${stateDir}/downloads.json`, 'utf8');
  fs.writeFileSync(`${stateDir}/downloads.json`, table.replace(/"wall_us":\d+/, '"wall_us":1')); // of the first
  fs.writeFileSync(`${stateDir}/shots/shot-0.png`, 'left');
  const next = await start();
  assert.deepEqual(fs.readdirSync(`${stateDir}/shots`), [second.path.split('/').pop()]);
  const url = new URL(second.url);
  assert.equal((await get(`${new URL(next.url).origin}${url.pathname}${url.search}`)).status, 200, 'links outlive the daemon');
});

boxTest('a picture\'s format follows the ending in any case; others are refused', async (box) => {
  const { daemon } = await box.startScreen();
  await daemon.json('POST', '/v1/shots', { body: { path: box.file('x.JPG') } });
  assert.equal(fs.readFileSync(box.file('x.JPG')).readUInt16BE(0), 0xffd8);
  await daemon.json('POST', '/v1/shots', { body: { path: box.file('plain') } });
  assert.equal(fs.readFileSync(box.file('plain')).toString('latin1', 1, 4), 'PNG');
  const reply = await daemon.request('POST', '/v1/shots', { body: { path: box.file('x.gif') } });
  assert.equal(reply.status, 400);
  assert(!fs.existsSync(box.file('x.gif')));
});

boxTest('clipboard: only what the owner offers is asked for, and a picture outlives its owner', async (box) => {
  const { server, daemon } = await box.startScreen();
  const png = (await daemon.request('GET', '/v1/shot')).body;
  fs.writeFileSync(box.file('p.png'), png);
  const owner = box.spawn('xclip', ['-i', '-quiet', '-selection', 'clipboard', '-t', 'image/png', box.file('p.png')], { env: server.env });
  await waitFor('the picture', async () => (await daemon.request('GET', '/v1/clipboard?type=image/png')).body.equals(png));
  const text = await daemon.request('GET', '/v1/clipboard');
  assert.deepEqual([text.status, text.json().error], [404, 'not_found']);
  // xclip counts what it hands out: once to us, once to the keeper.
  await waitFor('the keeper to have asked', () => /request number [3-9]/.test(owner.log()));
  // Answered after the keeper, so the keeper has its answer too.
  assert((await daemon.request('GET', '/v1/clipboard?type=image/png')).body.equals(png));
  await owner.stop('SIGKILL');
  await waitFor('the picture to be ours', async () => (await daemon.request('GET', '/v1/clipboard?type=image/png')).body.equals(png));
});

boxTest('both forms of computer_call are good bodies', async (box) => {
  const { daemon } = await box.startScreen();
  for (const body of [
    { type: 'computer_call', call_id: 'x', actions: [{ type: 'move', x: 4, y: 5 }], status: 'completed' },
    { type: 'computer_call', call_id: 'x', action: { type: 'move', x: 4, y: 5 }, pending_safety_checks: [] },
    { type: 'tool_use', id: 't', name: 'computer', input: { action: 'mouse_move', coordinate: [4, 5] } }])
    assert.equal((await daemon.json('POST', '/v1/act', { body })).done, 1);
});

boxTest('U+20AC is a key in the xdotool language too', async (box) => {
  const { daemon } = await box.startScreen();
  const xev = await startXev(box, daemon);
  assert.deepEqual(await daemon.json('POST', '/v1/xdotool', { body: { args: ['key', 'U+20AC', 'ctrl+plus'] } }), { exit: 0, stdout: '', stderr: '' });
  await waitFor('the euro', () => xev.keys().some(({ name }) => /^(EuroSign|U20AC)$/.test(name)));
});

boxTest('windows: a manager without clients has none to show', async (box) => {
  const { server, daemon } = await box.startScreen();
  box.spawn('openbox', [], { env: server.env });
  await waitFor('the window manager', async () =>
    /window id/.test(await box.ok('xprop', ['-root', '_NET_SUPPORTING_WM_CHECK'], { env: server.env })));
  assert.deepEqual((await daemon.json('GET', '/v1/windows')).windows, []);
});

boxTest('a drag in a vendor\'s separate calls is a drag and a drop', async (box) => {
  const { server, daemon } = await box.startScreen();
  const page = await startBrowser(box, daemon);
  await page.clear();
  for (const action of [{ action: 'mouse_move', coordinate: [100, 350] }, { action: 'left_mouse_down' },
    { action: 'mouse_move', coordinate: [450, 350] }, { action: 'left_mouse_up' }])
    await daemon.json('POST', '/v1/act', { body: action });
  await waitFor('the drop', () => page.names().includes('drop')).catch(() => {});
  for (const name of ['dragstart', 'dragover', 'drop']) assert(page.names().includes(name), `${name} in ${page.names()}`);
  assert.deepEqual(await heldDown(box, server.env), []);
});
