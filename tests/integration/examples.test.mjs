// SPDX-License-Identifier: GPL-2.0-or-later
//
// The vendors' computer-use loops of docs/examples: recorded tool calls go through POST /v1/act as they are. What
// they meant has happened on the page, and what the models are told has the vendors' shapes.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { boxTest, root, waitFor } from './harness.mjs';
import { readPng } from './png.mjs';

const examples = path.join(root, 'docs/examples');
const recorded = (name) => JSON.parse(fs.readFileSync(path.join(examples, name), 'utf8'));

/** docs/examples/page.html, filling a screen larger than the pictures that the models get. */
async function startPage(box) {
  const { daemon, env } = await box.startScreen({ width: 1600, height: 1000 });
  const browser = box.spawn('chromium', ['--no-sandbox', '--test-type', '--disable-gpu', '--no-first-run', '--disable-sync',
    '--disable-background-networking', '--disable-component-update', '--disable-dev-shm-usage', '--no-default-browser-check',
    `--user-data-dir=${box.file('chromium')}`, '--window-position=0,0', '--window-size=1600,1000', '--kiosk',
    pathToFileURL(path.join(examples, 'page.html')).href], { env, detached: true });
  box.onClose(() => {
    try { process.kill(-browser.pid, 'SIGKILL'); } catch { /* it has ended */ }
  });
  const done = async () => {
    const { windows } = await daemon.json('GET', '/v1/windows');
    const title = windows.map((window) => window.title).find((text) => text.startsWith('{'));
    return title && JSON.parse(title.replace(/ - Chromium$/, ''));
  };
  await waitFor('the page', done, 60000);
  await daemon.request('GET', '/v1/shot?wait=stable&quiet_ms=500&timeout_ms=10000');
  return { daemon, done };
}

/** Runs a loop with its recording; resolves to what it prints. */
async function runLoop(box, daemon, vendor) {
  const printed = await box.ok('python3', [path.join(examples, `${vendor}_loop.py`),
    path.join(examples, `${vendor}_calls.json`), 'Fill in the form, please.'],
  { env: { ...daemon.env, PYTHONDONTWRITEBYTECODE: '1' }, timeoutMs: 60000 });
  return JSON.parse(printed);
}

/** Waits for the page's button; then the page says `own`, and what is the same in both loops. Resolves to all it says. */
async function expectDone(done, own) {
  const state = await waitFor('the button', async () => (await done()).saved.length > 0 && done());
  const { name, notes, saved, card, clicks } = state;
  assert.deepEqual({ name, notes, saved, card, clicks },
    { name: 'Anna Grüße ✓', clicks: { left: 2, double: 1, middle: 1, right: 1 }, ...own });
  assert(state.scrolled > 0, 'the list is scrolled');
  return state;
}

const assertPicture = (base64) => {
  const picture = readPng(Buffer.from(base64, 'base64'));
  assert.deepEqual([picture.width, picture.height], [1024, 640], 'the size that the model speaks in');
};

boxTest('Anthropic\'s loop: its tool_use blocks are done, its tool_result blocks come back', async (box) => {
  const { daemon, done } = await startPage(box);
  const messages = await runLoop(box, daemon, 'anthropic');

  const state = await expectDone(done, { notes: 'eggs\nmilk\nbread', saved: ['ctrl'], card: 'bin' });
  assert(state.held.Shift >= 0.4 && state.held.Shift < 5, `Shift was down for ${state.held.Shift} s`);

  const blocks = recorded('anthropic_calls.json').flatMap((turn) => turn.content).filter((block) => block.type === 'tool_use');
  const results = messages.filter((message) => message.role === 'user' && Array.isArray(message.content))
    .flatMap((message) => message.content);
  assert.deepEqual(results.map((result) => result.tool_use_id), blocks.map((block) => block.id));
  for (const [i, result] of results.entries()) {
    assert.deepEqual(Object.keys(result).sort(), ['content', 'is_error', 'tool_use_id', 'type']);
    assert.equal(result.type, 'tool_result');
    for (const part of result.content) {
      if (part.type === 'text') continue;
      assert.equal(part.type, 'image');
      assert.equal(part.source.type, 'base64');
      assert.equal(part.source.media_type, 'image/png');
      if (blocks[i].input.action !== 'zoom') assertPicture(part.source.data);
    }
  }
  const of = (action, fits = () => true) => results[blocks.findIndex((block) => block.input.action === action && fits(block.input))];
  assert.equal(of('screenshot').content[0].type, 'image');
  assert.equal(of('zoom').content[0].type, 'image');
  assert.equal(of('type').content[1].type, 'image', 'what changes the screen brings a picture');
  assert.deepEqual(of('wait').content, [{ type: 'text', text: 'Done. The screen has not changed.' }]);
  assert.deepEqual(of('cursor_position').content, [{ type: 'text', text: 'X=373,Y=410' }]);
  const outside = of('left_click', (input) => input.coordinate[0] === 5000);
  assert.equal(outside.is_error, true);
  assert.match(outside.content[0].text, /5000,371 lies outside the 1024x640 picture/);
  assert.equal(results.filter((result) => result.is_error).length, 1);
});

boxTest('OpenAI\'s loop: its computer_call items are done, a screenshot answers each', async (box) => {
  const { daemon, done } = await startPage(box);
  const sent = await runLoop(box, daemon, 'openai');

  await expectDone(done, { notes: 'milk\nbread', saved: ['shift'], card: 'shelf' });

  const calls = recorded('openai_calls.json').flatMap((response) => response.output).filter((item) => item.type === 'computer_call');
  const items = sent.slice(1).flat();
  const outputs = items.filter((item) => item.type === 'computer_call_output');
  assert.deepEqual(outputs.map((item) => item.call_id), calls.map((call) => call.call_id));
  assert.deepEqual(outputs.map((item) => item.acknowledged_safety_checks), calls.map((call) => call.pending_safety_checks));
  for (const { output } of outputs) {
    assert.equal(output.type, 'computer_screenshot');
    const [, base64] = output.image_url.match(/^data:image\/png;base64,(.+)$/);
    assertPicture(base64);
  }
  const [note, ...more] = items.filter((item) => item.type !== 'computer_call_output');
  assert.equal(more.length, 0);
  assert.match(note.content[0].text, /^That was not done: actions\[0\].*5000,371 lies outside the 1024x640 picture/);
});

boxTest('the model is told the size of the pictures that it gets', async (box) => {
  const { daemon } = await box.startScreen({ width: 2048, height: 1025 });
  const { width, height } = await daemon.shot('?max_side=1024');
  const told = await box.ok('python3', ['-c', 'from boxscreen import Screen; screen = Screen(); print(screen.width, screen.height)'],
    { env: { ...daemon.env, PYTHONPATH: examples, PYTHONDONTWRITEBYTECODE: '1' } });
  assert.equal(told, `${width} ${height}\n`);
});
