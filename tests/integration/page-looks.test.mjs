// SPDX-License-Identifier: GPL-2.0-or-later
//
// Every state of the page, on a phone and a desktop, light and dark: nothing that axe-core finds against
// WCAG 2.2 A and AA, nothing cut off at 320 px or 200 %. With BOXSCREEN_PICTURES=FOLDER also a picture
// of each at the sizes of docs/pictures (needs pngquant: tests/bench/packages.txt).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { describe } from 'node:test';
import { boxTest, waitFor } from './harness.mjs';
import { openState, STATES } from './page-states.mjs';
import { openTakeover, PIXEL, startPeople, Visitor } from './page.mjs';

const require = createRequire(import.meta.url);
const AXE = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const SIZES = { phone: [390, 664], keyboard: [390, 364], sideways: [750, 340], desktop: [1280, 800] };
const TYPING = ['typing', 'password'];
const SCHEMES = { phone: ['dark', 'light'], desktop: ['light'] };
const DARK = ['invite', 'control', 'handed_back']; // the others look as these do
const pictures = process.env.BOXSCREEN_PICTURES;

/** What axe finds, in words. */
export async function audit(run) {
  return run(async (rules) => {
    const { violations } = await window.axe.run(document, { runOnly: rules, resultTypes: ['violations'] });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`));
  }, RULES);
}

/** Controls that are cut off or too small, text that is hidden: nothing may be lost at that size. */
function findLost() {
  const lost = [];
  const { innerWidth: width, innerHeight: height } = window;
  if (document.documentElement.scrollWidth > width) lost.push('scrolls sideways');
  for (const each of document.querySelectorAll('button, input, textarea:not(#keys-field), #status, #countdown')) {
    const box = each.getBoundingClientRect();
    if (box.width === 0 || each.closest('[hidden]') || !each.checkVisibility()) continue;
    const name = each.id || each.getAttribute('aria-label') || each.textContent;
    // What scrolls may reach beyond what is seen.
    const scroller = each.closest('.sheet-body, #tools, dialog, #card, #steps-list');
    if (box.left < -1 || box.right > width + 1) lost.push(`${name} is cut off: ${box.left} to ${box.right}`);
    if (!scroller && (box.top < -1 || box.bottom > height + 1)) lost.push(`${name} is cut off: ${box.top} to ${box.bottom} of ${height}`);
    if (each.tagName === 'BUTTON' && (box.width < 43.5 || box.height < 43.5)) lost.push(`${name} is small: ${box.width}×${box.height}`);
  }
  // The note and what is to be done about it are seen without scrolling.
  for (const each of document.querySelectorAll('#note-text, #card-take, .card-box h2')) {
    const box = each.getBoundingClientRect();
    if (box.width === 0 || document.querySelector('dialog[open]') || height < 360) continue;
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + Math.min(box.height / 2, 20));
    if (!top || !(each.contains(top) || top.contains(each))) lost.push(`${each.id || each.textContent} is covered`);
  }
  return lost;
}

async function startLooks(box) {
  const { daemon, env } = await box.startScreen();
  await box.paint(env, 'window', 0, 0, 1280, 800, '334155');
  await box.paint(env, 'window', 60, 40, 760, 620, 'eef2f7');
  box.spawn('xterm', ['-geometry', '80x16+560+420', '-fa', 'DejaVu Sans Mono', '-fs', '10', '-e', 'sh', '-c',
    'printf "Good morning.\\n\\nUser name: zoe\\nCode from your phone: "; exec sleep 600'], { env });
  await daemon.request('GET', '/v1/shot?wait=stable&quiet_ms=300&timeout_ms=5000');
  const people = await startPeople(box);
  const open = async (link, script) => {
    const visitor = await Visitor.open(people, link, { device: { ...PIXEL, deviceScaleFactor: 1 },
      reducedMotion: 'reduce', script, waits: false });
    const { page } = visitor;
    return { page, run: (fn, arg) => page.evaluate(fn, arg), click: (selector) => page.click(selector),
      waitFor: (selector) => page.locator(selector).first().waitFor({ timeout: 15000 }), type: (selector, text) => page.fill(selector, text),
      close: () => visitor.close() };
  };
  return { daemon, open };
}

/* The page's policy keeps scripts out; what the debugger evaluates is not asked. */
const LOAD_AXE = `${AXE}; undefined`;

async function savePicture(page, name, size, scheme) {
  fs.mkdirSync(pictures, { recursive: true });
  const file = path.join(pictures, `page-${name}-${size}${scheme === 'dark' ? '-dark' : ''}.png`);
  // Few colours: a hundred pictures in some hundred kB.
  fs.writeFileSync(file, execFileSync('pngquant', ['--speed', '1', '--nofs', '16', '-'], { input: await page.screenshot() }));
}

/** A busy machine needs a moment until all has its new place. */
async function expectAllSeen(run, where) {
  let lost;
  await waitFor('all to be seen', async () => (lost = await run(findLost)).length === 0, 5000, 100).catch(() => {});
  assert.deepEqual(lost, [], where);
}

async function lookAt(state, { page, run }) {
  const isTyping = TYPING.includes(state);
  const resize = async (width, height) => {
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(60);
    if (isTyping) await page.focus('#compose-field');
    await expectAllSeen(run, `${state}, ${width}×${height}`);
  };
  await run(LOAD_AXE);
  for (const [size, [width, height]] of Object.entries(SIZES)) {
    await resize(width, isTyping && size === 'sideways' ? 160 : height);
    for (const scheme of SCHEMES[size] ?? []) {
      await page.emulateMedia({ colorScheme: scheme });
      assert.deepEqual(await audit(run), [], `${state}, ${size}, ${scheme}`);
      if (pictures && scheme === 'dark' && DARK.includes(state)) await savePicture(page, state, size, scheme);
    }
    if (pictures) await savePicture(page, state, size, 'light');
  }
  // 35: whatever the keyboard leaves. 43: narrow, and 1280×800 at 200 %.
  for (const [width, height] of [[320, 568], [640, 400], ...(isTyping ? [[390, 464], [390, 300], [390, 200]] : [])])
    await resize(width, height);
}

const names = Object.keys(STATES);

describe('41 43: every state of the page, light and dark', { concurrency: 4 }, () => {
  for (const part of [0, 1, 2]) {
    boxTest(`part ${part + 1}`, async (box, t) => {
      const { daemon, open } = await startLooks(box);
      for (const name of names.filter((_, i) => i % 3 === part)) {
        await t.test(name, async () => {
          const opened = await openState(name, daemon, open);
          try {
            await lookAt(name, opened.page);
          } finally {
            await opened.close();
          }
        });
      }
    }, { timeout: 240000 });
  }

  boxTest('words: Japanese for who reads it, English for others; a token behind # as well', async (box) => {
    const { daemon } = await box.startScreen();
    const people = await startPeople(box);
    for (const [locale, language, word] of [['ja-JP', 'ja', '引き継ぐ'], ['de-DE', 'en', 'Take over']]) {
      const { url } = await openTakeover(daemon);
      const visitor = await Visitor.open(people, url.replace('?t=', '#t='), { locale });
      assert.equal(await visitor.page.textContent('#card-take'), word);
      assert.equal(await visitor.page.getAttribute('html', 'lang'), language);
      assert.equal(await visitor.page.evaluate(() => location.hash), '');
      await visitor.takeOver();
      await expectAllSeen((look) => visitor.page.evaluate(look), locale);
      await visitor.expectClean();
      await visitor.handBack();
    }
  });
});
