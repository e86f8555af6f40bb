// SPDX-License-Identifier: GPL-2.0-or-later
//
// node tests/bench/session.mjs [--seconds N] [--only RECORDER,…]: ten minutes of an agent at work in Chromium,
// recorded by boxscreend and by ffmpeg -f x11grab. All recorders look at the same screen at the same time, so that
// they see the same; each one's CPU is that of its process. Once a minute the agent opens a page, and on
// each it reads, scrolls, types into a form, opens a menu, waits for a slow answer beside a spinner, and reads the
// result; between two steps it thinks for 4 to 9 seconds, as models do. BOXSCREEN_BUILD names the build.
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chromium } from '../integration/browsers.mjs';
import { waitFor } from '../integration/harness.mjs';
import { argument, cpuMs, inBox, SIZE } from './bench.mjs';
import { printRatios, RECORDERS } from './recorders.mjs';

const SECONDS = Number(argument('--seconds') ?? 600);
const SENTENCE = 'Please send the parcel to the second address';

const words = (seed, count) => Array.from({ length: count }, (_, i) =>
  ['order', 'invoice', 'customer', 'shipped', 'weekly', 'report', 'pending', 'total', 'archive', 'the', 'of', 'and'][(seed * 7919 + i * i * 31 + i * 17) % 12]).join(' ');

const page = (seed) => `<!doctype html><meta charset="utf-8"><title>Orders ${seed}</title><style>
body { font: 15px sans-serif; margin: 0 } nav { background: #234; color: #fff; padding: 14px 24px } main { padding: 20px 24px; max-width: 900px }
#menu { position: absolute; display: none; background: #fff; border: 1px solid #888; padding: 8px 16px; line-height: 2 }
#spinner { display: none; width: 32px; height: 32px; border: 4px solid #ccc; border-top-color: #36c; border-radius: 50%; animation: turn 1s linear infinite }
@keyframes turn { to { transform: rotate(360deg) } } table { border-collapse: collapse } td { border: 1px solid #ccc; padding: 4px 12px }</style>
<nav>Shop office &nbsp; Orders &nbsp; Customers &nbsp; Reports</nav><main><h1>Order ${1000 + seed * 37}</h1>
<form><input id="field" size="60"> <button>Save</button><div id="menu">Ship<br>Return<br>Archive<br>Print</div></form>
<div id="spinner"></div><div id="result"></div>${Array.from({ length: 30 }, (_, i) => `<p>${words(seed * 100 + i, 60)}</p>`).join('')}</main>`;

const STEPS = [
  [(browser) => browser.run('scrollTo(0, 400)'), 7000],
  [(browser) => browser.run('scrollTo(0, 0)'), 4000],
  [async (browser) => {
    await browser.run('document.querySelector("#field").focus()');
    for (const letter of SENTENCE) {
      await browser.run(`void (document.querySelector("#field").value += ${JSON.stringify(letter)})`);
      await sleep(40);
    }
  }, 6000],
  [(browser) => browser.run('document.querySelector("#menu").style.display = "block"'), 8000],
  [(browser) => browser.run('document.querySelector("#menu").style.display = "none", document.querySelector("#spinner").style.display = "block"'), 4000],
  [(browser) => browser.run(`document.querySelector("#spinner").style.display = "none", document.querySelector("#result").innerHTML =
    "<table>" + Array.from({ length: 6 }, (_, i) => "<tr><td>" + i + "<td>parcel<td>sent<td>" + i * 37 + "</tr>").join("") + "</table>"`), 9000],
];

async function work(browser, base, end) {
  for (let i = 1; performance.now() < end; i++) {
    const next = Math.min(end, performance.now() + 60000);
    await browser.goto(`${base}/${i}`);
    await sleep(8000); // it reads
    for (const [step, thinkMs] of STEPS) {
      if (performance.now() > end) break;
      await step(browser);
      await sleep(thinkMs);
    }
    await sleep(Math.max(0, next - performance.now()));
  }
}

await inBox(async (box) => {
  const server = await box.startXvfb(SIZE);
  const pages = http.createServer((request, reply) => {
    reply.setHeader('Content-Type', 'text/html');
    reply.end(page(Number(request.url.slice(1)) || 0));
  }).listen(0, '127.0.0.1');
  box.onClose(() => { pages.close(); pages.closeAllConnections(); });
  await once(pages, 'listening');
  const base = `http://127.0.0.1:${pages.address().port}`;
  const browser = await Chromium.start(box, { keepsHead: true, env: server.env, args: ['--window-position=0,0'], ...SIZE });
  await browser.goto(`${base}/0`);
  await waitFor('the page', () => browser.run('document.querySelectorAll("p").length > 20').catch(() => false), 20000, 100);
  await sleep(2000);

  const names = argument('--only')?.split(',') ?? Object.keys(RECORDERS);
  const runs = [];
  for (const name of names) {
    const file = box.file(`${name}.mp4`);
    const recording = await RECORDERS[name](box, server, file);
    runs.push({ name, file, recording, before: cpuMs(recording.pid), from: performance.now() });
  }
  await work(browser, base, performance.now() + SECONDS * 1000);
  for (const run of runs) run.cores = (cpuMs(run.recording.pid) - run.before) / (performance.now() - run.from);
  const results = {};
  for (const { name, file, recording, cores } of runs) {
    await recording.stop();
    const lasted = (performance.now() - recording.start) / 1000;
    results[name] = { cores, rate: fs.statSync(file).size / lasted / 1000 };
    console.log(`  ${name.padEnd(14)} ${cores.toFixed(4)} cores  ${results[name].rate.toFixed(2).padStart(8)} kB/s  ${(fs.statSync(file).size / 1e6).toFixed(2)} MB in ${lasted.toFixed(0)} s`);
  }
  printRatios(results);
});
