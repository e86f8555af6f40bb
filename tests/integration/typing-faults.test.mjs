// SPDX-License-Identifier: GPL-2.0-or-later
//
// Text while others interfere: programs that freeze or die in the middle of it, other clients that
// press, let go of or change keys meanwhile.
import assert from 'node:assert/strict';

import { boxTest, waitFor } from './harness.mjs';
import { act, heldDown, locks, startBrowser, startTerminal } from './desk.mjs';

const after = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const post = (daemon, actions) => daemon.request('POST', '/v1/act', { body: { actions }, timeoutMs: 60000 });
const paste = (text) => [{ type: 'type', text, via: 'paste' }];

/** Chromium's main process, the one that X talks to. Returns what lets it go on. */
function stopBrowser(page) {
  process.kill(page.browser.pid, 'SIGSTOP');
  return () => process.kill(page.browser.pid, 'SIGCONT');
}

const setClipboard = (daemon, text) => daemon.request('PUT', '/v1/clipboard', { body: text,
  headers: { 'Content-Type': 'text/plain; charset=utf-8' } });

boxTest('a paste into a program that stood still for 8 s goes in once', async (box) => {
  const { server, daemon } = await box.startScreen();
  const page = await startBrowser(box, daemon);
  assert((await setClipboard(daemon, 'OLD')).status < 300);
  const resume = stopBrowser(page);
  const pending = post(daemon, paste('NEW'));
  await after(8000);
  resume();
  const reply = await pending;
  assert.equal(reply.status, 200, reply.body.toString());
  await page.expect('NEW');
  await after(2000); // what comes too much
  await page.expect('NEW');
  assert.equal((await daemon.request('GET', '/v1/clipboard')).body.toString(), 'OLD');
  assert.deepEqual(await heldDown(box, server.env), []);
});

for (const [name, isKeyOut] of [['before the paste key', false], ['with the paste key in its queue', true]]) {
  boxTest(`nothing goes in after an error: a program that stands still ${name}`, async (box) => {
    const { daemon } = await box.startScreen();
    const page = await startBrowser(box, daemon);
    assert((await setClipboard(daemon, 'OLD')).status < 300);
    let resume, pending;
    if (isKeyOut) {
      // An owner that does not answer keeps the daemon 300 ms between its look at the program and the key.
      const owner = box.spawn('xclip', ['-selection', 'primary', '-quiet', '-i', '/dev/null'], { env: daemon.env });
      await waitFor('the owner', async () => (await box.run('xclip', ['-selection', 'primary', '-o', '-t', 'TARGETS'],
        { env: daemon.env })).status === 0);
      owner.process.kill('SIGSTOP');
      box.onClose(() => owner.process.kill('SIGCONT'));
      pending = post(daemon, paste('NEW'));
      await after(200);
      resume = stopBrowser(page);
    } else {
      resume = stopBrowser(page);
      pending = post(daemon, paste('NEW'));
    }
    const reply = await pending;
    assert.equal(reply.status, 504, reply.body.toString());
    console.log(`# ${reply.json().message}`);
    resume();
    await after(4000);
    await page.expect('');
    // And a paste after that works, once.
    await act(daemon, paste('AGAIN'));
    await page.expect('AGAIN');
    await after(1000);
    await page.expect('AGAIN');
  });
}
