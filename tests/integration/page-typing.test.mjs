// SPDX-License-Identifier: GPL-2.0-or-later
//
// Typing on the page: through the compose bar, straight in, from the key bar and from the clipboard; what
// arrives in a terminal and in a browser, and that nothing of it stays behind.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectNoneHeld, heldDown, startBrowser, startTerminal } from './desk.mjs';
import { boxTest, waitFor } from './harness.mjs';
import { DESKTOP, getTakeover, openTakeover, PIXEL, startLine, startPeople, Visitor } from './page.mjs';

const SCRIPTS = 'àéîõü ß Привет ελληνικά 日本語 你好 한국어 العربية עברית हिन्दी ไทย 😀👩‍👩‍👧‍👦🏼';

async function start(box, { program = startTerminal, takes = true, ...options } = {}) {
  const { daemon, env } = await box.startScreen();
  const target = await program(box, daemon);
  const people = await startPeople(box);
  const takeover = await openTakeover(daemon);
  const line = await startLine(box, daemon);
  const visitor = await Visitor.open(people, line.url(takeover.url), options);
  if (takes) await visitor.takeOver();
  return { daemon, env, target, visitor, page: visitor.page, line, takeover, people };
}

/** A composition as an input method does it: what is composed grows, then is committed. */
async function composeText(visitor, steps, committed) {
  visitor.cdp ??= await visitor.context.newCDPSession(visitor.page);
  for (const text of steps)
    await visitor.cdp.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
  await visitor.cdp.send('Input.insertText', { text: committed });
}

