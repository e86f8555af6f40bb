// SPDX-License-Identifier: GPL-2.0-or-later
//
// node tests/bench/live.mjs [--seconds N] [--only SERVER,…] [--work WORKLOAD,…]: live screens compared on one
// machine in one run: boxscreend with its page, x11vnc (default flags and the -wait 50 that agent
// stacks ship) and TigerVNC's x0vncserver, each behind websockify with Debian's noVNC. One viewer,
// Chromium headless. Prints a table: kB/s over the WebSocket, CPU of the server's processes in cores,
// pictures a second on the canvas, and the time from a key to its pixel. What moves moves 60 times a
// second, as browsers draw it, but for the two "at 30". BOXSCREEN_BUILD names the build. Needs x11vnc,
// tigervnc-scraping-server, websockify and novnc.
import fs from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chromium, makeLink } from '../integration/browsers.mjs';
import { Box, waitFor } from '../integration/harness.mjs';
import { argument } from './bench.mjs';

const SECONDS = Number(argument('--seconds') ?? 6);

const cpuTicks = (pids) => pids.reduce((sum, pid) => {
  if (!fs.existsSync(`/proc/${pid}/stat`)) return sum; // websockify's child of an earlier request
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return sum + Number(fields[11]) + Number(fields[12]);
}, 0);
const portOf = () => 20000 + Math.floor(Math.random() * 12000);

async function behindWebsockify(box, port) {
  await waitFor('the VNC server', () => new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('connect', () => { socket.destroy(); resolve(true); });
    socket.on('error', () => resolve(false));
  }), 15000, 100);
  const web = portOf();
  const websockify = box.spawn('websockify', ['--web', '/usr/share/novnc', `127.0.0.1:${web}`, `127.0.0.1:${port}`]);
  await waitFor('websockify', async () => (await fetch(`http://127.0.0.1:${web}/vnc_lite.html`).catch(() => null))?.ok, 10000, 50);
  // websockify serves each connection by a process of its own.
  const pids = () => [websockify.pid, ...fs.readFileSync(`/proc/${websockify.pid}/task/${websockify.pid}/children`, 'utf8')
    .trim().split(' ').filter(Boolean).map(Number)];
  return { url: `http://127.0.0.1:${web}/vnc_lite.html?scale=false`, pids };
}

const SERVERS = {
  async boxscreen(box, display) {
    const daemon = await box.startDaemon({ display });
    return { url: await makeLink(daemon, 'control'), pids: () => [daemon.pid] };
  },
  'x11vnc': (box, display) => startX11vnc(box, display, []),
  'x11vnc-wait50': (box, display) => startX11vnc(box, display, ['-wait', '50', '-defer', '50']),
  async x0vncserver(box, display) {
    const port = portOf();
    const server = box.spawn('X0tigervnc', ['-display', display, '-rfbport', String(port), '-SecurityTypes', 'None', '-localhost=1']);
    const { url, pids } = await behindWebsockify(box, port);
    return { url, pids: () => [server.pid, ...pids()] };
  },
};

async function startX11vnc(box, display, flags) {
  const port = portOf();
  const server = box.spawn('x11vnc', ['-display', display, '-rfbport', String(port), '-localhost', '-forever', '-shared',
    '-nopw', '-quiet', ...flags]);
  const { url, pids } = await behindWebsockify(box, port);
  return { url, pids: () => [server.pid, ...pids()] };
}

const PAGE = `<!doctype html><meta charset=utf-8><title>scroll</title><style>body{font:15px/1.5 serif;width:900px;margin:auto}
img,.b{display:inline-block;width:260px;height:120px;background:linear-gradient(45deg,#c33,#36c)}</style><script>
let t='';for(let i=0;i<400;i++)t+='<h3>Section '+i+'</h3><p>'+('The quick brown fox jumps over the lazy dog '+i*7+'. ').repeat(9)+'</p>'+(i%5?'':'<div class=b></div>');
addEventListener('load',()=>{document.body.innerHTML=t;let y=0,d=6;(function step(){y+=d;if(y<0||y>document.body.scrollHeight-800)d=-d;scrollTo(0,y);requestAnimationFrame(step)})()});
</script><body>`;

const WORKLOADS = {
  async idle() {},
  async 'xterm scroll'(box, env) {
    box.spawn('xterm', ['-geometry', '130x45+20+20', '-fa', 'Monospace', '-fs', '10', '-e', 'sh', '-c',
      'i=0; while :; do i=$((i+1)); echo "$i: $(head -c 60 /proc/sys/kernel/random/uuid) the quick brown fox jumps over the lazy dog"; sleep 0.0145; done'], { env });
  },
  async 'Chromium scroll'(box, env) {
    fs.writeFileSync(box.file('page.html'), PAGE);
    const home = fs.mkdtempSync(box.file('home.'));
    box.spawn('chromium', ['--no-sandbox', '--disable-gpu', '--no-first-run', `--user-data-dir=${home}`, '--window-position=0,0',
      '--window-size=1280,800', `--app=file://${box.file('page.html')}`], { env: { ...env, HOME: home } });
    await sleep(4000);
  },
  async 'full animation'(box, env) { await box.startPainter(env, 'animation', 0, 0, 1280, 800, 60); },
  async '640x400 video'(box, env) { await box.startPainter(env, 'animation', 200, 150, 640, 400, 60); },
  async 'full animation at 30'(box, env) { await box.startPainter(env, 'animation', 0, 0, 1280, 800, 30); },
  async '640x400 video at 30'(box, env) { await box.startPainter(env, 'animation', 200, 150, 640, 400, 30); },
};

