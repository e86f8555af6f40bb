// SPDX-License-Identifier: GPL-2.0-or-later
//
// boxscreen run: exit status, signals, what is kept, many at once, and nothing left behind however it
// ends.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { boxTest, isAlive, patience, programs, root, waitFor } from './harness.mjs';
import { assertGood, decode } from './video.mjs';

/** boxscreen run as a child that can be signalled; its temporary folders go into the test's. */
function startRun(box, args, options = {}) {
  const folder = box.file(`tmp${Math.random().toString(36).slice(2)}`);
  fs.mkdirSync(folder);
  const child = box.spawn(programs.boxscreen, ['run', ...args], { env: { TMPDIR: folder, BOXSCREEN_SOCKET: undefined }, ...options });
  child.temporary = folder;
  return child;
}

const run = async (box, args, options) => {
  const child = startRun(box, args, options);
  const end = await child.exited;
  return { ...end, text: child.log(), stdout: child.output(), temporary: child.temporary };
};

/** Every process whose environment names the run's folder: what it started, at whatever depth. */
function processesOf(folder) {
  return fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((pid) => {
    try {
      return fs.readFileSync(`/proc/${pid}/environ`, 'latin1').includes(folder) && isAlive(Number(pid));
    } catch {
      return false;
    }
  }).map(Number);
}

async function assertClean(child) {
  await waitFor('everything of it to end', () => processesOf(child.temporary).length === 0, 15000);
  assert.deepEqual(fs.readdirSync(child.temporary), [], 'no temporary folder is left');
}

boxTest('run passes the exit status on, and says what went wrong before the command', async (box) => {
  const status = async (...args) => (await run(box, args)).code;
  assert.equal(await status('--', 'true'), 0);
  assert.equal(await status('--', 'sh', '-c', 'exit 37'), 37);
  assert.equal(await status('--', 'sh', '-c', 'kill -TERM $$'), 128 + 15);
  assert.equal(await status('--', 'sh', '-c', 'kill -KILL $$'), 128 + 9);
  assert.equal(await status('--', '/no/such/command'), 127);
  assert.equal(await status('--', '/etc/passwd'), 126);
  assert.equal(await status('--size', '9x9', '--', 'true'), 125);
  assert.equal(await status('--record', box.file('none/a.mp4'), '--', 'true'), 125);
  const nowhere = await box.run('sh', ['-c', `mkdir gone && cd gone && rmdir ../gone && exec "${programs.boxscreen}" run --record a.mp4 -- true`]);
  assert.deepEqual([nowhere.status, nowhere.stderr], [125, "boxscreen: path: must be an absolute path; leave it out for a place of the daemon's own\n"]);
  assert.equal(await status('--record', box.file('a.avi'), '--', 'true'), 2);
  assert.equal(await status('--keep', 'failure', '--', 'true'), 2);
  assert.equal(await status(), 2);
});

