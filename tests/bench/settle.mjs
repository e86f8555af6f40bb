// SPDX-License-Identifier: GPL-2.0-or-later
//
// node tests/bench/settle.mjs [--rounds N] [--keep FOLDER]: what an agent's steps cost in Chromium. Three jobs (a
// form, drag and drop, a page that is slow to come), done with the same steps in two ways in one run: POST /v1/act with
// shot:{changed_only:true}, and as it is usually done, xdotool, `sleep 2`, a screenshot of all by scrot; when the page is
// not there yet, another sleep and screenshot. Prints calls, bytes and pixels of pictures (an agent pays about one token for 750
// pixels) and seconds, medians of the rounds, and the ratios. BOXSCREEN_BUILD names the build.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chromium } from '../integration/browsers.mjs';
import { act } from '../integration/desk.mjs';
import { waitFor } from '../integration/harness.mjs';
import { argument, inBox, SIZE } from './bench.mjs';

const ROUNDS = Number(argument('--rounds') ?? 3);
const FORM_MS = 60, SLOW_MS = 2500;
/** Between steps an agent thinks, in both ways: not measured. */
const THINK_MS = 700;

const words = 'quiet river stone lantern harbour meadow copper window thread garden silver orchard'.split(' ');
const paragraph = (seed) => Array.from({ length: 60 }, (_, i) => words[(i * 7 + seed * 5 + i * i) % words.length]).join(' ');
const frame = (title, body) => `<!doctype html><meta charset=utf-8><title>${title}</title>
<style>body{font:15px sans-serif;margin:0;display:grid;grid-template-columns:1fr 420px;color:#222}main{padding:20px}
aside{background:#eef2f6;padding:20px;font-size:13px}input,select,button{font:inherit;padding:6px;margin:4px 0 12px;width:320px;display:block}
.column{float:left;width:200px;min-height:260px;margin-right:20px;padding:10px;background:#dde6ef}
.card{padding:14px;margin:8px 0;background:#fff;border:1px solid #9ab;border-radius:6px}</style>
<main>${body}</main><aside>${[1, 2, 3, 4].map((i) => `<h3>Note ${i}</h3><p>${paragraph(i)}</p>`).join('')}</aside>`;

const PAGES = {
  '/form': frame('form', `<h1>Order</h1><form id=form autocomplete=off><label>Name<input id=name></label><label>Town<input id=town></label>
    <label>Mail<input id=mail></label><button id=send>Send</button></form><p id=result></p><p>${paragraph(9)}</p>
    <script>form.onsubmit = async (event) => { event.preventDefault();
      result.textContent = await (await fetch('/order', { method: 'POST' })).text(); };</script>`),
  '/board': frame('board', `<h1>Board</h1><div class=column id=todo><b>To do</b><div class=card id=one draggable=true>Write it down</div>
    <div class=card id=two draggable=true>Send the letter</div></div><div class=column id=done><b>Done</b></div>
    <script>for (const card of document.querySelectorAll('.card'))
      card.ondragstart = (event) => event.dataTransfer.setData('text', card.id);
    done.ondragover = (event) => event.preventDefault();
    done.ondrop = (event) => { event.preventDefault(); done.append(document.getElementById(event.dataTransfer.getData('text'))); };</script>`),
  '/links': frame('links', `<h1>Reports</h1><p><a id=link href=/report>The yearly report</a></p><p>${paragraph(3)}</p>`),
  '/report': frame('report', `<h1>The yearly report</h1><p>${paragraph(4)}</p><p>${paragraph(5)}</p><p>${paragraph(6)}</p>`),
};

/** Each job: the page it begins on, its steps, and what the page says when it is done. */
const fill = (id, text) => ({ click: id, type: text });
const JOBS = {
  'fill a form': { page: '/form', isDone: 'result.textContent === "Thank you"',
    steps: [fill('name', 'Ada Lovelace'), fill('town', 'London'), fill('mail', 'ada@example.org'), { click: 'send' }] },
  'drag and drop': { page: '/board', isDone: 'done.querySelectorAll(".card").length === 2',
    steps: [{ drag: ['one', 'done'] }, { drag: ['two', 'done'] }] },
  'wait for a slow page': { page: '/links', isDone: 'document.title === "report" && document.readyState === "complete"',
    steps: [{ click: 'link' }] },
};

