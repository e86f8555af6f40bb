// SPDX-License-Identifier: GPL-2.0-or-later
//
// The daemon's life: the L cases of the collected public reports.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { boxTest, followEvents, isAlive, isSanitized, patience, programs, waitFor } from './harness.mjs';
import { assertPixel } from './png.mjs';

const lockOf = (display) => `/tmp/.X${display.slice(1)}-lock`;
const socketOf = (display) => `/tmp/.X11-unix/X${display.slice(1)}`;

/** A display number that nobody else in the suite will take (-displayfd takes the lowest free). */
let nextNumber = 3000 + (process.pid % 5000) * 10;
function ownDisplay(box) {
  for (;;) {
    const display = `:${nextNumber++}`;
    if (fs.existsSync(lockOf(display)) || fs.existsSync(socketOf(display))) continue;
    box.displays = [...(box.displays || []), display];
    return display;
  }
}

const childrenOf = (pid) => fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  .filter(Boolean).map(Number);

async function xvfbOf(daemon) {
  return waitFor('the Xvfb of the daemon', () => childrenOf(daemon.pid).find((pid) => {
    try { return fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'Xvfb'; } catch { return false; }
  }));
}

const assertNoZombies = async (box, daemon) => {
  const { stdout } = await box.run('ps', ['--ppid', String(daemon.pid), '-o', 'stat=']);
  assert.doesNotMatch(stdout.toString(), /Z/);
};

boxTest('L01: the X server ends and comes back; the daemon stays and attaches again', async (box) => {
  const display = ownDisplay(box);
  let server = await box.startXvfb({ display });
  const daemon = await box.startDaemon({ display });
  const events = followEvents(daemon.socket);
  await events.connected;
  let isBusy = true;
  const codes = new Set();
  const caller = (async () => {
    while (isBusy) codes.add((await daemon.request('GET', '/v1/shot')).status);
  })();
  for (let round = 0; round < 3; round++) {
    await daemon.shot();
    await server.stop('SIGKILL');
    await waitFor('503', async () => (await daemon.request('GET', '/v1/shot')).status === 503, 2000);
    const reply = await daemon.request('GET', '/v1/shot');
    assert.equal(reply.json().error, 'screen_unavailable');
    assert.equal((await daemon.json('GET', '/v1/status')).screen.state, 'waiting');
    assert.equal((await daemon.request('GET', '/healthz')).status, 503);
    server = await box.startXvfb({ display });
    await daemon.waitReady(2000);
    await box.ok('xsetroot', ['-solid', '#123456'], { env: { DISPLAY: display } });
    assertPixel(await daemon.shot(), 9, 9, [0x12, 0x34, 0x56]);
    assert.equal((await daemon.request('GET', '/healthz')).status, 200);
  }
  isBusy = false;
  await caller;
  assert.deepEqual([...codes].sort(), [200, 503]);
  assert(!daemon.end);
  assert(events.events.some((e) => /^screen\./.test(e.type)), 'events tell of it');
  await assertNoZombies(box, daemon);
  events.close();
});

boxTest('L01: a watched Xvfb that dies is started again', async (box) => {
  const daemon = await box.startDaemon({ xvfb: 'auto,640x480' });
  for (let round = 0; round < 3; round++) {
    const pid = await xvfbOf(daemon);
    process.kill(pid, 'SIGKILL');
    await waitFor('the old server to be gone', () => !isAlive(pid));
    await waitFor('another server', async () => (await xvfbOf(daemon)) !== pid, 5000);
    await daemon.waitReady(5000);
    assert.equal((await daemon.shot()).width, 640);
  }
  await assertNoZombies(box, daemon);
});

