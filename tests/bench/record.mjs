// SPDX-License-Identifier: GPL-2.0-or-later
//
// node tests/bench/record.mjs [--seconds N] [--work WORK,…] [--only RECORDER,…]: recordings compared on one machine
// in one run: boxscreend (as it is, and at 25 a second) and ffmpeg -f x11grab with libx264 as people run it. Prints
// for each workload CPU in cores, kB/s, pictures, and the ratios to the peers. `quality` shows page after page of
// text and compares each video, half a second after each change, with a lossless screenshot (SSIM, 1 is the
// same); `moving` scrolls text and compares each picture with the place that it shows (PSNR in dB). An agent's ten
// minutes are tests/bench/session.mjs. BOXSCREEN_BUILD names the build.
import fs from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chromium } from '../integration/browsers.mjs';
import { waitFor } from '../integration/harness.mjs';
import { probe } from '../integration/video.mjs';
import { argument, cpuMs, inBox, SIZE } from './bench.mjs';
import { printRatios, RECORDERS } from './recorders.mjs';

const SECONDS = Number(argument('--seconds') ?? 8);
const text = (seed) => Array.from({ length: 46 }, (_, i) =>
  `${seed}.${i} The quick brown fox (${seed * 7919 % 10007}) jumps over the lazy dog; i = ${i * seed}; <html lang="en">`).join('\n');

async function startPage(box, server) {
  const pages = http.createServer((request, reply) => {
    reply.setHeader('Content-Type', 'text/html');
    reply.end(`<!doctype html><style>body{font:15px sans-serif;margin:20px;width:1200px}</style><h1>A page</h1>${
      Array.from({ length: 200 }, (_, i) => `<p>${text(i + 1).slice(0, 400)}</p>`).join('')}`);
  }).listen(0, '127.0.0.1');
  box.onClose(() => pages.close());
  const browser = await Chromium.start(box, { keepsHead: true, env: server.env, args: ['--window-position=0,0'], ...SIZE });
  await browser.goto(`http://127.0.0.1:${pages.address().port}/`);
  await waitFor('the page', () => browser.run('document.querySelectorAll("p").length > 100').catch(() => false), 20000, 100);
  return browser;
}

const xterm = (box, server, script) => box.spawn('xterm', ['-geometry', '210x60+0+0', '-fa', 'Monospace', '-fs', '10', '-e', 'sh', '-c', script],
  { env: server.env });

/** Each starts what moves and resolves to what it does while it is recorded. */
const WORKLOADS = {
  async idle(box, server) { xterm(box, server, 'ls -lR /usr/share/doc | head -50; sleep 1000'); return () => sleep(SECONDS * 1000); },
  async 'xterm-scroll'(box, server) {
    xterm(box, server, 'while :; do find /usr/share -name "*.h" -o -name "*.txt" | while read f; do echo "$f"; sleep 0.01; done; done');
    return () => sleep(SECONDS * 1000);
  },
  async 'chromium-scroll'(box, server) {
    const browser = await startPage(box, server);
    await browser.run('void setInterval(() => scrollBy(0, 12), 33)');
    return () => sleep(SECONDS * 1000);
  },
  async animation(box, server) {
    await box.startPainter(server.env, 'animation', 0, 0, 1280, 800, 25);
    return () => sleep(SECONDS * 1000);
  },
};

async function measure(box, work, recorder) {
  const server = await box.startXvfb(SIZE);
  const run = await WORKLOADS[work](box, server);
  await sleep(1500);
  const file = box.file(`${work}-${recorder}.mp4`);
  const recording = await RECORDERS[recorder](box, server, file);
  const before = cpuMs(recording.pid), from = performance.now();
  await run();
  const cores = (cpuMs(recording.pid) - before) / (performance.now() - from);
  await recording.stop();
  const lasted = (performance.now() - recording.start) / 1000;
  const pictures = Number((await box.ok('ffprobe', ['-v', 'error', '-select_streams', 'v', '-show_entries', 'stream=nb_frames', '-of', 'csv=p=0', file])).trim());
  return { cores, rate: fs.statSync(file).size / lasted / 1000, pictures: pictures / lasted };
}

