// SPDX-License-Identifier: GPL-2.0-or-later
//
// ./start: brings a program up on a screen, and leaves nothing behind.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { boxTest, build, isAlive, isSanitized, programs, root, waitFor } from './harness.mjs';
import { assertPixel, readPng } from './png.mjs';

const start = path.join(root, 'start');

function spawnStart(box, args, env = {}) {
  const child = box.spawn(start, args, {
    env: { BOXSCREEN_BUILD: build, BOXSCREEN_LISTEN: '127.0.0.1:0', XDG_RUNTIME_DIR: box.folder, ...env },
    name: 'start',
  });
  child.socket = () => child.output().match(/BOXSCREEN_SOCKET=(\S+)/)?.[1];
  child.up = () => waitFor('start to be up', () => {
    assert(!child.end, `start ended: ${child.log()}`);
    return child.socket() && /Ctrl\+C/.test(child.log());
  }, 60000);
  return child;
}

/** All processes that descend from `pid`, with their command lines. */
function descendants(pid) {
  const parents = new Map();
  for (const entry of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = fs.readFileSync(`/proc/${entry}/stat`, 'utf8');
      parents.set(Number(entry), Number(stat.split(') ')[1].split(' ')[1]));
    } catch { /* it has just ended */ }
  }
  const found = [];
  const visit = (parent) => {
    for (const [child, its] of parents) {
      if (its !== parent) continue;
      found.push(child);
      visit(child);
    }
  };
  visit(pid);
  return found;
}

async function assertNothingLeft(box, pids, { isKilled = false } = {}) {
  await waitFor('the end of all processes', () => pids.every((pid) => !isAlive(pid)), 15000);
  // SIGKILL leaves start no chance to remove its folder.
  if (!isKilled) assert.deepEqual(fs.readdirSync(box.folder).filter((name) => name.startsWith('boxscreen.')), []);
}

const shot = async (box, child, ...args) => {
  const result = await box.run(programs.boxscreen, ['--socket', child.socket(), 'shot', ...args]);
  assert.equal(result.status, 0, result.stderr);
  return readPng(result.stdout);
};

boxTest('start COMMAND shows the program; Ctrl+C leaves nothing', async (box) => {
  const child = spawnStart(box, ['xterm', '-bg', '#123456', '-geometry', '200x80+0+0', '+sb', '-e', 'sleep', '1000']);
  await child.up();
  assertPixel(await shot(box, child, '--wait', 'stable'), 640, 400, [0x12, 0x34, 0x56]);
  const pids = descendants(child.pid);
  assert(pids.length >= 4, 'daemon, Xvfb, xterm, sleep');
  assert.match(child.output(), /http:\/\/127\.0\.0\.1:\d+/);
  const end = await child.stop('SIGINT');
  assert.equal(end.code, 130);
  await assertNothingLeft(box, pids);
});

boxTest('start without a command shows a greeting in a terminal', async (box) => {
  const child = spawnStart(box, []);
  await child.up();
  const picture = await waitFor('the greeting', async () => {
    const seen = await shot(box, child, '--wait', 'stable');
    const colours = new Set();
    for (let y = 0; y < seen.height; y += 3) for (let x = 0; x < seen.width; x += 3) colours.add(seen.pixel(x, y).join());
    return colours.size > 3 && seen;
  }, 15000);
  assert.deepEqual([picture.width, picture.height], [1280, 800]);
  const pids = descendants(child.pid);
  assert.equal((await child.stop('SIGTERM')).code, 143);
  await assertNothingLeft(box, pids);
});

boxTest('a second start beside the first; a size of its own', async (box) => {
  const one = spawnStart(box, ['xterm']);
  const two = spawnStart(box, ['xterm'], { BOXSCREEN_SIZE: '640x480x16' });
  await Promise.all([one.up(), two.up()]);
  assert.notEqual(one.socket(), two.socket());
  assert.equal((await shot(box, one)).width, 1280);
  assert.equal((await shot(box, two)).width, 640);
  const pids = [...descendants(one.pid), ...descendants(two.pid)];
  await one.stop('SIGINT');
  assert.equal((await shot(box, two)).width, 640, 'the end of one does not touch the other');
  await two.stop('SIGHUP');
  await assertNothingLeft(box, pids);
});

boxTest('start that is killed at any moment leaves no process', async (box) => {
  for (const [delay, signal] of [[20, 'SIGINT'], [150, 'SIGTERM'], [300, 'SIGINT'], [450, 'SIGTERM'], [600, 'SIGKILL'], [1500, 'SIGKILL']]) {
    const child = spawnStart(box, ['xterm']);
    await new Promise((resolve) => setTimeout(resolve, delay));
    const pids = descendants(child.pid);
    await child.stop(signal);
    await assertNothingLeft(box, pids, { isKilled: signal === 'SIGKILL' });
    for (const name of fs.readdirSync(box.folder).filter((n) => n.startsWith('boxscreen.'))) {
      fs.rmSync(box.file(name), { recursive: true });
    }
  }
}, { skip: isSanitized });

boxTest('a program that ends leaves the screen up; one that is not there is told', async (box) => {
  const child = spawnStart(box, ['sh', '-c', 'xsetroot -solid "#336699"; exit 3']);
  await child.up();
  await waitFor('a word about its end', () => /ended with status 3/.test(child.log()));
  assertPixel(await shot(box, child), 5, 5, [0x33, 0x66, 0x99]);
  await child.stop('SIGINT');
  const none = spawnStart(box, ['/nonexistent/program']);
  await waitFor('a word about it', () => /nonexistent/.test(none.log()));
  await none.stop('SIGINT');
});

boxTest('a daemon that dies ends start with its log', async (box) => {
  const child = spawnStart(box, ['xterm']);
  await child.up();
  const daemon = descendants(child.pid).find((pid) => fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'boxscreend');
  const pids = descendants(child.pid);
  process.kill(daemon, 'SIGTERM');
  const end = await child.exited;
  assert.equal(end.code, 1);
  assert.match(child.log(), /boxscreend ended/);
  await assertNothingLeft(box, pids);
});

boxTest('start without its packages, and without root, says what to run', async (box) => {
  const list = box.file('list.txt');
  fs.writeFileSync(list, '# a comment\n\nno-such-package-here no-such-command-here\n');
  const id = fs.mkdtempSync(box.file('bin.'));
  fs.writeFileSync(path.join(id, 'id'), '#!/bin/sh\necho 1000\n', { mode: 0o755 });
  fs.writeFileSync(path.join(id, 'sudo'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const result = await box.run(path.join(root, 'install-packages'), [list], { env: { PATH: `${id}:/usr/bin:/bin` } });
  assert.equal(result.status, 1);
  assert.match(result.stderr, /apt-get update && apt-get install .*no-such-package-here/);
  fs.writeFileSync(list, 'no-such-package-here sh\nbash\n');
  assert.equal((await box.run(path.join(root, 'install-packages'), [list])).status, 0);
});