// Most of their time these wait.
describe('typing', { concurrency: 4 }, () => {
  boxTest('the compose bar: every script, compositions once, no text in between, passwords gone', async (box) => {
    const { daemon, target, visitor, page, env } = await start(box, { program: startBrowser });
    await target.clear();
    await visitor.insert(SCRIPTS);
    await target.expect(SCRIPTS);
    await target.clear();
    // 25: にほん becomes 日本 while it is composed.
    await page.focus('#compose-field');
    await composeText(visitor, ['に', 'にほ', 'にほん', '日本'], '日本');
    await page.click('#insert');
    await visitor.expectField('');
    await target.expect('日本');
    await target.clear();
    // Insert while something is being composed: what it has become by then, once.
    await composeText(visitor, ['と', 'とう'], 'とう');
    await composeText(visitor, ['き', 'きょ', 'きょう'], '京');
    await page.click('#insert');
    await target.expect('とう京');
    // 27: teh is corrected to the before it is sent.
    await target.clear();
    await page.locator('#compose-field').pressSequentially('teh');
    await page.evaluate(() => {
      const field = document.getElementById('compose-field');
      field.setRangeText('the', 0, 3, 'end');
      field.dispatchEvent(new InputEvent('input', { inputType: 'insertReplacementText', bubbles: true }));
    });
    await page.click('#insert');
    await target.expect('the');
    // A password, into the box's password field.
    await visitor.tap(700, 420);
    await page.click('#compose [aria-label="Password"]');
    assert.equal(await page.getAttribute('#compose-field', 'type'), 'password');
    await page.fill('#compose-field', 'geheim-4711-ß');
    await page.click('#insert');
    await waitFor('the password', () => target.state().secret === 'geheim-4711-ß', 10000);
    await visitor.expectField('');
    // A password that is not sent goes when the page is hidden.
    await page.click('#compose [aria-label="Password"]');
    await page.fill('#compose-field', 'geheim-2');
    await visitor.setHidden(true);
    assert.equal(await page.inputValue('#compose-field'), '');
    await visitor.setHidden(false);
    for (const what of ['geheim', '日本', 'Привет'])
      assert(!(await visitor.remains()).includes(what), `${what} is left in the page`);
    assert(!/geheim|Привет/.test(daemon.log()), 'in the log');
    assert(!visitor.console.join().includes('geheim'));
    await expectNoneHeld(box, env);
    await visitor.expectClean();
  }, { timeout: 180000 });

  boxTest('29: a lost acknowledgement: sent again, typed once; without a line the text stays', async (box) => {
    const { target, visitor, page, line } = await start(box);
    // The acknowledgement is lost with the line.
    await page.evaluate(() => {
      const { send } = WebSocket.prototype;
      WebSocket.prototype.send = function cut(data) {
        send.call(this, data);
        if (typeof data === 'string' && data.includes('"text"') && !window.cut) {
          this.onmessage = null;
          window.cut = () => this.close();
        }
      };
    });
    await page.click('#type-button');
    await page.fill('#compose-field', 'once');
    await page.click('#insert');
    await target.expect('once');
    await sleep(300); // the acknowledgement is on its way
    await page.evaluate(() => window.cut());
    await waitFor('another line', () => page.evaluate(() => window.sockets.length >= 2), 20000, 30);
    await visitor.expectPhase('control');
    await visitor.expectField('');
    await sleep(300);
    assert.equal(target.read(), '');
    // No line: the text stays, and so does the person's chance to send it.
    await visitor.expectPhase('control');
    if (!await page.isVisible('#compose-field')) await page.click('#type-button');
    await page.fill('#compose-field', 'kept');
    line.isDown = true;
    line.cut();
    await visitor.expectPhase('reconnecting');
    line.isDown = false;
    await visitor.expectPhase('control', 15000);
    assert(await page.isVisible('#compose-field'));
    assert.equal(await page.inputValue('#compose-field'), 'kept');
    await page.click('#insert');
    await target.expect('kept');
  }, { timeout: 180000 });

  boxTest('31 33: paste a code with one tap; denied, into a field; Ctrl+V types; copy from the box', async (box) => {
    const { daemon, target, visitor, page, people } = await start(box, { device: DESKTOP,
      permissions: ['clipboard-read', 'clipboard-write'] });
    const copy = (text) => page.evaluate((value) => navigator.clipboard.writeText(value), text);
    await copy('Your code is 482 913. Valid for 5 minutes.');
    await page.click('#type-button');
    await page.click('#compose-code');
    await target.expect('482913');
    await copy('two words, 12345 and 67890');
    await page.click('#tool-paste');
    await page.click('#paste-all');
    await target.expect('two words, 12345 and 67890');
    await copy('Grüße aus der Zwischenablage');
    await page.focus('#keys-field');
    await page.keyboard.press('Control+v');
    await target.expect('Grüße aus der Zwischenablage');
    // From the box only on a tap.
    const putThere = box.spawn('xclip', ['-i', '-selection', 'clipboard', '-loops', '0'], { env: daemon.env, stdio: ['pipe', 'pipe', 'pipe'] });
    putThere.process.stdin.end('aus der Box 日本');
    await sleep(300);
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'Grüße aus der Zwischenablage');
    await page.click('#tool-paste');
    await page.click('#copy');
    await waitFor('the copy', () => page.evaluate(async () => await navigator.clipboard.readText() === 'aus der Box 日本'), 5000, 50);
    // Long texts go to the box's clipboard.
    const long = 'x'.repeat(5000);
    await copy(long);
    await page.click('#paste-all');
    await waitFor('the box\'s clipboard', async () => (await box.run('xclip', ['-o', '-selection', 'clipboard'],
      { env: daemon.env })).stdout.toString() === long, 5000, 100);
    await visitor.expectClean();
    // Denied.
    const other = await Visitor.open(people, (await openTakeover(daemon)).url);
    await other.page.click('#card-take');
    await other.page.click('#dialog .primary');
    await other.expectPhase('control');
    await other.page.evaluate(() => { navigator.clipboard.readText = () => Promise.reject(new DOMException('no', 'NotAllowedError')); });
    await other.page.click('#tool-paste');
    await other.page.click('#paste-code');
    await other.page.evaluate(() => {
      const data = new DataTransfer();
      data.setData('text/plain', 'G-902114 is your code');
      document.getElementById('paste-field').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await target.expect('902114');
    assert(!(await other.remains()).includes('902114'));
  }, { timeout: 180000 });

  boxTest('V19 V21 V24: what soft and hardware keyboards send straight in', async (box) => {
    const { env, target, visitor, page } = await start(box);
    await page.focus('#keys-field');
    await visitor.sent();
    // V19: a soft keyboard's key has no name; its text comes as input.
    const soft = (value) => page.evaluate((text) => {
      const field = document.getElementById('keys-field');
      field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Unidentified', keyCode: 229, bubbles: true }));
      field.value = text;
      field.dispatchEvent(new InputEvent('input', { inputType: 'insertText', data: text, bubbles: true }));
    }, value);
    await soft('@');
    assert.deepEqual((await visitor.sent()).keys, ['+40', '-40']);
    await target.expect('@');
    await page.evaluate(() => document.getElementById('keys-field').blur());
    await page.focus('#keys-field');
    for (const character of [':', '_', '"', '#', '{', '|', '~', '€']) await soft(`${await page.inputValue('#keys-field')}${character}`);
    await target.expect(':_"#{|~€');
    await page.evaluate(() => document.getElementById('keys-field').blur());
    await page.focus('#keys-field');
    // V21: word becomes world.
    await soft('word');
    await target.expect('word');
    await visitor.sent();
    await soft('world');
    assert.deepEqual((await visitor.sent()).keys, ['+ff08', '-ff08', '+ff08', '-ff08', '+72', '-72', '+6c', '-6c', '+64', '-64']);
    await target.expect('\x7f\x7frld');
    await soft('worldhello ');
    assert.equal((await visitor.sent()).keys.length, 12);
    await target.expect('hello ');
    assert.equal(await page.inputValue('#keys-field'), '');
    for (const name of ['autocorrect', 'autocapitalize', 'spellcheck', 'autocomplete'])
      assert(['off', 'false'].includes(await page.getAttribute('#keys-field', name)), name);
    // V24: a hardware keyboard that lifts Shift first.
    for (const [edge, key] of [['down', 'Shift'], ['down', 'A'], ['up', 'Shift'], ['up', 'a']]) await page.keyboard[edge](key);
    await target.expect('A');
    await expectNoneHeld(box, env);
    // And reloads with keys down.
    await page.keyboard.down('Control');
    await page.reload();
    await visitor.expectPhase('control');
    await expectNoneHeld(box, env);
  }, { timeout: 180000 });

  boxTest('a desktop keyboard: text, named keys, chords, compositions; V23: blur leaves nothing down', async (box) => {
    const { env, target, visitor, page } = await start(box, { device: DESKTOP });
    await visitor.expectPhase('control');
    await page.focus('#keys-field');
    await page.keyboard.type('Hi there é');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Control+a');
    await target.expect('Hi there é\n\t\x7f\u0001');
    await composeText(visitor, ['か', 'かん', 'かんじ'], '漢字');
    await target.expect('漢字');
    assert.equal(await page.inputValue('#keys-field'), '');
    for (const order of ['key first', 'blur first']) {
      if (order === 'key first') await page.keyboard.down('Control');
      await page.evaluate(() => window.dispatchEvent(new Event('blur')));
      if (order === 'blur first') await page.keyboard.down('Control');
      await waitFor(`nothing down, ${order}`, async () => (await heldDown(box, env)).length === 0, 2000, 20);
      await page.keyboard.up('Control');
      await page.evaluate(() => window.dispatchEvent(new Event('focus')));
    }
    // Ctrl, Alt and Shift leave the stage.
    await page.focus('#keys-field');
    for (const key of ['Control', 'Alt', 'Shift']) await page.keyboard.down(key);
    for (const key of ['Shift', 'Alt', 'Control']) await page.keyboard.up(key);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'type-button');
    await expectNoneHeld(box, env);
    await visitor.expectClean();
  }, { timeout: 180000 });

  boxTest('V29: the key bar sends what browsers keep for themselves; sticky Ctrl+A; leaving is asked about', async (box) => {
    const { env, target, visitor, page } = await start(box, { device: PIXEL });
    await page.click('#tool-keys');
    await visitor.sent();
    const key = (name) => page.locator('#sheet').getByRole('button', { name, exact: true }).click();
    for (const name of ['Ctrl+W', 'Ctrl+T', 'Ctrl+N', 'Alt+Tab', 'Esc', 'Shift+Tab']) await key(name);
    assert.deepEqual((await visitor.sent()).keys, ['+ffe3', '+77', '-77', '-ffe3', '+ffe3', '+74', '-74', '-ffe3', '+ffe3', '+6e', '-6e', '-ffe3',
      '+ffe9', '+ff09', '-ff09', '-ffe9', '+ff1b', '-ff1b', '+ffe1', '+fe20', '-fe20', '-ffe1']);
    await target.expect('\u0017\u0014\u000e\u0089\u001b\u001b[Z');
    await key('Ctrl');
    assert.equal(await page.getAttribute('#sheet [data-modifier=Control]', 'aria-pressed'), 'true');
    await page.locator('#sheet .letter').pressSequentially('a');
    await target.expect('\u0001');
    assert.equal(await page.getAttribute('#sheet [data-modifier=Control]', 'aria-pressed'), 'false');
    await expectNoneHeld(box, env);
    const asked = new Promise((resolve) => { page.once('dialog', (dialog) => resolve(dialog.type())); });
    await page.close({ runBeforeUnload: true });
    assert.equal(await asked, 'beforeunload');
  }, { timeout: 180000 });

  boxTest('everything by keyboard alone: order, sheets, dialogs, the way out of the stage', async (box) => {
    const { takeover, target, visitor, page, daemon } = await start(box, { device: DESKTOP, takes: false });
    const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent);
    await waitFor('the first button to have the focus', async () => await focused() === 'card-take');
    await page.keyboard.press('Enter');
    await visitor.expectPhase('control');
    await visitor.expectPicture();
    assert.equal(await focused(), 'keys-field');
    await page.keyboard.type('k');
    await target.expect('k');
    // Header, note, stage: then the keys are the box's.
    await page.evaluate(() => { document.activeElement.blur(); window.getSelection().removeAllRanges(); document.body.tabIndex = -1; document.body.focus(); });
    const order = [];
    for (let i = 0; i < 4; i++) {
      await page.keyboard.press('Tab');
      order.push(await focused());
    }
    assert.deepEqual(order, ['hand-back', 'note-text', 'note-toggle', 'keys-field']);
    assert.match(await visitor.toast(), /Ctrl, Alt and Shift/, 'the way out is told');
    for (const key of ['Control', 'Alt', 'Shift']) await page.keyboard.down(key);
    for (const key of ['Shift', 'Alt', 'Control']) await page.keyboard.up(key);
    assert.equal(await focused(), 'type-button');
    for (let i = 0; i < 3; i++) await page.keyboard.press('Tab');
    assert.equal(await focused(), 'tool-keys');
    await page.keyboard.press('Enter');
    await page.locator('#sheet [data-modifier=Control]').waitFor();
    await page.keyboard.press('Shift+Tab');
    for (let i = 0; i < 40 && await focused() !== 'Esc'; i++) await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await target.expect('\u001b');
    await page.keyboard.press('Escape');
    assert.equal(await focused(), 'tool-keys');
    assert(await page.isHidden('#sheet'));
    await page.focus('#hand-back');
    await page.keyboard.press('Enter');
    await page.locator('#dialog[open]').waitFor();
    assert.equal(await focused(), 'keep', 'the answer that changes nothing');
    await page.keyboard.press('Enter');
    assert.equal(await visitor.phase(), 'control');
    await page.focus('#hand-back');
    await page.keyboard.press('Enter');
    await page.locator('#dialog[open]').waitFor();
    await page.keyboard.press('Shift+Tab');
    assert.equal(await focused(), 'hand-back-confirm');
    await page.keyboard.press('Enter');
    await visitor.expectPhase('handed_back');
    assert.equal((await getTakeover(daemon, takeover)).outcome, 'done');
  }, { timeout: 180000 });
});
