// SPDX-License-Identifier: GPL-2.0-or-later
//
// Takeovers over restarts of the daemon, frozen boxes and stepped clocks, and what is told to others:
// boxd (a stand-in that drives whole passes through the socket), --notify targets.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { boxTest, isSanitized, patience, waitFor } from './harness.mjs';
import { Boxd } from './boxd/boxd.mjs';
import { makeLink } from './browsers.mjs';
import { heldDown, startTerminal } from './desk.mjs';
import { actAsAgent, control, openTakeover, Person, startBox } from './takeovers.mjs';
import { assertGood, startRecording, stopRecording } from './video.mjs';
import { openSession } from './websocket.mjs';

/** The same daemon once more: state, socket and port of before. */
async function startAgain(box, daemon, server, { args = [], env } = {}) {
  const port = new URL(daemon.url).port;
  const again = await box.startDaemon({ display: server.display, socket: daemon.socket, env,
    args: ['--state-dir', box.file('state0'), '--listen', `127.0.0.1:${port}`, ...args] });
  return again;
}

boxTest('boxd drives a whole pass: push, lock, exec refused, call cut off, restart in the middle, message', async (box) => {
  const { daemon, server } = await startBox(box);
  const boxd = await Boxd.start(daemon.socket);
  box.onClose(() => boxd.stop());
  assert.equal(boxd.exec().status, 200);
  const agent = boxd.takeover('Type the code from the SMS');
  const { url } = await waitFor('the push', () => boxd.pushes[0]);
  const person = await Person.holding(box, url);
  await waitFor('boxd to know of the lock', () => boxd.isLocked);
  assert.equal(boxd.exec().status, 423);
  // The daemon dies in the middle. The person's page and the agent's call find their way back.
  await daemon.stop('SIGKILL');
  const again = await startAgain(box, daemon, server);
  assert.deepEqual([(await control(again)).locked, (await again.json('GET', '/v1/status')).takeover.state], [true, 'away']);
  assert.equal(await actAsAgent(again), 423, 'the lock survives');
  assert.equal((await again.request('GET', '/v1/shot')).status, 423, 'and the privacy');
  await person.connect();
  await waitFor('connected again', async () => (await again.json('GET', '/v1/status')).takeover.state === 'connected');
  // Opening again meanwhile is the same takeover.
  const reopened = (await boxd.ask('POST', '/v1/takeovers', { note: 'Type the code from the SMS' })).json();
  assert.equal(reopened.resumed, true);
  assert.equal((await person.call('hand_back', { outcome: 'done', message: 'typed it' })).status, 200);
  assert.equal((await agent).message, 'typed it');
  await waitFor('boxd to know of the end', () => !boxd.isLocked);
  assert.equal(boxd.exec().status, 200);
  // What came of it is known after one more restart.
  await again.stop();
  const third = await startAgain(box, daemon, server);
  assert.equal((await third.json('GET', `/v1/takeovers/${reopened.id}`)).message, 'typed it');
});

boxTest('a call that was cut off left the takeover open; waiting again gets the message', async (box) => {
  const { daemon } = await startBox(box);
  const { id, url } = await openTakeover(daemon);
  await assert.rejects(daemon.request('GET', `/v1/takeovers/${id}?wait_s=55`, { timeoutMs: 300 / patience }));
  assert.equal((await daemon.json('GET', '/v1/status')).takeover.state, 'open');
  const person = await Person.holding(box, url);
  const [one, two] = [daemon.json('GET', `/v1/takeovers/${id}?wait_s=55`), daemon.json('GET', `/v1/takeovers/${id}?wait_s=55`)];
  await sleep(50);
  await person.call('hand_back', { message: 'm' });
  assert.deepEqual([(await one).message, (await two).message], ['m', 'm']);
});

boxTest('an outcome that came while the caller was cut off is marked until it is told', async (box) => {
  const { daemon, server } = await startBox(box);
  const newest = async (on) => (await on.json('GET', '/v1/takeovers')).takeovers[0];
  const { id, url } = await openTakeover(daemon);
  await assert.rejects(daemon.request('GET', `/v1/takeovers/${id}?wait_s=55`, { timeoutMs: 300 / patience }));
  await (await Person.holding(box, url)).call('hand_back', { message: 'm' });
  const { id: last, state, unheard } = await newest(daemon);
  assert.deepEqual([last, state, unheard], [id, 'handed_back', true]);
  await daemon.stop();
  const again = await startAgain(box, daemon, server);
  assert.equal((await newest(again)).unheard, true, 'also after a restart');
  assert.equal((await again.json('GET', `/v1/takeovers/${id}`)).message, 'm');
  assert.equal((await newest(again)).unheard, false);
});