/** Counts what comes, before the page's own scripts. */
const COUNTER = `window.__bytes = 0;
window.WebSocket = new Proxy(WebSocket, { construct(Real, args) {
  const socket = new Real(...args);
  socket.addEventListener('message', (event) => { window.__bytes += event.data.byteLength ?? event.data.length; });
  return socket;
} });`;

/** Pictures a second: how often what a coarse grid of pixels shows has changed, frame by frame. */
const COUNT_PICTURES = (ms) => `new Promise((resolve) => {
  const canvas = document.querySelector('canvas'), context = canvas.getContext('2d', { willReadFrequently: true });
  const end = performance.now() + ${ms};
  let last = 0, count = 0;
  (function look() {
    let hash = 0;
    for (let y = 60; y < canvas.height; y += 97) {
      const { data } = context.getImageData(0, y, canvas.width, 1);
      for (let x = 0; x < data.length; x += 44) hash = (hash * 31 + data[x] + data[x + 1] * 7) | 0;
    }
    if (hash !== last) count++;
    last = hash;
    if (performance.now() < end) requestAnimationFrame(look); else resolve(count);
  })();
})`;

/** Milliseconds from a key to its pixel, \`count\` times. */
const KEY_TO_PIXEL = (x, y, count) => `(async () => {
  const canvas = document.querySelector('canvas'), context = canvas.getContext('2d', { willReadFrequently: true });
  const lightness = () => context.getImageData(${x}, ${y}, 1, 1).data[1];
  const turn = () => new Promise((resolve) => { const channel = new MessageChannel(); channel.port1.onmessage = resolve; channel.port2.postMessage(0); });
  const keys = document.querySelector('#keys-field') ?? canvas; // of our page, else noVNC's own
  const times = [];
  for (let i = 0; i < ${count}; i++) {
    const before = lightness() > 128, start = performance.now();
    keys.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', code: 'ArrowRight', bubbles: true }));
    keys.dispatchEvent(new KeyboardEvent('keyup', { key: 'ArrowRight', code: 'ArrowRight', bubbles: true }));
    while ((lightness() > 128) === before && performance.now() - start < 2000) await turn();
    times.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 60 + Math.random() * 80));
  }
  return times;
})()`;

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

async function measure(serverName, workName) {
  const box = new Box();
  try {
    const xvfb = await box.startXvfb();
    const { env } = xvfb;
    await box.ok('xsetroot', ['-solid', '#405060'], { env });
    await WORKLOADS[workName](box, env);
    const hasKeys = workName === 'idle' || workName.startsWith('full animation');
    if (hasKeys) await box.startPainter(env, 'flip', 1100, 650, 120, 90);
    const server = await SERVERS[serverName](box, xvfb.display);
    const browser = await Chromium.start(box, { width: 1400, height: 1000 });
    await browser.send('Page.addScriptToEvaluateOnNewDocument', { source: COUNTER });
    await browser.goto(server.url);
    await waitFor('the picture', () => browser.run('document.querySelector("canvas")?.width >= 1280').catch(() => false), 20000, 100)
      .catch(async (error) => { throw new Error(`${error.message}: ${await browser.run('document.body.innerText')} ${browser.console}`); });
    if (serverName === 'boxscreen') {
      await browser.run('document.querySelector("#take").click()');
      await waitFor('control', () => browser.run('document.body.dataset.phase === "control"'), 10000, 50);
    }
    await sleep(3000);
    const pids = server.pids(), ticks = cpuTicks(pids), start = performance.now();
    const bytes = await browser.run('window.__bytes');
    const pictures = await browser.run(COUNT_PICTURES(SECONDS * 1000));
    const seconds = (performance.now() - start) / 1000;
    const result = { 'kB/s': ((await browser.run('window.__bytes')) - bytes) / 1000 / seconds,
      'CPU': (cpuTicks(pids) - ticks) / 100 / seconds, 'fps': pictures / seconds };
    if (hasKeys) result['key ms'] = median(await browser.run(KEY_TO_PIXEL(1150, 690, 30)));
    return result;
  } finally {
    await box.close();
  }
}

const names = argument('--only')?.split(',') ?? Object.keys(SERVERS);
const works = argument('--work')?.split(',') ?? Object.keys(WORKLOADS);
console.log(`| workload | ${names.map((name) => `${name}: kB/s · CPU · fps · key ms`).join(' | ')} |`);
console.log(`|---|${names.map(() => '---|').join('')}`);
for (const work of works) {
  const cells = [];
  for (const name of names) {
    const result = await measure(name, work).catch((error) => ({ error }));
    cells.push(result.error ? `failed: ${result.error.message}` : [result['kB/s'].toFixed(1), result.CPU.toFixed(3),
      result.fps.toFixed(1), result['key ms']?.toFixed(1) ?? '–'].join(' · '));
  }
  console.log(`| ${work} | ${cells.join(' | ')} |`);
}
