// SPDX-License-Identifier: GPL-2.0-or-later
//
// The page inside of an app of another origin, as docs/embedding.md says.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { boxTest, root, waitFor } from './harness.mjs';
import { openTakeover, startPeople } from './page.mjs';

/** The sample's own allow=. */
const ALLOW = fs.readFileSync(path.join(root, 'docs/embedding.md'), 'utf8').match(/allow="([^"]+)"/)[1];

async function startApp(box) {
  const server = http.createServer((request, reply) => {
    const link = new URL(request.url, 'http://x').searchParams.get('link');
    reply.setHeader('Content-Type', 'text/html');
    reply.end(`<!doctype html><title>app</title><script>window.heard = [];
      addEventListener('message', ({ origin, data }) => heard.push({ origin, ...data }));</script>
      <iframe src="${link}" allow="${ALLOW}" style="width:390px;height:600px"></iframe>`);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  box.onClose(() => { server.closeAllConnections(); server.close(); });
  return `http://127.0.0.1:${server.address().port}`;
}

boxTest('an app of a configured origin shows the page and is told; one of another is not', async (box) => {
  const app = await startApp(box);
  const stranger = await startApp(box);
  const { daemon } = await box.startScreen({ daemon: { args: ['--frame-ancestors', app] } });
  const people = await startPeople(box);
  const page = await people.newPage();
  const { url } = await openTakeover(daemon);
  const token = new URL(url).searchParams.get('t');
  await page.goto(`${stranger}/?link=${encodeURIComponent(url)}`);
  await waitFor('the browser to refuse', () => page.frames().length > 1 && /^chrome-error/.test(page.frames()[1].url()), 10000, 50);
  assert.deepEqual(await page.evaluate(() => window.heard), []);
  await page.goto(`${app}/?link=${encodeURIComponent(url)}`);
  const heard = () => page.evaluate(() => window.heard);
  const types = async () => (await heard()).map(({ type }) => type);
  await waitFor('ready', async () => (await types()).includes('ready'), 10000, 50);
  const frame = page.frameLocator('iframe');
  await frame.locator('#card-take').click();
  await waitFor('connected', async () => (await types()).includes('connected'), 10000, 50);
  await frame.locator('#hand-back').click();
  await frame.locator('#dialog input[value=other]').check();
  await frame.locator('#hand-back-confirm').click();
  await waitFor('handed_back', async () => (await types()).includes('handed_back'), 10000, 50);
  assert.deepEqual(await types(), ['ready', 'connected', 'handed_back']);
  const { origin } = new URL(daemon.url);
  for (const message of await heard()) {
    assert.deepEqual([message.source, message.version, message.origin], ['boxscreen', 1, origin]);
    assert(Object.keys(message).every((name) => ['origin', 'source', 'version', 'type', 'outcome'].includes(name)));
  }
  assert.equal((await heard()).at(-1).outcome, 'other');
  assert(!JSON.stringify(await heard()).includes(token));
  // A link that is not valid (any more).
  await page.goto(`${app}/?link=${encodeURIComponent(url)}`);
  await waitFor('expired', async () => (await types()).includes('expired'), 10000, 50);
}, { timeout: 120000 });

boxTest('WebViews are told through their own doors', async (box) => {
  const { daemon } = await box.startScreen();
  const people = await startPeople(box);
  const page = await people.newPage();
  await page.addInitScript(() => {
    window.heard = [];
    window.boxscreenHost = { postMessage: (text) => window.heard.push(['android', JSON.parse(text).type]) };
    window.webkit = { messageHandlers: { boxscreen: { postMessage: ({ type }) => window.heard.push(['ios', type]) } } };
  });
  await page.goto((await openTakeover(daemon)).url);
  await waitFor('ready', () => page.evaluate(() => window.heard.length >= 2), 10000, 50);
  assert.deepEqual(await page.evaluate(() => window.heard), [['android', 'ready'], ['ios', 'ready']]);
});