boxTest('L03: a daemon that is there before its X server', async (box) => {
  const display = ownDisplay(box);
  const daemon = await box.startDaemon({ display, waits: false });
  await waitFor('an answer', async () => (await daemon.request('GET', '/v1/status').catch(() => null))?.status === 200);
  const status = await daemon.json('GET', '/v1/status');
  assert.deepEqual([status.screen.state, status.display], ['waiting', display]);
  const shot = await daemon.request('GET', '/v1/shot');
  assert.deepEqual([shot.status, shot.json().error], [503, 'screen_unavailable']);
  for (const target of ['/v1/windows', '/v1/clipboard']) {
    assert.equal((await daemon.request('GET', target)).status, 503, target);
  }
  assert.equal((await daemon.request('GET', '/healthz')).status, 503);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  await box.startXvfb({ display });
  await daemon.waitReady(2000);
  assert.equal((await daemon.shot()).width, 1280);
});

boxTest('ready soon after the X server accepts connections', async (box, t) => {
  const times = [];
  for (let round = 0; round < 5; round++) {
    const server = await box.startXvfb();
    const start = performance.now();
    const daemon = await box.startDaemon({ display: server.display });
    times.push(Math.round(performance.now() - start));
    if (times.at(-1) > 300) console.log(daemon.log());
    await daemon.stop();
    await server.stop();
  }
  t.diagnostic(`process start to ready line: ${times} ms`);
  assert(Math.min(...times) < 300 * patience, `${times}`);
});

boxTest('L05: lock and socket of a dead server are cleared away', async (box) => {
  const display = ownDisplay(box);
  const server = await box.startXvfb({ display });
  await server.stop('SIGKILL');
  assert(fs.existsSync(lockOf(display)) && fs.existsSync(socketOf(display)));
  // Also when the lock's pid has meanwhile become that of a live process which is no X server.
  for (const pid of [server.pid, 1, process.pid]) {
    fs.writeFileSync(lockOf(display), `${String(pid).padStart(10)}\n`);
    const daemon = await box.startDaemon({ display, xvfb: '640x480' });
    assert.deepEqual([daemon.display, (await daemon.shot()).width], [display, 640]);
    process.kill(await xvfbOf(daemon), 'SIGKILL');
    await daemon.stop('SIGKILL');
  }
  fs.rmSync(lockOf(display), { force: true });
  fs.rmSync(socketOf(display), { force: true });
});

boxTest('L06: a live server is never touched', async (box) => {
  const display = ownDisplay(box);
  const server = await box.startXvfb({ display });
  const facts = () => [lockOf(display), socketOf(display)].map((path) => fs.statSync(path).ino);
  const before = facts();
  const daemon = await box.startDaemon({ display, xvfb: '640x480', waits: false }).catch((error) => ({ error }));
  if (!daemon.error) {
    await waitFor('attached, or ended', async () => daemon.end ||
      (await daemon.request('GET', '/v1/status').catch(() => null))?.json().screen.state === 'ready');
    if (!daemon.end) assert.equal((await daemon.shot()).width, 1280, 'the picture is of the live server');
    else assert.match(daemon.log(), new RegExp(display));
    await daemon.stop();
  }
  assert.deepEqual(facts(), before);
  assert(isAlive(server.pid));
});

boxTest('L10: a socket left by a crash is replaced, a live one is not touched', async (box) => {
  const server = await box.startXvfb({ width: 320, height: 240 });
  const { display } = server;
  const first = await box.startDaemon({ display });
  assert.equal(fs.statSync(first.socket).mode & 0o777, 0o660);
  const { ino } = fs.statSync(first.socket);
  const second = await box.startDaemon({ display, socket: first.socket }).catch((error) => error);
  assert(second instanceof Error, 'a second daemon refuses');
  assert.match(second.message, /socket|use/i);
  assert.doesNotMatch(second.message, /"code":0/);
  assert.equal(fs.statSync(first.socket).ino, ino);
  await first.shot();
  await first.stop('SIGKILL');
  assert(fs.existsSync(first.socket));
  const third = await box.startDaemon({ display, socket: first.socket });
  await third.shot();
  assert.equal(fs.statSync(third.socket).mode & 0o777, 0o660);
  await third.stop();
  assert(!fs.existsSync(first.socket), 'a clean end takes the socket away');
  fs.writeFileSync(first.socket, 'precious');
  const fourth = await box.startDaemon({ display, socket: first.socket }).catch((error) => error);
  assert(fourth instanceof Error, 'a file that is no socket is refused');
  assert.equal(fs.readFileSync(first.socket, 'utf8'), 'precious');
});