boxTest('the command has a screen of the wanted size, HEADED, its output as it is, and a link with --live', async (box) => {
  const result = await run(box, ['--size', '800x600', '--live', '--window-manager', '--', 'sh', '-c',
    'echo "headed $HEADED"; xdpyinfo | grep dimensions; "$0" status --json; sleep 0.5; xprop -root _NET_SUPPORTING_WM_CHECK', programs.boxscreen]);
  assert.equal(result.code, 0, result.text);
  assert.match(result.stdout, /^headed 1$/m);
  assert.match(result.stdout, /dimensions: +800x600/);
  assert.match(result.stdout, /"state":"ready"/, 'BOXSCREEN_SOCKET is that of its own daemon');
  assert.match(result.stdout, /window id/, 'a window manager runs');
  assert.match(result.text, /^boxscreen: watch it at http:\/\/127\.0\.0\.1:\d+\/box\/.*[?#]t=/m);
});

boxTest('--record leaves a video; with --keep failure only when the command failed, and a last picture', async (box) => {
  const file = box.file('kept.mp4');
  const args = (...more) => ['--record', file, ...more, '--', 'sh', '-c'];
  assert.equal((await run(box, [...args(), 'xsetroot -solid red; sleep 1'])).code, 0);
  const video = await assertGood(box, file);
  assert(video.duration > 0.9 && video.duration < 2 + patience, `${video.duration} s`);
  assert.equal((await run(box, [...args('--keep', 'failure'), 'sleep 0.3; exit 0'])).code, 0);
  assert.deepEqual(fs.readdirSync(box.folder).filter((name) => name.startsWith('kept')), []);
  assert.equal((await run(box, [...args('--keep', 'failure'), 'xsetroot -solid "#00ff00"; sleep 0.3; exit 5'])).code, 5);
  await assertGood(box, file);
  const { readPng } = await import('./png.mjs');
  assert.deepEqual(readPng(fs.readFileSync(box.file('kept.png'))).pixel(10, 10), [0, 255, 0]);
});

boxTest('signals reach the command; SIGINT, SIGTERM and SIGKILL of run leave nothing behind', async (box) => {
  const command = ['sh', '-c', 'trap "echo got INT; exit 3" INT; trap "echo got TERM; exit 4" TERM; trap "echo got USR1" USR1; ' +
    'xterm -e "sleep 300" & (setsid sleep 300 &) ; echo started; while :; do sleep 0.1; done'];
  for (const [signal, status] of [['SIGINT', 3], ['SIGTERM', 4], ['SIGKILL', null]]) {
    const file = box.file(`${signal}.mp4`);
    const child = startRun(box, ['--record', file, '--', ...command]);
    await waitFor('the command', () => child.output().includes('started'), 15000);
    child.process.kill('SIGUSR1');
    await waitFor('the first signal', () => child.output().includes('got USR1'), 10000);
    assert(processesOf(child.temporary).length >= 4, 'daemon, server, command and what it started');
    child.process.kill(signal);
    const end = await child.exited;
    if (status !== null) {
      assert.equal(end.code, status);
      assert.match(child.output(), new RegExp(`got ${signal.slice(3)}`));
    } else {
      assert.equal(end.signal, 'SIGKILL');
    }
    await assertClean(child);
    await assertGood(box, file);
  }
});

boxTest('a command that does not end when told is ended', async (box) => {
  const child = startRun(box, ['--', 'sh', '-c', 'trap "" TERM INT; echo started; while :; do sleep 0.2; done']);
  await waitFor('the command', () => child.output().includes('started'), 15000);
  child.process.kill('SIGTERM');
  assert.equal((await child.exited).code, 128 + 9);
  await assertClean(child);
}, { timeout: 120000 });

boxTest('eight at once on one machine, each with its own screen', async (box) => {
  const children = [];
  for (let i = 0; i < 8; i++)
    children.push(startRun(box, ['--record', box.file(`${i}.mp4`), '--size', '640x480', '--', 'sh', '-c',
      `xsetroot -solid "#0000${(32 * i + 16).toString(16)}"; echo $DISPLAY; sleep 1; exit ${i}`]));
  const ends = await Promise.all(children.map((child) => child.exited));
  assert.deepEqual(ends.map((end) => end.code), [0, 1, 2, 3, 4, 5, 6, 7], children.map((child) => child.log()).join('\n'));
  assert.equal(new Set(children.map((child) => child.output().trim())).size, 8, 'eight displays');
  for (let i = 0; i < 8; i++) {
    await decode(box, box.file(`${i}.mp4`));
    await assertClean(children[i]);
  }
}, { timeout: 180000 * patience });

boxTest('the sample for Playwright runs headed on its own screen, and is recorded', async (box) => {
  const file = box.file('playwright.mp4');
  const result = await run(box, ['--record', file, '--', 'node', path.join(root, 'docs/samples/playwright.mjs')]);
  assert.equal(result.code, 0, result.text);
  assert.match(result.stdout, /headed/);
  await assertGood(box, file);
}, { timeout: 180000 * patience });