boxTest('the tool waits through a restart of the daemon', async (box) => {
  const { daemon, server } = await startBox(box);
  const waiting = box.tool(daemon, ['takeover', '--note', 'x']);
  const { takeover } = await waitFor('the takeover', async () => {
    const status = await daemon.json('GET', '/v1/status');
    return status.takeover && status;
  });
  await daemon.stop('SIGKILL');
  await sleep(300);
  const again = await startAgain(box, daemon, server);
  const { url, id } = await openTakeover(again, { note: 'x' });
  assert.equal(id, takeover.id);
  await (await Person.holding(box, url)).call('hand_back', { message: 'through it all' });
  assert.equal((await waiting).stdout.toString(), 'done: through it all\n');
});

boxTest('a restart keeps links, sessions and their clocks; what ran out meanwhile is dead', async (box) => {
  const { daemon, server } = await startBox(box);
  const long = await makeLink(daemon, 'view'), short = await makeLink(daemon, 'control', 3);
  const session = await openSession(long), brief = await Person.at(box, short);
  await brief.take();
  await daemon.stop();
  await sleep(3100);
  const again = await startAgain(box, daemon, server);
  await openSession(long);
  assert.equal((await session.call('ticket')).status, 200);
  await assert.rejects(openSession(short), /401/);
  assert.equal((await brief.call('ticket')).status, 401);
  assert.equal((await control(again)).locked, false, 'its lease is over with it');
  // A file that is no use is laid aside, and the box comes up.
  await again.stop();
  fs.writeFileSync(box.file('state0/takeover.json'), '{"format":1,"clock":{"now_us":');
  const third = await startAgain(box, daemon, server);
  assert.match(third.log(), /cannot be understood/);
  await assert.rejects(openSession(long), /401/);
  assert(fs.existsSync(box.file('state0/takeover.json.bad')));
});

boxTest('T15: frozen past its time, a link is dead at the thaw; what was sent meanwhile does nothing', async (box) => {
  const { daemon, env, server } = await startBox(box);
  const terminal = await startTerminal(box, daemon);
  const { url, id } = await openTakeover(daemon, { timeout_s: 4 });
  const other = await makeLink(daemon, 'view', 4);
  const person = await Person.holding(box, url);
  person.screen.key(0xffe1, true);
  await waitFor('Shift to be down', async () => (await heldDown(box, env)).length === 1);
  process.kill(daemon.pid, 'SIGSTOP');
  process.kill(server.pid, 'SIGSTOP');
  person.screen.tap(0x58); // lies in the socket while all is frozen
  person.socket.tell({ t: 'extend' });
  await sleep(4500);
  process.kill(server.pid, 'SIGCONT');
  process.kill(daemon.pid, 'SIGCONT');
  assert.equal(await person.socket.closed, 4401);
  assert.equal((await daemon.json('GET', `/v1/takeovers/${id}`)).state, 'expired');
  await assert.rejects(openSession(url), /401/);
  await assert.rejects(openSession(other), /401/);
  await sleep(200);
  assert.equal(terminal.read(), '');
  assert.deepEqual(await heldDown(box, env), []);
  assert.equal(await actAsAgent(daemon), 200);
});

boxTest('L12: frozen with a person on it: the daemon is back at once, the person is away or goes on', async (box) => {
  const { daemon, server } = await startBox(box);
  const { url } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  process.kill(daemon.pid, 'SIGSTOP');
  process.kill(server.pid, 'SIGSTOP');
  await sleep(4000);
  process.kill(server.pid, 'SIGCONT');
  process.kill(daemon.pid, 'SIGCONT');
  const start = performance.now();
  const { takeover } = await daemon.json('GET', '/v1/status');
  assert(performance.now() - start < 1000 * patience);
  assert.match(takeover.state, /^(connected|away)$/);
  assert.equal((await control(daemon)).locked, true);
  if (person.socket.isClosed) await person.connect();
  assert.equal((await person.call('hand_back', { message: 'thawed' })).status, 200);
});