boxTest('L12: long frozen, then thawed', async (box) => {
  const { daemon } = await box.startScreen();
  const events = followEvents(daemon.socket);
  await events.connected;
  await daemon.shot();
  process.kill(daemon.pid, 'SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 15000));
  process.kill(daemon.pid, 'SIGCONT');
  const start = performance.now();
  await daemon.shot();
  assert(performance.now() - start < 1000 * patience);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const before = daemon.cpuMs();
  await new Promise((resolve) => setTimeout(resolve, 2000));
  assert(daemon.cpuMs() - before <= 20 * patience, `${daemon.cpuMs() - before} ms of processor time in 2 s`);
  assert(!events.isClosed || (await daemon.json('GET', '/v1/status')).version);
  events.close();
});

boxTest('a frozen X server: calls time out one by one, the daemon goes on', async (box) => {
  const { server, daemon } = await box.startScreen();
  await daemon.shot();
  process.kill(server.pid, 'SIGSTOP');
  try {
    const [shot, status] = await Promise.all([
      daemon.request('GET', '/v1/shot', { timeoutMs: 40000 }), daemon.request('GET', '/v1/status')]);
    assert.equal(status.status, 200);
    assert([200, 503, 504].includes(shot.status), `${shot.status}`);
  } finally {
    process.kill(server.pid, 'SIGCONT');
  }
  await waitFor('shots again', async () => (await daemon.request('GET', '/v1/shot')).status === 200, 5000);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  boxTest(`${signal} ends the daemon and its Xvfb, also while calls wait`, async (box) => {
    const daemon = await box.startDaemon({ xvfb: 'auto' });
    const pid = await xvfbOf(daemon);
    const events = followEvents(daemon.socket);
    await events.connected;
    const waiting = daemon.request('GET', '/v1/shot?wait=change&timeout_ms=60000').catch(() => 'closed');
    await new Promise((resolve) => setTimeout(resolve, 100));
    const end = await daemon.stop(signal);
    assert.deepEqual([end.code, daemon.wasStuck], [0, undefined]);
    await waitFor('the end of Xvfb', () => !isAlive(pid), 3000);
    assert(!fs.existsSync(daemon.socket));
    await waiting;
  });
}

boxTest('two daemons with an Xvfb each, side by side', async (box) => {
  const [one, two] = await Promise.all([box.startDaemon({ xvfb: 'auto,640x480' }), box.startDaemon({ xvfb: 'auto,800x600' })]);
  assert.notEqual(one.display, two.display);
  assert.deepEqual([(await one.shot()).width, (await two.shot()).width], [640, 800]);
});

boxTest('wrong options end with 2 and say which', async (box) => {
  const wrong = [['--nosuch'], ['--xvfb', 'auto,0x0'], ['--xvfb=banana'], ['--display'], ['--listen', 'nonsense'],
    ['--ready-fd', 'x'], ['--log-level', 'loud'], ['extra']];
  for (const args of wrong) {
    const result = await box.run(programs.boxscreend, args);
    assert.equal(result.status, 2, args.join(' '));
    assert(result.stderr.includes(args[0].split('=')[0]), result.stderr);
  }
  const help = await box.run(programs.boxscreend, ['--help']);
  assert.deepEqual([help.status, help.stderr], [0, '']);
});

boxTest('idle: next to no processor time, and little memory', async (box, t) => {
  const { daemon, env } = await box.startScreen();
  await box.paint(env, 'pattern');
  for (let i = 0; i < 20; i++) await daemon.shot(`?region=${i},0,600,600`);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const before = daemon.cpuMs();
  await new Promise((resolve) => setTimeout(resolve, 10000));
  const used = daemon.cpuMs() - before, { rssKb } = daemon.usage();
  t.diagnostic(`idle: ${used} ms of processor time in 10 s, ${Math.round(rssKb / 1024)} MB`);
  assert(used <= 20 * patience, `${used} ms`);
  if (!isSanitized) assert(rssKb < 60 * 1024, `${rssKb} KB`);
});