/** SSIM of each video to a screenshot, half a second after each of some changes. */
async function measureQuality(box, recorder) {
  const server = await box.startXvfb(SIZE);
  const shots = await box.startDaemon({ display: server.display });
  const browser = await startPage(box, server);
  const file = box.file(`quality-${recorder}.mp4`);
  const recording = await RECORDERS[recorder](box, server, file);
  const at = [];
  for (let i = 0; i < 6; i++) {
    await browser.run(`scrollTo(0, ${i * 1711})`);
    await sleep(500);
    const reply = await shots.request('GET', '/v1/shot?format=png');
    at.push((performance.now() - recording.start) / 1000 - 0.05);
    fs.writeFileSync(box.file(`shot${i}.png`), reply.body);
    await sleep(400);
  }
  await recording.stop();
  const times = (await probe(box, file)).packets.map((packet) => packet.pts).sort((a, b) => a - b);
  const values = [];
  for (const [i, time] of at.entries()) {
    const picture = box.file(`frame-${recorder}-${i}.png`);
    const index = times.filter((pts) => pts <= time).length - 1; // what a player shows then
    await box.ok('ffmpeg', ['-v', 'error', '-y', '-i', file, '-vf', `select=eq(n\\,${index})`, '-vsync', 'passthrough',
      '-frames:v', '1', picture], { timeoutMs: 60000 });
    const { stderr } = await box.run('ffmpeg', ['-v', 'info', '-i', picture, '-i', box.file(`shot${i}.png`), '-lavfi', 'ssim', '-f', 'null', '-']);
    values.push(Number(stderr.match(/All:([\d.]+)/)[1]));
  }
  const size = fs.statSync(file).size;
  return { ssim: values.reduce((a, b) => a + b) / values.length, worst: Math.min(...values), size };
}

const PART = { x: 40, y: 200, width: 900, height: 400 }; // of the page, without the browser's own
const [PLACES, STEP_PX, STEP_MS] = [90, 12, 33];

/** The brightness of the part, 0 to 255, as a video keeps it. */
function readGrey(picture) {
  return Uint8Array.from({ length: PART.width * PART.height }, (_, i) => {
    const [r, g, b] = picture.pixel(PART.x + i % PART.width, PART.y + Math.floor(i / PART.width));
    return Math.round(0.299 * r + 0.587 * g + 0.114 * b);
  });
}

function psnr(a, aAt, b) {
  let sum = 0;
  for (let i = 0; i < b.length; i++) sum += (a[aAt + i] - b[i]) ** 2;
  return 10 * Math.log10(255 * 255 * b.length / Math.max(sum, 1));
}

/** PSNR of each picture of scrolling text to the place that it shows, by a screenshot of that. */
async function measureMoving(box, recorder) {
  const server = await box.startXvfb(SIZE);
  const shots = await box.startDaemon({ display: server.display });
  const browser = await startPage(box, server);
  const file = box.file(`moving-${recorder}.mp4`);
  const recording = await RECORDERS[recorder](box, server, file);
  await browser.run(`window.place = 0; const timer = setInterval(() => { scrollTo(0, ++window.place * ${STEP_PX});
    if (window.place >= ${PLACES}) clearInterval(timer); }, ${STEP_MS}); void 0`);
  await waitFor('the end', () => browser.run(`window.place >= ${PLACES}`), 20000, 50);
  await recording.stop();
  const places = [];
  for (let i = 0; i <= PLACES; i++) {
    await browser.run(`scrollTo(0, ${i * STEP_PX})`);
    places.push(readGrey(await shots.shot('?wait=stable&quiet_ms=100')));
  }
  const { stdout } = await box.run('ffmpeg', ['-v', 'error', '-i', file, '-vsync', 'passthrough', '-vf',
    `crop=${PART.width}:${PART.height}:${PART.x}:${PART.y},scale=in_range=tv:out_range=pc,format=gray`, '-pix_fmt', 'gray', '-f', 'rawvideo', '-'], { timeoutMs: 60000 });
  const size = PART.width * PART.height, count = Math.floor(stdout.length / size);
  const best = Array.from({ length: count }, (_, i) => places.map((place, n) => ({ n, db: psnr(stdout, i * size, place) })).reduce((a, b) => a.db > b.db ? a : b))
    .filter(({ n }) => n > 5 && n < PLACES - 5); // while it moves
  const values = best.map(({ db }) => db).sort((a, b) => a - b);
  return { median: values[values.length >> 1], worst: values[0], count: values.length };
}

const recorders = argument('--only')?.split(',') ?? Object.keys(RECORDERS);
const works = argument('--work')?.split(',') ?? [...Object.keys(WORKLOADS), 'quality', 'moving'];
for (const work of works) {
  console.log(`\n${work}`);
  const results = {};
  for (const recorder of recorders) {
    if (work === 'quality') {
      const { ssim, worst, size } = await inBox((box) => measureQuality(box, recorder));
      console.log(`  ${recorder.padEnd(14)} SSIM ${ssim.toFixed(4)}, worst ${worst.toFixed(4)}, ${(size / 1000).toFixed(0)} kB`);
      continue;
    }
    if (work === 'moving') {
      const { median, worst, count } = await inBox((box) => measureMoving(box, recorder));
      console.log(`  ${recorder.padEnd(14)} ${median.toFixed(1)} dB in the median, ${worst.toFixed(1)} at worst, ${count} pictures`);
      continue;
    }
    const result = results[recorder] = await inBox((box) => measure(box, work, recorder));
    console.log(`  ${recorder.padEnd(14)} ${result.cores.toFixed(4)} cores  ${result.rate.toFixed(1).padStart(8)} kB/s  ${result.pictures.toFixed(1).padStart(5)} pictures/s`);
  }
  printRatios(results);
}