boxTest('L12: frozen amid viewers, motion and a recording: all go on, and the film leaves the time out', async (box) => {
  const { daemon, server, env } = await startBox(box, { width: 640, height: 400 });
  await box.startPainter(env, 'animation', 0, 0, 640, 300, 30);
  const { url } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  assert.equal((await person.call('watchers', { allow: true })).status, 200);
  const watchers = [];
  for (let i = 0; i < 4; i++) watchers.push(await (await Person.at(box, (await person.call('share')).json.url)).connect());
  for (const { screen } of [person, ...watchers]) screen.follow();
  const start = performance.now();
  const { id } = await startRecording(daemon, { path: box.file('thawed.mp4') });
  await sleep(1000);
  process.kill(daemon.pid, 'SIGSTOP');
  process.kill(server.pid, 'SIGSTOP');
  await sleep(6000);
  process.kill(server.pid, 'SIGCONT');
  process.kill(daemon.pid, 'SIGCONT');
  // A freeze this short breaks no line: everybody is there, nobody was kicked, the lock stood.
  const status = await daemon.json('GET', '/v1/status');
  assert.deepEqual([status.viewers.length, status.takeover.state, status.control.locked], [5, 'connected', true]);
  assert.equal(await actAsAgent(daemon), 423);
  // What the screen shows now reaches each of them; the strip below the motion is still.
  await box.paint(env, 'window', 0, 320, 640, 80, '00ff00');
  for (const { screen, socket } of [person, ...watchers]) {
    await waitFor('the picture after the thaw', () => String(screen.at(320, 360)) === '0,255,0', 20000);
    assert(!socket.isClosed);
  }
  person.screen.tap(0xffe1);
  assert.equal((await person.call('hand_back', { message: 'thawed' })).status, 200);
  await box.paint(env, 'window', 0, 320, 640, 80, '0000ff');
  await sleep(1000);
  await stopRecording(daemon, id);
  const lasted = (performance.now() - start) / 1000;
  const video = await assertGood(box, box.file('thawed.mp4'));
  assert(video.duration < lasted - 5 && video.duration > 1, `${video.duration} s of ${lasted}, of which 6 were frozen`);
  assert(video.packets.length > 20, 'the motion after the hand back is in it');
});