async function startServer(box) {
  const server = http.createServer((request, reply) => {
    reply.setHeader('Content-Type', 'text/html; charset=utf-8');
    reply.setHeader('Cache-Control', 'no-store');
    if (request.method === 'POST') setTimeout(() => reply.end('Thank you'), FORM_MS);
    else setTimeout(() => reply.end(PAGES[request.url] ?? ''), request.url === '/report' ? SLOW_MS : 0);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  box.onClose(() => { server.closeAllConnections(); server.close(); });
  return `http://127.0.0.1:${server.address().port}`;
}

/** Where the middle of an element is on the screen. */
const middle = (browser, id) => browser.run(`(() => { const r = document.getElementById('${id}').getBoundingClientRect();
  return [screenX + (outerWidth - innerWidth) / 2 + r.left + r.width / 2, screenY + outerHeight - innerHeight + r.top + r.height / 2].map(Math.round); })()`);

/** The step with points for names. */
async function place(browser, step) {
  if (step.drag) return { drag: [await middle(browser, step.drag[0]), await middle(browser, step.drag[1])] };
  return { click: await middle(browser, step.click), type: step.type };
}

const keep = (name, data) => {
  if (argument('--keep')) fs.writeFileSync(`${argument('--keep')}/${name}.png`, data);
};

/** boxscreen: one call a step. */
function ownWay(daemon) {
  return async (step, label) => {
    const actions = step.drag ? [{ type: 'drag', path: step.drag }]
      : [{ type: 'click', x: step.click[0], y: step.click[1] }, ...(step.type ? [{ type: 'type', text: step.type }] : [])];
    const { shot, settled_at_ms: settled } = await act(daemon, actions, { settle: { timeout_ms: 10000 }, shot: { changed_only: true } });
    if (settled === null) console.log(`# ${label}: not quiet`);
    if (shot === 'unchanged') return { bytes: 0, pixels: 0 };
    const data = Buffer.from(shot.base64, 'base64');
    keep(`${label}-own`, data);
    return { bytes: data.length, pixels: shot.width * shot.height };
  };
}

/** Chromium sees a drag when it comes in steps. */
function dragChain([from, to]) {
  const at = (part) => ['mousemove', ...from.map((v, i) => Math.round(v + (to[i] - v) * part)), 'sleep', '0.03'];
  return ['mousemove', ...from, 'mousedown', '1', ...[0.05, 0.2, 0.4, 0.6, 0.8, 0.99, 1].flatMap(at), 'mouseup', '1'];
}

/** The usual way: without a step it only waits and looks. */
function usualWay(box, env) {
  return async (step, label) => {
    const file = box.file('usual.png');
    fs.rmSync(file, { force: true });
    const chain = !step ? null
      : step.drag ? dragChain(step.drag)
        : ['mousemove', ...step.click, 'click', '1', ...(step.type ? ['type', step.type] : [])];
    if (chain) await box.ok('xdotool', chain.map(String), { env });
    await sleep(2000);
    await box.ok('scrot', [file], { env });
    keep(`${label}-usual`, fs.readFileSync(file));
    return { bytes: fs.statSync(file).size, pixels: SIZE.width * SIZE.height };
  };
}

async function runJob(browser, base, name, way, isUsual) {
  const job = JOBS[name];
  await browser.goto(base + job.page);
  await waitFor(job.page, () => browser.run(`location.pathname === '${job.page}' && document.readyState === 'complete'`).catch(() => false), 20000);
  const total = { calls: 0, bytes: 0, pixels: 0, seconds: 0 };
  const step = async (what) => {
    await sleep(THINK_MS);
    const from = performance.now();
    const { bytes, pixels } = await way(what, `${name.replaceAll(' ', '-')}-${total.calls}`);
    total.seconds += (performance.now() - from) / 1000;
    total.calls++;
    total.bytes += bytes;
    total.pixels += pixels;
  };
  for (const each of job.steps) await step(await place(browser, each));
  // While the next page is on its way, the browser answers nothing at all.
  const isDone = () => Promise.race([browser.run(`Boolean(${job.isDone})`).catch(() => false), sleep(100)]);
  for (let i = 0; i < 5 && isUsual && !(await isDone()); i++) await step(null);
  assert(await isDone(), `${name} is not done`);
  return total;
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const medians = (runs) => Object.fromEntries(Object.keys(runs[0]).map((key) => [key, median(runs.map((run) => run[key]))]));
const cells = ({ calls, bytes, pixels, seconds }) => `${calls} · ${(bytes / 1000).toFixed(1)} kB · ${Math.round(pixels / 750)} · ${seconds.toFixed(2)} s`;

function print(results) {
  console.log('| job | boxscreen | click, sleep 2, scrot | image bytes | seconds |\n| --- | --- | --- | --- | --- |');
  const sum = { own: {}, usual: {} };
  for (const [name, { own, usual }] of Object.entries(results)) {
    console.log(`| ${name} | ${cells(own)} | ${cells(usual)} | ${(usual.bytes / own.bytes).toFixed(1)}× fewer | ${(usual.seconds / own.seconds).toFixed(1)}× fewer |`);
    for (const key of Object.keys(own)) {
      sum.own[key] = (sum.own[key] ?? 0) + own[key];
      sum.usual[key] = (sum.usual[key] ?? 0) + usual[key];
    }
  }
  console.log(`| all | ${cells(sum.own)} | ${cells(sum.usual)} | ${(sum.usual.bytes / sum.own.bytes).toFixed(1)}× fewer | ${(sum.usual.seconds / sum.own.seconds).toFixed(1)}× fewer |`);
}

await inBox(async (box) => {
  const { daemon, env } = await box.startScreen(SIZE);
  const base = await startServer(box);
  const browser = await Chromium.start(box, { keepsHead: true, env, args: ['--window-position=0,0', '--test-type'], ...SIZE });
  const ways = { own: ownWay(daemon), usual: usualWay(box, env) };
  const results = {};
  for (const name of Object.keys(JOBS)) {
    const runs = { own: [], usual: [] };
    for (let i = 0; i < ROUNDS; i++)
      for (const [kind, way] of Object.entries(ways)) runs[kind].push(await runJob(browser, base, name, way, kind === 'usual'));
    results[name] = { own: medians(runs.own), usual: medians(runs.usual) };
  }
  print(results);
});
