// SPDX-License-Identifier: GPL-2.0-or-later
//
// node tests/bench/together.mjs [--seconds N]: does being recorded, watched and photographed cost the browser
// its pictures? Chromium shows a full-screen animation and counts the pictures it makes, alone and while one boxscreend
// records it, one viewer watches and a screenshot is taken each second; then the same done by ffmpeg -f x11grab,
// x11vnc with a raw viewer, and scrot. BOXSCREEN_BUILD names the build.
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chromium } from '../integration/browsers.mjs';
import { waitFor } from '../integration/harness.mjs';
import { LIKE_NOVNC, ENC, Rfb, TIGHT } from '../integration/rfb.mjs';
import { probe, startRecording, stopRecording } from '../integration/video.mjs';
import { argument, inBox, SIZE } from './bench.mjs';
import { RECORDERS } from './recorders.mjs';

const SECONDS = Number(argument('--seconds') ?? 12);

/* Blocks of colour that move all over the page, at a fixed pace that a box can paint. */
const PAGE = `data:text/html,<!doctype html><style>body{margin:0;overflow:hidden}</style><canvas width=1280 height=800></canvas><script>
const pen = document.querySelector('canvas').getContext('2d'); let n = 0; window.pictures = 0;
requestAnimationFrame(function draw() { n++; window.pictures++;
  for (let y = 0; y < 800; y += 80) for (let x = 0; x < 1280; x += 80) {
    pen.fillStyle = 'hsl(' + ((x + y) / 4 + n * 3) % 360 + ' 60% 50%)'; pen.fillRect(x, y, 80, 80); }
  pen.fillStyle = '#fff'; pen.font = '40px sans-serif'; pen.fillText('picture ' + n, 100 + n % 600, 400);
  requestAnimationFrame(draw); });</script>`.replace(/\n/g, ' ').replace('#fff', 'white').replace(/%( |')/g, '%25$1');

async function pictures(browser) {
  const [before, from] = [await browser.run('window.pictures'), performance.now()];
  await sleep(SECONDS * 1000);
  return (await browser.run('window.pictures') - before) / (performance.now() - from) * 1000;
}

async function startBrowser(box) {
  const server = await box.startXvfb(SIZE);
  const browser = await Chromium.start(box, { keepsHead: true, env: server.env, args: ['--window-position=0,0', '--kiosk'], ...SIZE });
  await browser.goto(PAGE);
  await waitFor('the animation', () => browser.run('window.pictures > 30').catch(() => false), 20000, 100);
  await sleep(2000);
  return { server, browser };
}

/** Calls take() each second until stopped; resolves to what each took, ms. */
function everySecond(take) {
  const times = [];
  let isOver = false;
  const done = (async () => {
    while (!isOver) {
      const start = performance.now();
      await take();
      times.push(performance.now() - start);
      await sleep(Math.max(0, 1000 - times.at(-1)));
    }
  })();
  return { async stop() { isOver = true; await done; return times.sort((a, b) => a - b); } };
}

async function watch(client, encodings) {
  client.setEncodings(encodings);
  client.pictures = 0;
  if (encodings.includes(ENC.h264)) {
    client.continuous(true);
    client.onRect = ({ encoding }) => { if (encoding === ENC.h264) { client.pictures++; client.h264.length = 0; } };
  }
  return client;
}

const report = (name, alone, rate, shots, viewer, video) => console.log(`  ${name.padEnd(10)} browser ${rate.toFixed(1)} of ${alone.toFixed(1)} a second (${
  (100 * rate / alone).toFixed(0)} %), recording ${video.toFixed(1)} pictures a second, viewer ${viewer.toFixed(1)}, shot ${shots[shots.length >> 1].toFixed(0)} ms in the median`);

await inBox(async (box) => {
  const { server, browser } = await startBrowser(box);
  const alone = await pictures(browser);
  const rfb = box.file('rfb.sock');
  const daemon = await box.startDaemon({ display: server.display, args: ['--rfb', rfb] });
  const viewer = await watch(await (await Rfb.unix(rfb)).open(), [...LIKE_NOVNC, ENC.h264]);
  const file = box.file('together.mp4');
  const { id } = await startRecording(daemon, { path: file, fps: 25 });
  const shots = everySecond(() => daemon.request('GET', '/v1/shot'));
  await sleep(2000);
  viewer.pictures = 0;
  const rate = await pictures(browser), seen = viewer.pictures / SECONDS;
  const times = await shots.stop();
  await stopRecording(daemon, id);
  viewer.destroy();
  const { packets, duration } = await probe(box, file);
  report('boxscreen', alone, rate, times, seen, packets.length / duration);
  await daemon.stop();

  const again = await pictures(browser);
  const port = 20000 + Math.floor(Math.random() * 12000);
  box.spawn('x11vnc', ['-display', server.display, '-rfbport', String(port), '-localhost', '-forever', '-shared', '-nopw', '-q'], { env: server.env });
  const peer = await waitFor('x11vnc', () => Rfb.tcp(port).then((client) => client.open()).catch(() => null), 20000, 300);
  peer.setEncodings(TIGHT);
  peer.follow();
  const grab = box.file('grab.mp4');
  const recording = await RECORDERS['veryfast-25'](box, server, grab);
  const peerShots = everySecond(() => box.run('scrot', ['-o', box.file('shot.png')], { env: server.env }));
  await sleep(2000);
  peer.updates = 0;
  const peerRate = await pictures(browser), peerSeen = peer.updates / SECONDS;
  const peerTimes = await peerShots.stop();
  await recording.stop();
  peer.destroy();
  const video = await probe(box, grab);
  report('the peers', again, peerRate, peerTimes, peerSeen, video.packets.length / video.duration);
  fs.rmSync(grab);
});
