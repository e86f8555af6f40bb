// SPDX-License-Identifier: GPL-2.0-or-later
//
// node tests/bench/record.mjs [--seconds N] [--session-seconds N] [--work WORK,…] [--only RECORDER,…]: recordings
// compared on one machine in one run: boxscreend (as it is, and at 25 a second) and ffmpeg -f x11grab with
// libx264 as people run it. Prints for each workload CPU in cores, kB/s, pictures, and the ratios to the
// peers. `quality` shows page after page of text and compares each video, half a second after each change, with
// a lossless screenshot (SSIM, 1 is the same). `session` is an agent at work: mostly still, with bursts of
// typing and new pages. BOXSCREEN_BUILD names the build.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chromium } from '../integration/browsers.mjs';
import { Box, build, waitFor } from '../integration/harness.mjs';
import { probe, startRecording, waitEnd } from '../integration/video.mjs';

const argument = (name) => { const i = process.argv.indexOf(name); return i < 0 ? undefined : process.argv[i + 1]; };
const SECONDS = Number(argument('--seconds') ?? 8);
const SESSION_SECONDS = Number(argument('--session-seconds') ?? 600);
const SIZE = { width: 1280, height: 800 };
const TICK_MS = 10;

/** CPU time of a process and its threads, ms. */
const cpuMs = (pid) => {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
};

const x11grab = (fps, preset) => async (box, server, file) => {
  const child = box.spawn('ffmpeg', ['-v', 'error', '-y', '-f', 'x11grab', '-framerate', String(fps), '-video_size',
    `${SIZE.width}x${SIZE.height}`, '-i', server.display, '-c:v', 'libx264', '-preset', preset, '-pix_fmt', 'yuv420p', file],
  { stdio: ['pipe', 'pipe', 'pipe'] });
  const start = performance.now();
  await sleep(1000);
  return { pid: child.pid, start, async stop() { child.process.stdin.write('q'); await child.exited; } };
};

const boxscreen = (options) => async (box, server, file) => {
  const daemon = await box.startDaemon({ display: server.display });
  const start = performance.now();
  const { id } = await startRecording(daemon, { path: file, ...options });
  await sleep(1000);
  return { pid: daemon.pid, start, daemon, async stop() {
    await daemon.request('POST', `/v1/recordings/${id}/stop`);
    await waitEnd(daemon, id, 60000);
  } };
};

const RECORDERS = {
  'boxscreen': boxscreen({}),
  'boxscreen-25': boxscreen({ fps: 25 }),
  'ultrafast-25': x11grab(25, 'ultrafast'),
  'veryfast-25': x11grab(25, 'veryfast'),
  'veryfast-15': x11grab(15, 'veryfast'),
};

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
    const painter = box.spawn(path.join(build, 'tests/painter'), ['animation', '0', '0', '1280', '800', '25'], { env: server.env });
    await waitFor('the animation', () => painter.output().includes('window'), 20000);
    return () => sleep(SECONDS * 1000);
  },
  async session(box, server) {
    const browser = await startPage(box, server);
    return async () => {
      const end = performance.now() + SESSION_SECONDS * 1000;
      for (let i = 0; performance.now() < end; i++) {
        await browser.run(`scrollTo(0, ${i * 731 % 9000})`);
        await sleep(300);
        await browser.run('document.body.insertAdjacentHTML("afterbegin", "<input>"); document.querySelector("input").focus()');
        for (const letter of 'an agent types a sentence') {
          await browser.run(`void (document.querySelector("input").value += ${JSON.stringify(letter)})`);
          await sleep(60);
        }
        await sleep(Math.min(8000, Math.max(0, end - performance.now()))); // it thinks
      }
    };
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

async function inBox(body) {
  const box = new Box();
  try {
    return await body(box);
  } finally {
    await box.close();
  }
}

const recorders = argument('--only')?.split(',') ?? Object.keys(RECORDERS);
const works = argument('--work')?.split(',') ?? [...Object.keys(WORKLOADS), 'quality'];
for (const work of works) {
  console.log(`\n${work}`);
  const results = {};
  for (const recorder of recorders) {
    if (work === 'quality') {
      const { ssim, worst, size } = await inBox((box) => measureQuality(box, recorder));
      console.log(`  ${recorder.padEnd(14)} SSIM ${ssim.toFixed(4)}, worst ${worst.toFixed(4)}, ${(size / 1000).toFixed(0)} kB`);
      continue;
    }
    const result = results[recorder] = await inBox((box) => measure(box, work, recorder));
    console.log(`  ${recorder.padEnd(14)} ${result.cores.toFixed(4)} cores  ${result.rate.toFixed(1).padStart(8)} kB/s  ${result.pictures.toFixed(1).padStart(5)} pictures/s`);
  }
  for (const own of ['boxscreen', 'boxscreen-25']) {
    for (const peer of ['ultrafast-25', 'veryfast-25', 'veryfast-15']) {
      if (results[own] && results[peer])
        console.log(`  ${own} / ${peer}: CPU ${(results[own].cores / results[peer].cores).toFixed(3)}, bytes ${(results[own].rate / results[peer].rate).toFixed(3)}`);
    }
  }
}
