// SPDX-License-Identifier: GPL-2.0-or-later
//
// A browser test that runs headless by itself, and headed under boxscreen run (which sets HEADED=1):
//   boxscreen run --record failure.mp4 --keep failure -- node docs/samples/playwright.mjs
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

// playwright-core is a package of the tests; a project of its own imports it as usual.
const { chromium } = createRequire(new URL('../../tests/', import.meta.url))('playwright-core');

const isHeaded = process.env.HEADED === '1';
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', headless: !isHeaded, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage();
  await page.setContent('<label>Name <input id=who></label><button onclick="result.textContent = who.value">Save</button><p id=result></p>');
  await page.getByLabel('Name').fill('Grüße');
  await page.getByRole('button', { name: 'Save' }).click();
  assert.equal(await page.locator('#result').textContent(), 'Grüße');
  console.log(`passed, ${isHeaded ? 'headed' : 'headless'}`);
} finally {
  await browser.close();
}