/** A daemon whose wall clock (and nothing else) can be stepped by writing to a file. */
async function startSteppable(box) {
  const file = box.file('step');
  fs.writeFileSync(file, '+0');
  const library = ['/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1', '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1']
    .find((path) => fs.existsSync(path));
  assert(library, 'libfaketime is installed (tests/packages.txt)');
  const started = await startBox(box, { env: { LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' } });
  return { ...started, step: (seconds) => fs.writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}`) };
}

boxTest('T15: the wall clock stepped an hour either way neither kills nor lengthens; a thaw\'s jump counts', async (box) => {
  const { daemon, step } = await startSteppable(box);
  const { url, id } = await openTakeover(daemon, { timeout_s: 600 });
  const brief = await makeLink(daemon, 'view', 4);
  const start = performance.now();
  step(-3600);
  await openSession(url);
  step(3600);
  await openSession(url);
  await openSession(brief);
  step(-3600);
  await sleep(4100 - (performance.now() - start));
  await assert.rejects(openSession(brief), /401/, 'the hour back did not lengthen it');
  await openSession(url);
  const { expires_in_s: left } = (await openSession(url)).state;
  assert(left > 500 && left <= 600, `${left} s are left`);
  // A machine that was frozen from outside finds its clock set on by what it missed.
  step(-3600 + 900);
  await assert.rejects(openSession(url), /401/);
  assert.equal((await daemon.json('GET', `/v1/takeovers/${id}`)).state, 'expired');
}, { skip: isSanitized });

boxTest('the warnings of five minutes and of one come, the longer time brings them again, then it ends', async (box) => {
  const { daemon, step } = await startSteppable(box);
  const { url, id } = await openTakeover(daemon, { timeout_s: 303 });
  const person = await Person.holding(box, url);
  const opened = (await person.call('ticket')).status;
  assert.equal(opened, 200);
  // Time that a frozen machine missed: the clock is set on (to be seen at the next look, a ping's time away).
  let missed = 0;
  const miss = async (seconds) => {
    missed += seconds;
    step(missed);
    await daemon.json('GET', '/v1/status');
  };
  const warned = async (left) => {
    const { left_s, extensions_left, expires_at } = await person.told('countdown', undefined, 20000);
    assert.equal(left_s, left);
    assert(typeof extensions_left === 'number' && !Number.isNaN(Date.parse(expires_at)));
    return extensions_left;
  };
  assert.equal(await warned(300), 3);
  assert.equal(person.socket.texts.some(({ t }) => t === 'countdown'), false, 'once');
  await miss(245);
  assert.equal(await warned(60), 3);
  assert.equal((await person.call('extend')).json.extensions_left, 2);
  await miss(400);
  assert.equal(await warned(300), 2);
  await miss(240);
  assert.equal(await warned(60), 2);
  await miss(100);
  assert.equal((await person.told('ended', undefined, 20000)).state, 'expired');
  assert.equal(await person.socket.closed, 4401);
  assert.equal((await daemon.json('GET', `/v1/takeovers/${id}`)).state, 'expired');
  assert.equal(await actAsAgent(daemon), 200);
}, { skip: isSanitized });

// Telling others

/** A receiver of posts that answers what `answer(n)` says. */
async function startReceiver(box, { answer = () => 200, where, tls } = {}) {
  const posts = [];
  const handler = (request, reply) => {
    let body = '';
    request.on('data', (data) => { body += data; });
    request.on('end', () => {
      const status = answer(posts.length);
      posts.push({ status, headers: request.headers, url: request.url, body, json: JSON.parse(body), at: performance.now() });
      if (status === 0) request.socket.destroy();
      else { reply.statusCode = status; reply.end(); }
    });
  };
  const server = tls ? https.createServer(tls, handler) : http.createServer(handler);
  await new Promise((resolve) => { server.listen(where ?? 0, resolve); });
  box.onClose(() => { server.closeAllConnections(); server.close(); });
  const next = (type, deadlineMs = 8000) => waitFor(`a post of ${type}`, () => {
    const index = posts.findIndex(({ json, status, isTaken }) => json.type === type && status === 200 && !isTaken);
    return index >= 0 && Object.assign(posts[index], { isTaken: true });
  }, deadlineMs);
  return { posts, next, server };
}

function assertSigned({ headers, body }, key) {
  const [, seconds, mac] = headers['x-boxscreen-signature'].match(/^t=(\d+),v1=([0-9a-f]{64})$/);
  assert(Math.abs(seconds * 1000 - Date.now()) < 60000);
  assert.equal(mac, crypto.createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex'));
}

boxTest('--notify: every event is posted in order, signed, and tried again until it is accepted', async (box) => {
  const path = box.file('hook.sock');
  fs.writeFileSync(box.file('secret'), 'shared with the receiver\n');
  const receiver = await startReceiver(box, { where: path, answer: (n) => [500, 0, 200, 503][n] ?? 200 });
  const silent = box.file('nobody.sock');
  const { daemon } = await startBox(box, { args: ['--notify', `unix:${path}:/hooks/box?x=1`, '--notify', `unix:${silent}:/`,
    '--notify-secret-file', box.file('secret')] });
  const { id, url } = await openTakeover(daemon);
  const opened = await receiver.next('takeover.opened');
  assert.deepEqual([opened.url, opened.json.id, opened.json.push.url, opened.json.box_id !== ''], ['/hooks/box?x=1', id, url, true]);
  assertSigned(opened, 'shared with the receiver');
  assert.equal(receiver.posts.length, 3, 'an error and a cut line before');
  assert.equal(new Set(receiver.posts.map(({ headers }) => headers['x-boxscreen-delivery'])).size, 1);
  assert(receiver.posts[2].at - receiver.posts[1].at > (receiver.posts[1].at - receiver.posts[0].at) * 1.1, 'with growing pauses');
  const person = await Person.holding(box, url);
  await person.call('hand_back', { outcome: 'done', message: 'm' });
  const end = await receiver.next('takeover.handed_back');
  assert.deepEqual([end.json.outcome, end.json.message, end.headers['x-boxscreen-event']], ['done', 'm', 'takeover.handed_back']);
  assertSigned(end, 'shared with the receiver');
  // A target that nobody serves costs nothing, and one that comes up late is told of the end alone.
  const late = await startReceiver(box, { where: silent });
  const first = await late.next('takeover.handed_back', 20000);
  assert.equal(first.json.id, id);
  assert.deepEqual(late.posts.map(({ json }) => json.type), ['takeover.handed_back']);
});

boxTest('--notify https: with the certificates checked; a key of its own is kept', async (box) => {
  const [key, cert] = [box.file('tls.key'), box.file('tls.crt')];
  await box.ok('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', cert,
    '-days', '2', '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const receiver = await startReceiver(box, { tls: { key: fs.readFileSync(key), cert: fs.readFileSync(cert) } });
  const target = `https://user:hookpassword@127.0.0.1:${receiver.server.address().port}/secret-path`;
  const { daemon } = await startBox(box, { args: ['--notify', target, '--log-level', 'debug'], env: { SSL_CERT_FILE: cert } });
  await openTakeover(daemon);
  const posted = await receiver.next('takeover.opened');
  const own = fs.readFileSync(box.file('state0/notify.key'), 'utf8').trim();
  assert.equal(fs.statSync(box.file('state0/notify.key')).mode & 0o777, 0o600);
  assertSigned(posted, own);
  // Without the authority nothing is posted, and the log names the host but neither path nor password.
  const other = await startBox(box, { args: ['--notify', target] });
  await openTakeover(other.daemon);
  await waitFor('the refusal', () => /127\.0\.0\.1:\d+ did not take takeover\.opened/.test(other.daemon.log()));
  assert.equal(receiver.posts.length, 1);
  for (const word of ['hookpassword', 'secret-path', own]) assert(!(daemon.log() + other.daemon.log()).includes(word), word);
});

boxTest('a full disk: lock, hand back, cancelling and revoking outlive a restart all the same', async (box) => {
  const server = await box.startXvfb({ width: 320, height: 240 });
  const folder = box.file('small');
  fs.mkdirSync(folder);
  // A small disk of its own, in a namespace that outlives the daemon.
  const unshare = process.getuid() === 0 ? ['-m'] : ['-rm'];
  const holder = box.spawn('unshare', [...unshare, 'sh', '-c', 'mount -t tmpfs -o size=400k small "$0" && echo ready && exec sleep 600', folder]);
  await waitFor('the disk', () => holder.output().includes('ready'));
  const wrap = ['nsenter', '-t', `${holder.pid}`, '-m', ...(process.getuid() === 0 ? [] : ['-U', '--preserve-credentials'])];
  const seen = `/proc/${holder.pid}/root${folder}`;
  const start = (socket, listen) => box.startDaemon({ display: server.display, wrap, stateDir: `${folder}/state`, socket, args: listen ? ['--listen', listen] : [] });
  const fill = () => {
    try {
      for (let i = 0; ; i++) fs.writeFileSync(`${seen}/filler${i}`, Buffer.alloc(4096));
    } catch (error) {
      assert.equal(error.code, 'ENOSPC');
    }
  };
  const stateCheck = async (daemon) => (await daemon.json('GET', '/v1/doctor')).checks.find(({ name }) => name === 'state folder').state;
  let daemon = await start();
  const listen = new URL(daemon.url).host;
  const again = async (signal) => { await daemon.stop(signal); daemon = await start(daemon.socket, listen); };
  const link = (await daemon.request('POST', '/v1/links', { body: { role: 'control' } })).json();
  const { url } = await openTakeover(daemon);
  const person = await Person.at(box, url);
  fill();
  assert.equal((await daemon.request('DELETE', `/v1/links/${link.id}`)).status, 204);
  await person.take();
  await again('SIGKILL');
  assert.equal((await control(daemon)).locked, true, 'the lock is still on');
  assert.equal((await daemon.request('GET', '/v1/shot')).status, 423);
  await assert.rejects(openSession(link.url), /401/);
  assert.equal(await stateCheck(daemon), 'ok');
  const back = await Person.at(box, url);
  await back.take({ confirm: true });
  assert.equal((await back.call('hand_back', {})).status, 200);
  await again('SIGKILL');
  assert.equal((await control(daemon)).locked, false);
  await assert.rejects(openSession(url), /401/);
  const next = await openTakeover(daemon);
  assert.equal((await daemon.request('POST', `/v1/takeovers/${next.id}/cancel`)).status, 200);
  await again();
  await assert.rejects(openSession(next.url), /401/);
  // What does not fit any more is told, and made good once there is room.
  for (let i = 0; i < 100 && await stateCheck(daemon) === 'ok'; i++) await makeLink(daemon, 'view');
  assert.equal(await stateCheck(daemon), 'fail');
  for (let i = 0; i < 30; i++) fs.rmSync(`${seen}/filler${i}`);
  await waitFor('all to be kept', async () => await stateCheck(daemon) === 'ok', 5000, 100);
}, { timeout: 60000 });

boxTest('a download link that was over once stays so, wherever the wall clock is put', async (box) => {
  const { daemon, step } = await startSteppable(box);
  const saved = (await daemon.request('POST', '/v1/shots', { body: { path: box.file('x.png') } })).json();
  assert.equal((await fetch(saved.url)).status, 200);
  step(3660);
  assert.equal((await fetch(saved.url)).status, 404);
  step(0);
  assert.equal((await fetch(saved.url)).status, 404);
}, { skip: isSanitized });
