// SPDX-License-Identifier: GPL-2.0-or-later
//
// The hand in a browser, which is far stricter than a terminal about keymap races, drags and wheels
// (recipe H2).
import assert from 'node:assert/strict';

import { boxTest, waitFor } from './harness.mjs';
import { act, heldDown, keymap, startBrowser, startTerminal } from './desk.mjs';

const type = (text) => [{ type: 'type', text }];

boxTest('I01 I03 I05 I09 I27: text arrives exactly in Chromium', async (box) => {
  const { server, daemon } = await box.startScreen();
  const before = await keymap(box, server.env);
  const page = await startBrowser(box, daemon);
  for (const text of ['àáâãäçèéêëìíîïñòóôõöùúûüýÿÀÁÂÃÄÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝ', 'øøøøSpaß', '😀é🏼', '-mypassword', '-1',
    '"c?}xG$si"z{cov/K<g!!fwUZ^66\'QK', 'line 1\nline 2\tx', '日本語テキスト 你好', 'العربية עברית', '👩‍👩‍👧‍👦 e\u0301']) {
    await act(daemon, type(text === 'line 1\nline 2\tx' ? 'line 1\nline 2' : text));
    await page.expect(text === 'line 1\nline 2\tx' ? 'line 1\nline 2' : text);
    await page.clear();
  }
  for (let i = 0; i < 20; i++) {
    await act(daemon, type('Привет'));
    await page.expect('Привет');
    await page.clear();
  }
  assert.deepEqual(await heldDown(box, server.env), []);
  await waitFor('the keymap to be as before', async () => await keymap(box, server.env) === before, 20000, 200);
});

boxTest('typing pace: 3,000 characters of ASCII arrive without an error', async (box) => {
  const { daemon } = await box.startScreen();
  const page = await startBrowser(box, daemon);
  const text = Array.from({ length: 3000 }, (_, i) => String.fromCharCode(33 + (i * 7919) % 94)).join('');
  const start = performance.now();
  await act(daemon, type(text));
  const ms = performance.now() - start;
  await page.expect(text, 20000);
  console.log(`# ${Math.round(text.length / ms * 1000)} characters a second`);
});

boxTest('long texts can be pasted', async (box) => {
  const { daemon } = await box.startScreen();
  const page = await startBrowser(box, daemon);
  const text = 'Grüße 你好 😀 ＠ '.repeat(200);
  const { results } = await act(daemon, [{ type: 'type', text, via: 'paste' }]);
  assert.equal(results[0].pasted, [...text].length);
  await page.expect(text);
});

boxTest('I19: a drag is a drag and a drop', async (box) => {
  const { server, daemon } = await box.startScreen();
  const page = await startBrowser(box, daemon);
  for (const action of [{ type: 'drag', path: [[100, 350], [450, 350]] },
    // Elsewhere: a second press at one spot within half a second is a double click.
    { action: 'left_click_drag', start_coordinate: [60, 380], coordinate: [480, 320] }]) {
    await page.clear();
    await act(daemon, [action]);
    await waitFor('the drop', () => page.names().includes('drop')).catch(() => {});
    for (const name of ['dragstart', 'dragover', 'drop'])
      assert(page.names().includes(name), `${name} in ${page.names()}`);
    assert.deepEqual(await heldDown(box, server.env), []);
  }
});

boxTest('I31: every wheel step arrives, the first one too', async (box) => {
  const { daemon } = await box.startScreen();
  const page = await startBrowser(box, daemon);
  const steps = () => page.state().events.filter(({ name }) => name === 'wheel').reduce((sum, { deltaY }) => sum + deltaY, 0);
  for (const count of [1, 5]) {
    await act(daemon, [{ type: 'move', x: 1250, y: 790 }]);
    await page.clear();
    await act(daemon, [{ type: 'scroll', x: 200, y: 550, dy: count }]);
    await waitFor(`${count} steps`, () => steps() >= 120 * count).catch(() => {});
    assert.equal(steps(), 120 * count);
  }
});

boxTest('clicks: where they are meant, doubled when they are meant doubled', async (box) => {
  const { daemon } = await box.startScreen();
  const page = await startBrowser(box, daemon);
  await page.clear();
  await act(daemon, [{ type: 'double_click', x: 300, y: 600, modifiers: 'shift' }]);
  await waitFor('a double click', () => page.names().includes('dblclick'));
  const clicks = page.state().events.filter(({ name }) => name === 'click');
  assert.deepEqual(clicks.map(({ detail, shift }) => [detail, shift]), [[1, true], [2, true]]);
  assert.equal(clicks[0].x, clicks[1].x);
});

boxTest('a triple click is three clicks, however soon it follows another', async (box) => {
  const { daemon } = await box.startScreen();
  const page = await startBrowser(box, daemon);
  await page.clear();
  const point = { x: 300, y: 60 };
  await act(daemon, [{ type: 'click', ...point }, ...type('somebody else'), { type: 'triple_click', ...point }, ...type('Anna')]);
  await page.expect('Anna');
  await act(daemon, [{ type: 'double_click', ...point }, { type: 'double_click', ...point }, ...type('Eve')]);
  await page.expect('Eve');
});

boxTest('text after a click goes to the window that was clicked, under a busy window manager', async (box) => {
  const { server, daemon } = await box.startScreen();
  box.spawn('openbox', [], { env: server.env });
  await waitFor('the window manager', async () =>
    /window id/.test(await box.ok('xprop', ['-root', '_NET_SUPPORTING_WM_CHECK'], { env: server.env })));
  const page = await startBrowser(box, daemon);
  const terminal = await startTerminal(box, daemon, { args: ['-xrm', 'xterm*geometry: 40x10+820+600'] });
  const find = async (title) => (await daemon.json('GET', '/v1/windows')).windows.find((window) => window.title === title);
  const at = await find('terminal');
  await daemon.request('POST', `/v1/windows/${(await find('page')).id}/resize`, { body: { width: 800, height: 500 } });
  await waitFor('the page to be small', async () => (await find('page')).width <= 810);
  await daemon.request('POST', `/v1/windows/${at.id}/move`, { body: { x: 900, y: 560 } });
  await waitFor('the terminal to be there', async () => Math.abs((await find('terminal')).x - 900) < 20);
  await page.clear();
  let inPage = '', inTerminal = '';
  for (let i = 0; i < 10; i++) {
    // Now and then letters that need a change of the keymap, which keeps openbox busy for a while.
    const text = String.fromCodePoint(0x4e00 + (i >> 2), 0x61 + i);
    await act(daemon, [{ type: 'click', x: 950, y: 620 }, { type: 'type', text }]);
    inTerminal += text;
    await act(daemon, [{ type: 'click', x: 300, y: 100 }, { type: 'key', keys: 'ctrl+End' }, { type: 'type', text: `${text}!` }]);
    inPage += `${text}!`;
  }
  await terminal.expect(inTerminal);
  await page.expect(inPage);
});
