// SPDX-License-Identifier: GPL-2.0-or-later
//
// Recordings where people meet them: played and seeked in browsers, and sent to media servers.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { boxTest, followEvents, patience, waitFor } from './harness.mjs';
import { Chromium, Firefox } from './browsers.mjs';
import { assertGood, decode, readColours, seconds, startColours, startRecording, stopRecording } from './video.mjs';

/** Serves a page with the video, which answers ranges. */
function serve(box, file) {
  const server = http.createServer((request, reply) => {
    if (request.url === '/') {
      reply.setHeader('Content-Type', 'text/html');
      reply.end('<!doctype html><video muted src="/video.mp4" preload="auto"></video>');
      return;
    }
    const data = fs.readFileSync(file);
    const range = request.headers.range?.match(/bytes=(\d+)-(\d*)/);
    const [from, to] = range ? [Number(range[1]), range[2] ? Number(range[2]) : data.length - 1] : [0, data.length - 1];
    reply.writeHead(range ? 206 : 200, { 'Content-Type': 'video/mp4', 'Accept-Ranges': 'bytes',
      'Content-Length': to - from + 1, ...(range ? { 'Content-Range': `bytes ${from}-${to}/${data.length}` } : {}) });
    reply.end(data.subarray(from, to + 1));
  });
  box.onClose(() => server.close());
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}/`)));
}

/** Runs in the page: the length, and the colour at some times. */
const look = (times) => `(async () => {
  const video = document.querySelector('video');
  const event = (name) => new Promise((resolve, reject) => {
    video.addEventListener(name, resolve, { once: true });
    video.addEventListener('error', () => reject(new Error('video: ' + video.error.message)), { once: true });
  });
  if (video.readyState < 2) await event('loadeddata');
  const canvas = document.createElement('canvas');
  canvas.width = video.videoWidth; canvas.height = video.videoHeight;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const seen = [];
  for (const time of ${JSON.stringify(times)}) {
    const seeked = event('seeked');
    video.currentTime = time;
    await seeked;
    await new Promise((resolve) => setTimeout(resolve, 100));
    context.drawImage(video, 0, 0);
    seen.push([...context.getImageData(canvas.width >> 2, canvas.height >> 2, 1, 1).data].slice(0, 3));
  }
  video.currentTime = 0;
  const ended = event('ended');
  video.playbackRate = 2;
  await video.play();
  await ended;
  return { duration: video.duration, seen, width: video.videoWidth, canPlay: video.canPlayType('video/mp4; codecs="avc1.640020"') };
})()`;

const isNear = (a, b) => a.every((value, i) => Math.abs(value - b[i]) <= 8);

boxTest('a recording plays and seeks in Chromium and Firefox', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 640, height: 481 });
  const colours = [[0xc0, 0x20, 0x20], [0x20, 0xc0, 0x20], [0x20, 0x20, 0xc0]];
  const paint = await startColours(box, env);
  const show = (rgb) => paint(rgb[0] << 16 | rgb[1] << 8 | rgb[2]);
  await show(colours[0]);
  const { id } = await startRecording(daemon, { path: box.file('played.mp4') });
  for (const colour of colours.slice(1)) {
    await seconds(1.5);
    await show(colour);
  }
  await seconds(1.5);
  await daemon.request('POST', `/v1/recordings/${id}/marks`, { body: { text: 'near the end' } });
  await stopRecording(daemon, id);
  const video = await assertGood(box, box.file('played.mp4'));
  const url = await serve(box, box.file('played.mp4'));
  // On a busy machine the second colour comes late.
  const second = (await readColours(box, box.file('played.mp4'))).find(({ rgb }) => isNear(rgb, colours[1]));
  const times = [video.duration - 0.5, 0.5, second.at + 0.5];
  for (const [name, browser] of [['Chromium', await Chromium.start(box, { args: ['--autoplay-policy=no-user-gesture-required'] })],
    ['Firefox', await Firefox.start(box, { prefs: { 'media.autoplay.default': 0 } })]]) {
    await browser.goto(url);
    await waitFor('the page', () => browser.run('document.querySelector("video") !== null').catch(() => false), 15000);
    const played = await browser.run(look(times));
    assert(Math.abs(played.duration - video.duration) < 0.2, `${name}: ${played.duration} s of ${video.duration}`);
    assert.equal(played.width, 640, name);
    assert.notEqual(played.canPlay, '', name);
    [colours[2], colours[0], colours[1]].forEach((colour, i) =>
      assert(isNear(played.seen[i], colour), `${name} at ${times[i]}: ${played.seen[i]} instead of ${colour}`));
  }
}, { timeout: 240000 });

boxTest('the picture can be sent to an HLS playlist, which ffprobe reads back', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 320, height: 240 });
  await (await startColours(box, env))(0x2080c0);
  const playlist = box.file('hls/live.m3u8');
  fs.mkdirSync(path.dirname(playlist));
  const started = await daemon.request('POST', '/v1/publish', { body: { url: playlist } });
  assert.equal(started.status, 201, started.body.toString());
  const { id } = started.json();
  // Nothing changes on the screen: the segments come all the same.
  await waitFor('two segments', () => fs.existsSync(playlist) && fs.readFileSync(playlist, 'utf8').match(/\.ts$/gm)?.length >= 2, 25000, 100);
  const streams = JSON.parse(await box.ok('ffprobe', ['-v', 'error', '-of', 'json', '-show_streams', '-show_format', playlist]));
  assert.deepEqual([streams.streams[0].codec_name, streams.streams[0].width, streams.format.format_name], ['h264', 320, 'hls']);
  const [broadcast] = (await daemon.json('GET', '/v1/publish')).publish;
  assert.deepEqual([broadcast.id, broadcast.state], [id, 'connected']);
  assert.equal((await daemon.request('DELETE', `/v1/publish/${id}`)).status, 204);
  await waitFor('it to end', async () => (await daemon.json('GET', '/v1/publish')).publish.length === 0);
  await decode(box, playlist); // it has an end now
  for (const url of ['http://example.org/x', 'live.m3u8', 'rtmp://', ''])
    assert.equal((await daemon.request('POST', '/v1/publish', { body: { url } })).status, 400, url);
});

function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const canConnectTcp = (port) => new Promise((resolve) => {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('connect', () => { socket.destroy(); resolve(true); });
  socket.on('error', () => resolve(false));
});

async function startRtmp(box, port) {
  fs.writeFileSync(box.file('nginx.conf'), `
