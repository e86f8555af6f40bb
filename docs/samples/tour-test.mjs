// SPDX-License-Identifier: GPL-2.0-or-later
//
// node docs/samples/tour-test.mjs ADDRESS: a headed Playwright test on the box's screen, for docs/tour.md. It signs in to the site of
// tour-site.mjs; when the site wants a code, which only a person can know, it asks one to take the screen over, and goes on
// when it is handed back. Needs boxscreen in PATH and BOXSCREEN_SOCKET, as ./start prints them.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

// playwright-core is a package of the tests; a project of its own imports it as usual.
const { chromium } = createRequire(new URL('../../tests/', import.meta.url))('playwright-core');

/** Runs boxscreen; what it prints. Its words to people, such as the link of a takeover, go on to ours. */
async function boxscreen(...args) {
  const child = spawn('boxscreen', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (data) => { text += data; });
  const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  assert.equal(status, 0, `boxscreen ${args[0]} ended with ${status}`);
  return text.trim();
}

const { display } = JSON.parse(await boxscreen('status', '--json'));
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', headless: false, slowMo: 200,
  args: ['--no-sandbox', '--test-type', '--disable-gpu', '--disable-dev-shm-usage', '--window-position=0,0', '--window-size=1280,800'],
  ignoreDefaultArgs: ['--enable-automation'], env: { ...process.env, DISPLAY: display } });
try {
  const page = await browser.newPage({ viewport: null });
  await boxscreen('record', 'mark', 'Sign in');
  await page.goto(process.argv[2]);
  await page.getByLabel('Name').pressSequentially('zoe', { delay: 50 });
  await page.getByLabel('Password').pressSequentially('a quiet lantern', { delay: 30 });
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Check your phone' }).waitFor();

  const outcome = await boxscreen('takeover', '--note', 'Harbour Books has sent a code to your phone. Please enter it.',
    'Tap the field and type the code', 'Press Confirm', 'Hand back');
  console.log(`handed back: ${outcome}`);

  await page.getByRole('heading', { name: 'Welcome back, Zoë' }).waitFor();
  await boxscreen('record', 'mark', 'The invoice');
  await page.getByRole('link', { name: 'open' }).click();
  assert.equal(await page.getByRole('row', { name: 'Total' }).innerText(), 'Total\t18.40 €');
  await page.waitForTimeout(1000); // for those who watch
  console.log('passed');
} finally {
  await browser.close();
}
