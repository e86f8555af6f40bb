// SPDX-License-Identifier: GPL-2.0-or-later
//
// Recordings when things go wrong: kills, copies in the middle of a write, full and read-only disks,
// odd names, limits.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { boxTest, isSanitized, waitFor } from './harness.mjs';
import { assertGood, decode, probe, seconds, startColours, startRecording, stopRecording, waitEnd } from './video.mjs';

/** Records, kills the daemon, looks at what is left, and starts the next one on the same state. */
async function killAgain(box, lane, kills, isBusy) {
  const server = await box.startXvfb({ width: 640, height: 480 });
  if (isBusy) await box.startPainter(server.env, 'animation', 0, 0, 640, 480, 20);
  const stateDir = box.file(`lane${lane}`);
  let left = [];
  for (let i = 0; i <= kills; i++) {
    const daemon = await box.startDaemon({ display: server.display, stateDir });
    for (const { id, file, atLeast } of left) {
      const recording = await waitEnd(daemon, id);
      assert.equal(recording.state, 'recovered', `${id} at the next start`);
      const video = await assertGood(box, file);
      assert(video.duration >= atLeast, `${file}: ${video.duration} s of at least ${atLeast}`);
    }
    left = [];
    if (i === kills) return daemon.stop();
    const file = box.file(`${lane}-${i}.mp4`);
    const start = performance.now();
    const { id } = await startRecording(daemon, { path: file, max_idle_ms: 0 });
    await seconds(0.3 + Math.random() * 3);
    const ran = (performance.now() - start) / 1000;
    await daemon.stop('SIGKILL');
    const atLeast = Math.max(0, ran - 2 - (isSanitized ? 2 : 0));
    if (fs.statSync(file).size > 2000 || ran > 2.5) { // a picture has been written
      await decode(box, file);
      const video = await probe(box, file);
      assert(video.duration >= atLeast, `${file} has ${video.duration} s of ${ran}`);
      left.push({ id, file, atLeast });
    }
  }
}

const lanes = [false, true, false, true, false];
const kills = isSanitized ? 2 : 10;
boxTest(`R03: ${lanes.length * kills} kills at random moments never cost more than two seconds, and all comes back`, async (box) => {
  await Promise.all(lanes.map((isBusy, lane) => killAgain(box, lane, kills, isBusy)));
}, { timeout: 600000 });

boxTest('a copy of the file at any moment decodes strictly, on busy and still screens', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 640, height: 480 });
  const painter = await box.startPainter(env, 'animation', 0, 0, 640, 480, 30);
  const file = box.file('copied.mp4');
  const { id } = await startRecording(daemon, { path: file });
  // Not the file's size: the first fragment may be there and not be seen yet.
  await waitFor('the first fragment', async () => (await daemon.json('GET', `/v1/recordings/${id}`)).bytes > 20000, 10000);
  const copies = [];
  for (let i = 0; i < 40; i++) {
    await seconds(Math.random() * 0.1);
    copies.push(box.file(`copy${i}.mp4`));
    fs.copyFileSync(file, copies.at(-1));
    if (i === 30) await painter.stop();
  }
  await stopRecording(daemon, id);
  let length = 0;
  for (const copy of copies) {
    await decode(box, copy);
    const { duration } = await probe(box, copy);
    assert(duration >= length - 0.01, `${copy} is shorter than one before`);
    length = duration;
  }
  await assertGood(box, file);
});

boxTest('a fragment that is only half on the disk is skipped by all', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 320, height: 240 });
  const paint = await startColours(box, env);
  const file = box.file('torn.mp4');
  const { id } = await startRecording(daemon, { path: file });
  for (let i = 0; i < 20; i++) {
    await paint(i * 12 << 8);
    await seconds(0.1);
  }
  const whole = fs.readFileSync(file);
  await stopRecording(daemon, id);
  // As it is while it is being written: a `free` box around the fragment, of which a part is there.
  const body = Buffer.alloc(30000, 7);
  for (const share of [0, 4, 8, 100, 20000, 29999]) {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(8 + body.length);
    head.write('free', 4, 'latin1');
    const torn = box.file(`torn${share}.mp4`);
    fs.writeFileSync(torn, Buffer.concat([whole, head, body]).subarray(0, whole.length + share));
    await decode(box, torn);
    assert((await probe(box, torn)).duration > 0.5);
  }
});