load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
daemon off; pid ${box.file('nginx.pid')}; error_log stderr; worker_processes 1; master_process off;
${process.getuid() === 0 ? 'user root;' : ''}
events { worker_connections 64; }
rtmp { access_log off; server { listen 127.0.0.1:${port}; application live { live on; record all; record_path ${box.folder}; } } }
`);
  const server = box.spawn('/usr/sbin/nginx', ['-p', box.folder, '-e', 'stderr', '-c', box.file('nginx.conf')]);
  await waitFor('nginx', () => {
    assert(!server.end, server.log());
    return canConnectTcp(port);
  }, 10000);
  return server;
}

boxTest('the picture can be sent to an RTMP server, which may go away and come back; a recording beside is whole', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 320, height: 240 });
  const follower = followEvents(daemon.socket);
  box.onClose(() => follower.close());
  const paint = await startColours(box, env);
  const port = await freePort();
  const { id } = await startRecording(daemon, { path: box.file('beside.mp4') });
  // Nobody there yet: it waits for the server.
  const started = await daemon.request('POST', '/v1/publish', { body: { url: `rtmp://127.0.0.1:${port}/live/secretkey` } });
  assert.equal(started.status, 201, started.body.toString());
  await follower.next('publish.lost', 10000);
  let server = await startRtmp(box, port);
  await follower.next('publish.connected', 20000);
  const read = async () => JSON.parse(await box.ok('ffprobe', ['-v', 'error', '-analyzeduration', '500000', '-probesize', '5000', '-of', 'json',
    '-show_streams', `rtmp://127.0.0.1:${port}/live/secretkey`], { timeoutMs: 60000 }));
  const playing = setInterval(() => paint(Math.random() * 0xffffff | 0), 200);
  box.onClose(() => clearInterval(playing));
  const video = (await read()).streams.find((stream) => stream.codec_type === 'video');
  assert.deepEqual([video.codec_name, video.width, video.height], ['h264', 320, 240]);
  await server.stop('SIGKILL');
  await follower.next('publish.lost', 20000);
  server = await startRtmp(box, port);
  await follower.next('publish.connected', 30000);
  await waitFor('the server to have got pictures', () => fs.readdirSync(box.folder)
    .some((name) => name.endsWith('.flv') && fs.statSync(box.file(name)).size > 1000), 20000);
  clearInterval(playing);
  const list = await daemon.json('GET', '/v1/publish');
  assert(!JSON.stringify(list).includes('secretkey'), 'the stream key is not told');
  assert(!daemon.log().includes('secretkey'), 'nor logged');
  const recording = await stopRecording(daemon, id);
  assert.equal(recording.state, 'done');
  await assertGood(box, box.file('beside.mp4'));
}, { timeout: 180000 * patience });
