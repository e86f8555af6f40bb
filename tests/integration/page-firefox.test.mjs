// SPDX-License-Identifier: GPL-2.0-or-later
//
// The page in Firefox: a whole pass, and axe-core in the states on the way.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { describe } from 'node:test';
import puppeteer from 'puppeteer-core';
import { expectNoneHeld, startTerminal } from './desk.mjs';
import { boxTest, patience, waitFor } from './harness.mjs';
import { getTakeover, openTakeover } from './page.mjs';
import { openState, STATES } from './page-states.mjs';

const require = createRequire(import.meta.url);
const AXE = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

async function startFirefox(box, { width = 1280, height = 800 } = {}) {
  const browser = await puppeteer.launch({ browser: 'firefox', executablePath: '/usr/bin/firefox-esr', headless: true,
    timeout: 60000 * patience, userDataDir: fs.mkdtempSync(box.file('firefox.')), extraPrefsFirefox: { 'layout.css.prefers-color-scheme.content-override': 1, 'ui.prefersReducedMotion': 1 } });
  box.onClose(() => browser.close());
  const open = async (link, script) => {
    const page = await browser.newPage();
    await page.setViewport({ width, height });
    const faults = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => { if (message.type() === 'error') faults.push(message.text()); });
    page.on('dialog', (dialog) => dialog.accept());
    if (script) await page.evaluateOnNewDocument(script);
    await page.goto(link);
    return { page, faults, run: (fn, arg) => page.evaluate(fn, arg), click: (selector) => page.click(selector),
      waitFor: (selector) => page.waitForSelector(selector, { timeout: 15000 * patience }), type: (selector, text) => page.type(selector, text),
      close: () => page.close({ runBeforeUnload: false }) };
  };
  return { open };
}

const phase = (page) => page.evaluate(() => document.body.dataset.phase);

// Those that take no waiting for; all of them are looked at in Chromium.
const names = Object.keys(STATES).filter((each) => each !== 'asleep');

async function audit(page, name) {
  await page.evaluate(AXE);
  // What a desktop has besides: the panel.
  for (const [width, height] of [[390, 664], ...(['control', 'messages'].includes(name) ? [[1280, 800]] : [])]) {
    await page.setViewport({ width, height });
    const found = await page.evaluate(async () => {
      const { violations } = await window.axe.run(document, { resultTypes: ['violations'],
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
      return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`));
    });
    assert.deepEqual(found, [], `${width}×${height}`);
  }
}

describe('Firefox', { concurrency: 3 }, () => {
  boxTest('note, take over, type, click, chord, reload, hand back', async (box) => {
    const { daemon, env } = await box.startScreen();
    const terminal = await startTerminal(box, daemon);
    const takeover = await openTakeover(daemon);
    const { open } = await startFirefox(box);
    const { page, faults } = await open(takeover.url);
    await page.waitForSelector('#card-take');
    assert.equal(await page.evaluate(() => location.search + location.hash), '');
    await page.keyboard.press('Enter'); // the focus is on Take over
    await waitFor('control', async () => await phase(page) === 'control', 15000, 50);
    await page.waitForSelector('#keys-field');
    await page.focus('#keys-field');
    await page.keyboard.type('héllo');
    await page.keyboard.press('Enter');
    await page.keyboard.down('Control');
    await page.keyboard.press('a');
    await page.keyboard.up('Control');
    await terminal.expect('héllo\n\u0001');
    await page.click('#type-button');
    await page.type('#compose-field', 'Grüße 日本 😀');
    await page.click('#insert');
    await terminal.expect('Grüße 日本 😀');
    const at = await page.evaluate(() => {
      const { left, top, width } = document.querySelector('#frame canvas').getBoundingClientRect();
      return { left, top, scale: width / 1280 };
    });
    await page.mouse.click(at.left + 640.5 * at.scale, at.top + 400.5 * at.scale);
    await waitFor('the pointer', async () => {
      const [, x, y] = (await box.ok('xinput', ['query-state', 'Virtual core XTEST pointer'], { env }))
        .match(/valuator\[0\]=(\d+)[^]*valuator\[1\]=(\d+)/);
      return Math.abs(x - 640) <= 1 && Math.abs(y - 400) <= 1;
    }, 5000, 50);
    await expectNoneHeld(box, env);
    assert.equal((await daemon.json('GET', '/v1/status')).viewers[0].role, 'control');
    await page.reload();
    await waitFor('control again', async () => await phase(page) === 'control', 15000, 50);
    await page.click('#hand-back');
    await page.waitForSelector('#hand-back-message');
    await page.type('#hand-back-message', 'All done');
    await page.click('#hand-back-confirm');
    await waitFor('the end', async () => await phase(page) === 'handed_back', 10000, 50);
    assert.equal((await getTakeover(daemon, takeover)).message, 'All done');
    assert.deepEqual(faults, []);
  }, { timeout: 180000 });

  for (const part of [0, 1]) {
    boxTest(`41: axe finds nothing, part ${part + 1}`, async (box, t) => {
      const { daemon, env } = await box.startScreen();
      await box.paint(env, 'pattern', 3);
      const { open } = await startFirefox(box, { width: 390, height: 664 });
      for (const name of names.filter((_, i) => i % 2 === part)) {
        await t.test(name, async () => {
          const opened = await openState(name, daemon, open);
          try {
            await audit(opened.page.page, name);
          } finally {
            await opened.close();
          }
        });
      }
    }, { timeout: 240000 });
  }
});