/** A daemon with a small disk of its own at /small, seen from here under its root in /proc. */
async function startOnSmallDisk(box, size, options = '') {
  const server = await box.startXvfb({ width: 640, height: 480 });
  const folder = box.file('small');
  fs.mkdirSync(folder);
  const unshare = process.getuid() === 0 ? ['unshare', '-m'] : ['unshare', '-rm'];
  const daemon = await box.startDaemon({ display: server.display,
    wrap: [...unshare, 'sh', '-c', `mount -t tmpfs -o size=${size} small "$0" && ${options || ':'} && exec "$@"`, folder] });
  return { server, daemon, folder, seen: `/proc/${daemon.pid}/root${folder}` };
}

boxTest('a disk that gets full ends the recording with no_space; the file plays, the daemon lives', async (box) => {
  const { server, daemon, folder, seen } = await startOnSmallDisk(box, '100m');
  const { id } = await startRecording(daemon, { path: `${folder}/full.mp4` });
  await seconds(1.2);
  fs.writeFileSync(`${seen}/filler`, Buffer.alloc(60 << 20));
  const recording = await waitEnd(daemon, id, 10000);
  assert.deepEqual([recording.state, recording.error], ['error', 'no_space']);
  await assertGood(box, `${seen}/full.mp4`);
  const refused = await daemon.request('POST', '/v1/recordings', { body: { path: `${folder}/more.mp4` } });
  assert.deepEqual([refused.status, refused.json().error], [507, 'no_space']);
  assert(!fs.existsSync(`${seen}/more.mp4`));
  fs.rmSync(`${seen}/filler`);
  // The same when it is full from one moment to the next, in the middle of what moves.
  await box.startPainter(server.env, 'animation', 0, 0, 640, 480, 30);
  const again = await startRecording(daemon, { path: `${folder}/again.mp4`, quality: 'sharp' });
  await waitFor('some pictures', () => fs.statSync(`${seen}/again.mp4`).size > 50000, 10000);
  try {
    fs.writeFileSync(`${seen}/filler`, Buffer.alloc(120 << 20));
  } catch (error) {
    assert.equal(error.code, 'ENOSPC');
  }
  const second = await waitEnd(daemon, again.id, 10000);
  assert.deepEqual([second.state, second.error], ['error', 'no_space']);
  await decode(box, `${seen}/again.mp4`);
  assert((await probe(box, `${seen}/again.mp4`)).duration > 0);
  await daemon.shot();
});

boxTest('folders that cannot be written, paths that are not allowed, and odd names', async (box) => {
  const { daemon, folder } = await startOnSmallDisk(box, '100m', 'mount -o remount,ro small "$0"');
  const refused = async (body, status, pattern) => {
    const reply = await daemon.request('POST', '/v1/recordings', { body });
    assert.equal(reply.status, status, `${JSON.stringify(body)}: ${reply.body}`);
    assert.match(reply.json().message, pattern);
  };
  await refused({ path: `${folder}/a.mp4` }, 400, /^path: cannot write .*Read-only file system/);
  await refused({ path: 'a.mp4' }, 400, /^path.*absolute/);
  await refused({ path: '/proc/a.mp4' }, 400, /\/proc/);
  await refused({ path: `${box.folder}/../a.mp4` }, 400, /"\.\."/);
  await refused({ path: `${box.folder}/a.avi` }, 400, /\.mp4/);
  await refused({ path: `${box.folder}/.mp4` }, 400, /file name/);
  await refused({ path: `${box.folder}/${'n'.repeat(240)}.mp4` }, 400, /230 bytes/);
  await refused({ path: `${box.folder}/none/a.mp4` }, 400, /does not exist/);
  await refused({ name: 'two\nlines' }, 400, /^name.*control/);
  await refused({ region: '600,400,100,100' }, 400, /^region.*outside/);
  await refused({ fps: 0 }, 400, /^fps/);
  await refused({ quality: 'best' }, 400, /^quality.*small, balanced, sharp or lossless/);
  await refused({ max_idle_ms: 5 }, 400, /^max_idle_ms/);
  await refused({ nmae: 'x' }, 400, /nmae/);
  for (const name of ['-rf', '..', 'a/b\\c', '😀 и "quotes"', "it's; rm -rf $HOME `x`", 'x'.repeat(200)]) {
    const { id, path: file } = await startRecording(daemon, { name });
    await seconds(0.2);
    const recording = await stopRecording(daemon, id);
    assert.equal(recording.name, name);
    assert.match(file, /^\/.*\/recordings\/[^/]+-r-[0-9a-f]+\.mp4$/);
    await assertGood(box, file);
    await daemon.request('DELETE', `/v1/recordings/${id}`);
  }
  const odd = box.file('- odd "name" %s $HOME ü.mp4');
  const { id } = await startRecording(daemon, { path: odd });
  await stopRecording(daemon, id);
  await assertGood(box, odd);
});

