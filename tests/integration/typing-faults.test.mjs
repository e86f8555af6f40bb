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

const setClipboard = (daemon, text, selection = 'clipboard') =>
  daemon.request('PUT', `/v1/clipboard?selection=${selection}`, { body: text,
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

boxTest('nothing goes in after an error: a program that stands still before the paste key', async (box) => {
  const { daemon } = await box.startScreen();
  const page = await startBrowser(box, daemon);
  assert((await setClipboard(daemon, 'OLD')).status < 300);
  const resume = stopBrowser(page);
  const reply = await post(daemon, paste('NEW'));
  assert.equal(reply.status, 504, reply.body.toString());
  resume();
  await after(4000);
  await page.expect('');
  await act(daemon, paste('AGAIN'));
  await page.expect('AGAIN');
  await after(1000); // what comes too much
  await page.expect('AGAIN');
});

boxTest('nothing goes in after an error: a program that stands still with the paste key in its queue', async (box) => {
  const { daemon } = await box.startScreen();
  const terminal = await startTerminal(box, daemon);
  // An owner that does not answer keeps the daemon 300 ms between its look at the program and the key.
  const owner = box.spawn('xclip', ['-selection', 'clipboard', '-quiet', '-i', '/dev/null'], { env: daemon.env });
  await waitFor('the owner', async () => (await box.run('xclip', ['-selection', 'clipboard', '-o', '-t', 'TARGETS'],
    { env: daemon.env })).status === 0);
  owner.process.kill('SIGSTOP');
  box.onClose(() => owner.process.kill('SIGCONT'));
  assert((await setClipboard(daemon, 'OLD', 'primary')).status < 300);
  const pending = post(daemon, paste('NEW'));
  await after(150);
  terminal.terminal.process.kill('SIGSTOP');
  const reply = await pending;
  terminal.terminal.process.kill('SIGCONT');
  assert.equal(reply.status, 504, reply.body.toString());
  assert.match(reply.json().message, /did not fetch/);
  await after(1000);
  assert.equal(terminal.read(), '');
  await act(daemon, paste('AGAIN'));
  await terminal.expect('AGAIN');
  assert.equal((await daemon.request('GET', '/v1/clipboard?selection=primary')).body.toString(), 'OLD');
});

const SLOW = 'the quick brown fox jumps over it '.repeat(2);
const slowly = (text, delay_ms = 25) => [{ type: 'type', text, delay_ms }];
/** Types with `before`, `during` and (when something is left down) `afterwards` done by another client. */
async function typeBeside(box, { before, during, expectDown = [], afterwards }) {
  const { server, daemon } = await box.startScreen();
  const terminal = await startTerminal(box, daemon);
  const xdotool = (args) => box.ok('xdotool', args, { env: server.env });
  if (before) await xdotool(before);
  const pending = post(daemon, slowly(SLOW));
  for (const [at, args] of during) {
    await waitFor(`${at} characters`, () => terminal.read().length >= at);
    await xdotool(args);
  }
  const reply = await pending;
  assert.equal(reply.status, 200, reply.body.toString());
  await terminal.expect(SLOW);
  assert.deepEqual(await heldDown(box, server.env), expectDown);
  if (afterwards) await xdotool(afterwards);
  assert.deepEqual(await heldDown(box, server.env), []);
  assert.deepEqual(await heldDown(box, server.env), []);
  return { server, daemon };
}

const CONTROL = 'key[37]=down', SHIFT = 'key[50]=down';

boxTest('I17: a modifier of another client that stays held is held again after the text', (box) =>
  typeBeside(box, { before: ['keydown', 'Control_L'], during: [], expectDown: [CONTROL], afterwards: ['keyup', 'Control_L'] }));

boxTest('I17: a modifier that another client lets go of during the text stays up', (box) =>
  typeBeside(box, { before: ['keydown', 'Control_L'], during: [[20, ['keyup', 'Control_L']]] }));

boxTest('I17: let go of and pressed again during the text, it is held afterwards', (box) =>
  typeBeside(box, { before: ['keydown', 'Control_L'],
    during: [[15, ['keyup', 'Control_L']], [30, ['keydown', 'Control_L']]],
    expectDown: [CONTROL], afterwards: ['keyup', 'Control_L'] }));

boxTest('a modifier that another client presses and lets go of during the text is out of the way', (box) =>
  typeBeside(box, { during: [[15, ['keydown', 'Control_L']], [35, ['keyup', 'Control_L']]] }));

boxTest('a modifier that another client presses during the text and holds is held afterwards', (box) =>
  typeBeside(box, { during: [[15, ['keydown', 'Control_L']]], expectDown: [CONTROL], afterwards: ['keyup', 'Control_L'] }));

boxTest('I17: Shift, which the text needs itself', async (box) => {
  const { server, daemon } = await box.startScreen();
  const terminal = await startTerminal(box, daemon);
  await box.ok('xdotool', ['keydown', 'Shift_L'], { env: server.env });
  const text = 'AbC?dEf!'.repeat(8);
  const pending = post(daemon, slowly(text));
  await waitFor('some text', () => terminal.read().length >= 20);
  await box.ok('xdotool', ['keyup', 'Shift_L'], { env: server.env });
  assert.equal((await pending).status, 200);
  await terminal.expect(text);
  assert.deepEqual(await heldDown(box, server.env), []);
  await box.ok('xdotool', ['keydown', 'Shift_L'], { env: server.env });
  await act(daemon, [{ type: 'type', text: text.repeat(20) }]);
  await terminal.expect(text.repeat(20));
  assert.deepEqual(await heldDown(box, server.env), [SHIFT]);
  await box.ok('xdotool', ['keyup', 'Shift_L'], { env: server.env });
});

boxTest('Caps Lock that another client switches on during the text is neutralised, and on afterwards', async (box) => {
  const { server } = await typeBeside(box, { during: [[15, ['key', 'Caps_Lock']]] });
  assert((await locks(box, server.env)).caps);
});

boxTest('a layout loaded while keys are on their way is told of, with how many may be wrong', async (box) => {
  const { server, daemon } = await box.startScreen();
  const terminal = await startTerminal(box, daemon);
  terminal.terminal.process.kill('SIGSTOP');
  const pending = post(daemon, [{ type: 'type', text: 'yz'.repeat(150) }]);
  await after(400); // the first keys lie in its queue
  await box.ok('setxkbmap', ['de'], { env: server.env });
  terminal.terminal.process.kill('SIGCONT');
  const reply = await pending;
  assert.notEqual(reply.status, 200);
  assert.match(reply.json().message, /changed the keymap .* the last 256 of the 256 characters .* may be wrong/);
  await waitFor('what was sent', () => terminal.read().length === 256);
  // Between texts it is nobody's fault.
  await box.ok('setxkbmap', ['us'], { env: server.env });
  const count = terminal.read().length;
  await act(daemon, [{ type: 'type', text: 'yz'.repeat(150) }]);
  await waitFor('the text', () => terminal.read().length === count + 300);
  assert.equal(terminal.read().slice(count), 'yz'.repeat(150));
});

boxTest('the rest of a text does not go into the next window when the one under the focus dies', async (box) => {
  const { server, daemon } = await box.startScreen();
  const below = await startTerminal(box, daemon);
  const above = await startTerminal(box, daemon);
  const pending = post(daemon, slowly(SLOW));
  const isAbove = await waitFor('some text', () => (above.read().length >= 10 ? 'yes' : below.read().length >= 10 && 'no'));
  assert.equal(isAbove, 'yes', 'the newer window is above');
  above.terminal.process.kill('SIGKILL');
  const reply = await pending;
  assert.notEqual(reply.status, 200);
  assert.match(reply.json().message, /the window under the focus has gone; \d+ characters were sent/);
  assert.equal(below.read(), '');
  assert.deepEqual(await heldDown(box, server.env), []);
  await act(daemon, [{ type: 'type', text: 'on purpose' }]);
  await below.expect('on purpose');
});

boxTest('a focus that only moves does not stop a text', async (box) => {
  const { server, daemon } = await box.startScreen();
  const below = await startTerminal(box, daemon);
  const above = await startTerminal(box, daemon, { args: ['-geometry', '40x10+700+0'] });
  await act(daemon, [{ type: 'move', x: 200, y: 300 }]);
  const pending = post(daemon, slowly(SLOW));
  await waitFor('some text', () => below.read().length >= 10);
  await box.ok('xdotool', ['mousemove', '750', '50'], { env: server.env });
  const reply = await pending;
  assert.equal(reply.status, 200, reply.body.toString());
  await waitFor('the rest', () => below.read().length + above.read().length >= SLOW.length);
  assert.equal(below.read() + above.read(), SLOW);
  assert(above.read().length > 0);
});