boxTest('two recordings to one path, or to a file that is there: the second is refused, nothing is lost', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 240 });
  fs.writeFileSync(box.file('precious.mp4'), 'precious');
  const there = await daemon.request('POST', '/v1/recordings', { body: { path: box.file('precious.mp4') } });
  assert.equal(there.status, 409);
  assert.match(there.json().message, /there is a file/);
  assert.equal(fs.readFileSync(box.file('precious.mp4'), 'utf8'), 'precious');
  const { id } = await startRecording(daemon, { path: box.file('one.mp4') });
  const second = await daemon.request('POST', '/v1/recordings', { body: { path: box.file('one.mp4') } });
  assert.equal(second.status, 409);
  assert.match(second.json().message, /another recording/);
  await seconds(0.5);
  await stopRecording(daemon, id);
  await assertGood(box, box.file('one.mp4'));
  const running = await startRecording(daemon, {});
  assert.equal((await daemon.request('DELETE', `/v1/recordings/${running.id}`)).status, 409, 'one that runs is not removed');
});

boxTest('the oldest finished recordings go when all together are too large', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 640, height: 480, daemon: { args: ['--recordings-max-bytes', '100K'] } });
  await box.paint(env, 'pattern', 3);
  const made = [];
  for (let i = 0; i < 4; i++) {
    const { id, path: file } = await startRecording(daemon, { name: String(i), quality: 'sharp' });
    await seconds(0.3);
    await stopRecording(daemon, id).catch(() => {});
    made.push({ id, file });
  }
  const left = (await daemon.json('GET', '/v1/recordings')).recordings;
  const total = left.reduce((sum, recording) => sum + recording.bytes, 0);
  assert(total <= 100 * 1024, `${total} bytes are left`);
  assert(left.length < 4, 'some have gone');
  assert.deepEqual(left.map((one) => one.id), made.slice(4 - left.length).map((one) => one.id), 'the oldest first');
  for (const { id, file } of made)
    assert.equal(fs.existsSync(file), left.some((one) => one.id === id));
});

boxTest('when the daemon is told to end, what records is finished first', async (box) => {
  const { server, daemon } = await box.startScreen({ width: 320, height: 240 });
  const { id } = await startRecording(daemon, { path: box.file('ended.mp4') });
  await seconds(1);
  assert.deepEqual(await daemon.stop(), { code: 0, signal: null });
  await assertGood(box, box.file('ended.mp4'));
  const next = await box.startDaemon({ display: server.display, stateDir: box.file('state0') });
  assert.equal((await next.json('GET', `/v1/recordings/${id}`)).state, 'done');
});

boxTest('what has taken a video\'s place is neither served, nor linked, nor removed', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 240 });
  const file = box.file('film.mp4');
  fs.writeFileSync(box.file('secret'), 'secret');
  const ask = (method, target) => daemon.request(method, target);
  for (const [name, lay] of [['another file', () => fs.copyFileSync(box.file('secret'), file)], ['a hard link', () => fs.linkSync(box.file('secret'), file)],
    ['a link', () => fs.symlinkSync(box.file('secret'), file)], ['a folder', () => fs.mkdirSync(file)]]) {
    const { id } = await startRecording(daemon, { path: file });
    await seconds(0.5);
    const done = await stopRecording(daemon, id);
    assert.equal((await ask('GET', `/v1/recordings/${id}/video`)).status, 200, name);
    assert.equal((await fetch(done.url)).status, 200, name);
    fs.renameSync(file, box.file('moved.mp4'));
    lay();
    for (const what of ['video', 'thumbnail']) {
      const reply = await ask('GET', `/v1/recordings/${id}/${what}`);
      assert.deepEqual([reply.status, /in the video's place/.test(reply.json().message)], [410, true], `${name}: ${what}`);
    }
    const { url } = (await ask('GET', `/v1/recordings/${id}`)).json();
    for (const link of [url, done.url]) assert.equal((await fetch(link)).status, 410, name);
    assert.equal((await ask('DELETE', `/v1/recordings/${id}`)).status, 204, name);
    assert(fs.lstatSync(file), `${name} stays`);
    fs.rmSync(file, { recursive: true });
  }
  assert.equal(fs.readFileSync(box.file('secret'), 'utf8'), 'secret');
});
