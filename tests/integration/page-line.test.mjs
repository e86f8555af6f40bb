// SPDX-License-Identifier: GPL-2.0-or-later
//
// What happens to a session on the way: dropped lines, hidden pages, frozen boxes, other people, links
// that end, decoders that fail.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe } from 'node:test';
import { act, startTerminal } from './desk.mjs';
import { boxTest, patience, waitFor } from './harness.mjs';
import { DESKTOP, getTakeover, openTakeover, startLine, startPeople, Visitor } from './page.mjs';

async function start(box, options = {}) {
  const { daemon, env } = await box.startScreen({ daemon: options.daemon });
  const people = await startPeople(box);
  const line = await startLine(box, daemon);
  const takeover = await openTakeover(daemon, options.takeover);
  const visitor = await Visitor.open(people, line.url(takeover.url), options);
  return { daemon, env, people, line, takeover, visitor, page: visitor.page };
}

const viewers = async (daemon) => (await daemon.json('GET', '/v1/status')).viewers;

/** The middle pixel of what the page shows, or null. */
const middle = (visitor) => visitor.page.evaluate(() => {
  const canvas = document.querySelector('#frame canvas');
  return canvas && [...canvas.getContext('2d').getImageData(canvas.width >> 1, canvas.height >> 1, 1, 1).data];
});

// Most of their time these wait.
describe('a session on its way', { concurrency: 4 }, () => {
  boxTest('1 3 15 39: reading the link is nothing; take over, reload, hand back with a message; T05', async (box) => {
    const { daemon, people, takeover, visitor, page } = await start(box, { takeover: { note: 'Log in <b>here</b>, please.' } });
    const terminal = await startTerminal(box, daemon);
    const token = new URL(takeover.url).searchParams.get('t');
    for (let i = 0; i < 20; i++) await fetch(takeover.url, { method: i % 2 ? 'HEAD' : 'GET', headers: { Purpose: 'prefetch' } });
    assert.equal((await getTakeover(daemon, takeover)).opened_at, null);
    assert.equal((await daemon.json('GET', '/v1/status')).control.holder, 'agent');
    assert.equal(await page.textContent('#note-text'), 'Log in <b>here</b>, please.');
    assert.equal(await page.evaluate(() => location.search + location.hash), '');
    // The first POST went out from a page whose address had no secret any more.
    const early = await Visitor.open(people, takeover.url, { script: () => {
      const { fetch: plain } = window;
      window.fetch = (...args) => { (window.seen ??= []).push(location.href); return plain(...args); };
    } });
    assert.deepEqual([...new Set(await early.page.evaluate(() => window.seen))].filter((href) => href.includes(token)), []);
    await early.close();
    await visitor.takeOver();
    assert.equal((await getTakeover(daemon, takeover)).state, 'connected');
    assert.equal((await daemon.request('POST', '/v1/act', { body: { actions: [{ type: 'click', x: 1, y: 1 }] } })).status, 423);
    await page.reload();
    await visitor.expectPhase('control');
    await visitor.expectPicture();
    // What was written and not sent is not lost without a word.
    await page.click('#type-button');
    await page.fill('#compose-field', 'half a sen');
    await page.click('#hand-back');
    assert.equal(await page.locator('#dialog .warning').count(), 1);
    await page.click('#keep');
    await page.fill('#compose-field', '');
    await visitor.handBack({ outcome: 'could_not', message: 'The code never came.' });
    const { state, outcome, message } = await getTakeover(daemon, takeover);
    assert.deepEqual({ state, outcome, message }, { state: 'handed_back', outcome: 'could_not', message: 'The code never came.' });
    await waitFor('the agent', async () => (await daemon.json('GET', '/v1/status')).control.holder === 'agent', 1000);
    assert.equal(await page.locator('#frame canvas').count(), 0, 'the screen is gone');
    assert.match(await page.textContent('#card'), /could not/);
    assert(!daemon.log().includes(token));
    assert(!fs.readFileSync(`/proc/${daemon.pid}/cmdline`).includes(token));
    assert(!(await visitor.remains()).includes(token));
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    await visitor.expectClean();
    assert.equal(terminal.read(), '');
  }, { timeout: 180000 });

  boxTest('37: a cut line: the last picture stays, what is done meanwhile is dropped, then it goes on', async (box) => {
    const { daemon, line, visitor, page } = await start(box);
    const terminal = await startTerminal(box, daemon);
    await visitor.takeOver();
    const before = await middle(visitor);
    await visitor.sent();
    line.isDown = true;
    line.cut();
    await visitor.expectPhase('reconnecting');
    assert.deepEqual(await middle(visitor), before);
    await page.keyboard.type('lost');
    await page.mouse.click(200, 300);
    assert.deepEqual((await visitor.sent()).keys, []);
    await waitFor('some tries', () => line.tries.length >= 2, 10000);
    line.isDown = false;
    await visitor.expectPhase('control', 20000);
    await visitor.expectPicture();
    await waitFor('the old picture to go', async () => await page.locator('#frame .picture').count() === 1);
    assert.equal(terminal.read(), '');
    assert.equal((await viewers(daemon)).length, 1);
  }, { timeout: 180000 });

  boxTest('away for too long: control is the agent\'s again, which is said, and can be taken again', async (box) => {
    const { daemon, line, visitor, page } = await start(box, { daemon: { args: ['--takeover-grace', '1'] } });
    await visitor.takeOver();
    line.isDown = true;
    line.cut();
    await visitor.expectPhase('reconnecting');
    await waitFor('the agent to have it', async () => (await daemon.json('GET', '/v1/status')).control.holder === 'agent', 10000, 50);
    line.isDown = false;
    await visitor.expectPhase('view', 20000);
    assert.match(await visitor.toast(), /went back to the agent/);
    await page.click('#take');
    await visitor.expectPhase('control');
    await visitor.expectClean({ allowed: [/ERR_/, /WebSocket connection/] });
  }, { timeout: 180000 });

  boxTest('V31: tries while nobody answers: at most 15 in 120 s, with growing gaps; at once when the page comes back', async (box) => {
    const { people, line, visitor, takeover } = await start(box);
    await visitor.close();
    const context = await people.newContext(DESKTOP);
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(line.url(takeover.url));
    const person = new Visitor(context, page, new URL(line.url(takeover.url)).origin);
    await person.page.click('#card-take');
    await person.expectPhase('control');
    line.isDown = true;
    line.cut();
    await person.expectPhase('reconnecting');
    await page.evaluate(() => { Math.random = () => 0; window.tries = []; window.since = Date.now(); });
    await page.evaluate(() => {
      const { fetch: plain } = window;
      window.underWay = 0;
      window.fetch = (...args) => {
        window.tries.push(Date.now());
        window.underWay++;
        return plain(...args).finally(() => { window.underWay--; });
      };
    });
    await person.setHidden(true);
    for (let i = 0; i < 120; i++) {
      await page.clock.runFor(1000);
      // The network has a clock of its own.
      await waitFor('the try to end', () => page.evaluate(() => window.underWay === 0), 5000, 1);
    }
    // Time also goes on by itself meanwhile.
    const tries = await page.evaluate(() => window.tries.filter((time) => time - window.since < 120000));
    assert(tries.length >= 5 && tries.length <= 15, `${tries.length} tries`);
    const gaps = tries.slice(1).map((time, i) => time - tries[i]);
    assert(gaps.slice(0, 4).every((gap, i) => i === 0 || gap >= gaps[i - 1]), gaps.join());
    assert(gaps.at(-1) >= 12000, gaps.join());
    // Hidden for two minutes, and back: at once.
    line.isDown = false;
    await person.setHidden(false);
    await person.expectPhase('control', 5000);
  }, { timeout: 180000 });

  boxTest('13: another person takes it over: the first is told and does not come back by itself', async (box) => {
    const { daemon, people, takeover, visitor, page } = await start(box);
    await visitor.takeOver();
    // Who has the link open sees that it is taken, and that it is free again.
    const third = await Visitor.open(people, takeover.url);
    await third.expectPhase('held');
    const other = await Visitor.open(people, takeover.url, { device: DESKTOP });
    await other.expectPhase('held');
    await other.page.click('#card-take');
    await other.page.locator('#dialog .primary').waitFor();
    assert.equal(await other.page.evaluate(() => document.activeElement.textContent), 'Cancel', 'the answer that changes nothing has the focus');
    await other.page.click('#dialog .primary');
    await other.expectPhase('control');
    await visitor.expectPhase('taken_over');
    const before = visitor.requests.length;
    await page.evaluate(() => window.dispatchEvent(new Event('online')));
    await page.waitForTimeout(2500);
    assert.equal(visitor.requests.length, before, '4409: no tries');
    assert.equal((await viewers(daemon)).filter(({ role }) => role === 'control').length, 1);
    await other.expectClean();
    await other.handBack();
    await third.expectPhase('invalid', 12000);
  }, { timeout: 180000 });

  boxTest('9 V31: wrong and ended links look alike, also when they end under an open page', async (box) => {
    const { daemon } = await box.startScreen();
    const people = await startPeople(box);
    const link = (await daemon.request('POST', '/v1/links', { body: { role: 'control', ttl_s: 7 } })).json().url;
    const open = await Visitor.open(people, link);
    await open.expectPhase('view');
    const wrong = await Visitor.open(people, `${link}x`);
    await wrong.expectPhase('invalid');
    await open.expectPhase('invalid', 20000);
    const late = await Visitor.open(people, link);
    await late.expectPhase('invalid');
    const texts = await Promise.all([open, wrong, late].map(({ page }) => page.textContent('#card')));
    assert.equal(new Set(texts).size, 1);
    for (const visitor of [wrong, open]) {
      const before = visitor.requests.length;
      await visitor.page.waitForTimeout(1000);
      assert.equal(visitor.requests.length, before, 'no tries');
    }
  }, { timeout: 180000 });

  boxTest('a frozen box is asleep, and wakes', async (box) => {
    const { daemon, visitor } = await start(box);
    await visitor.takeOver();
    const before = await middle(visitor);
    process.kill(daemon.pid, 'SIGSTOP');
    try {
      await visitor.expectPhase('asleep', 15000);
      assert.deepEqual(await middle(visitor), before);
      assert.match(await visitor.page.textContent('#card'), /asleep/);
    } finally {
      process.kill(daemon.pid, 'SIGCONT');
    }
    await visitor.expectPhase('control', 15000);
    await visitor.expectPicture();
  }, { timeout: 180000 });

  boxTest('17: a decoder probe that never resolves: the screen shows within 3 s', async (box) => {
    const { visitor } = await start(box, { script: () => {
      VideoDecoder.isConfigSupported = () => new Promise(() => {});
    } });
    const began = performance.now();
    await visitor.takeOver();
    assert(performance.now() - began < 3000 * patience);
    await visitor.expectClean();
  }, { timeout: 180000 });

  boxTest('H.264 that fails in the middle: the picture goes on without it within 5 s', async (box) => {
    const { daemon, env, visitor, page } = await start(box, { device: DESKTOP, script: () => {
      const { decode } = VideoDecoder.prototype;
      VideoDecoder.prototype.decode = function broken(chunk) {
        window.decoded = (window.decoded ?? 0) + 1;
        // Neither a picture nor an error: the worst that decoders do.
        if (!window.isBroken) decode.call(this, chunk);
      };
    } });
    await visitor.takeOver();
    const blink = await box.paint(env, 'blink', 333, 221, 320, 200, 40);
    await waitFor('H.264', async () => await page.evaluate(() => (window.decoded ?? 0) > 20), 15000, 100);
    assert.equal((await viewers(daemon))[0].encoding, 'h264');
    await page.evaluate(() => { window.isBroken = true; });
    await waitFor('another encoding', async () => (await viewers(daemon))[0].encoding !== 'h264', 5000, 50);
    const pixel = () => page.evaluate(() => String(document.querySelector('#frame canvas').getContext('2d').getImageData(400, 300, 1, 1).data));
    const first = await pixel();
    await waitFor('the picture to move', async () => await pixel() !== first, 5000, 20);
    await blink.stop();
    assert.equal(await visitor.phase(), 'control');
    await visitor.expectClean();
  }, { timeout: 180000 });

  boxTest('11: a watcher: read only, whatever it sends; steps of the agent; live and paused', async (box) => {
    const { daemon } = await box.startScreen();
    const terminal = await startTerminal(box, daemon);
    const people = await startPeople(box);
    const link = (await daemon.request('POST', '/v1/links', { body: { role: 'view' } })).json().url;
    const watcher = await Visitor.open(people, link, { device: DESKTOP });
    await watcher.expectPhase('view');
    await watcher.expectPicture();
    await watcher.page.mouse.click(300, 300);
    await watcher.page.keyboard.type('x');
    const sent = await watcher.sent();
    assert.deepEqual([sent.keys, sent.pointer], [[], []]);
    // The server drops what a page would send all the same.
    await watcher.page.evaluate(() => {
      const socket = window.sockets.at(-1);
      socket.send(new Uint8Array([4, 1, 0, 0, 0, 0, 0, 0x78]));
      socket.send(new Uint8Array([5, 1, 0, 10, 0, 10]));
      socket.send(JSON.stringify({ t: 'text', id: 'q', s: 'evil', enter: false, secret: false }));
    });
    await waitFor('it to be refused', async () => (await viewers(daemon))[0].refused >= 2, 5000, 30);
    assert.equal(terminal.read(), '');
    // What the agent does, with a picture, never what it types.
    const { page } = watcher;
    await act(daemon, [{ type: 'click', x: 200, y: 200 }, { type: 'type', text: 'confidential' }]);
    await act(daemon, [{ type: 'screenshot' }]);
    for (let i = 0; i < 61; i++) await act(daemon, [{ type: 'move', x: 100 + i, y: 100 }]);
    await waitFor('the steps', async () => await page.locator('#steps-list li').count() === 60, 5000, 30);
    const late = await Visitor.open(people, link, { device: DESKTOP });
    await waitFor('them for who comes late', async () => await late.page.locator('#steps-list li').count() === 60, 5000, 30);
    for (const visitor of [watcher, late]) assert(!(await visitor.remains()).includes('confidential'));
    await act(daemon, [{ type: 'click', x: 220, y: 220 }, { type: 'type', text: 'b' }]);
    await waitFor('the last one', async () => await page.locator('#steps-list li:last-child .step-action').textContent() === 'click, type');
    await waitFor('its picture', () => page.evaluate(() => {
      const canvas = document.querySelector('#steps-list li:last-child canvas');
      return canvas.getContext('2d').getImageData(80, 50, 1, 1).data[3] === 255;
    }), 5000, 50);
    await page.click('#live-toggle');
    assert.equal(await page.locator('#frame .still').count(), 1);
    await page.click('#live-toggle');
    assert.equal(await page.locator('#frame .still').count(), 0);
    await watcher.expectClean();
  }, { timeout: 180000 });

  boxTest('time runs out: more of it on a tap, said aloud at the minute', async (box) => {
    const { daemon, takeover, visitor, page } = await start(box, { takeover: { timeout_s: 66 } });
    await visitor.takeOver();
    const left = async () => {
      const [minutes, seconds] = (await page.textContent('#countdown')).split(':').map(Number);
      return minutes * 60 + seconds;
    };
    assert(await left() <= 66);
    await waitFor('one minute to be announced', async () => /1 minute left/.test(await page.textContent('#status')), 12000, 50);
    await page.click('#extend');
    await waitFor('ten minutes more', async () => await left() > 600, 5000, 50);
    assert((await getTakeover(daemon, takeover)).expires_in_s > 600);
    assert(await page.isHidden('#extend'));
  }, { timeout: 180000 });

  boxTest('the phone stays awake while it has control, by one lock, and no longer', async (box) => {
    const { visitor, page } = await start(box, { script: () => {
      window.locks = 0;
      const request = async () => {
        window.locks++;
        const lock = new EventTarget();
        lock.release = async () => { window.locks--; };
        return lock;
      };
      Object.defineProperty(navigator, 'wakeLock', { value: { request } });
    } });
    const locks = () => page.evaluate(() => window.locks);
    assert.equal(await locks(), 0);
    await visitor.takeOver();
    assert.equal(await locks(), 1);
    await visitor.handBack();
    assert.equal(await locks(), 0);
  }, { timeout: 180000 });

  boxTest('messages both ways, as they were written', async (box) => {
    const { daemon, visitor, page } = await start(box, { device: DESKTOP });
    await visitor.takeOver();
    await daemon.request('POST', '/v1/say', { body: { text: '<i>שלום</i> & welcome' } });
    await waitFor('the message', async () => (await page.locator('#messages li.agent p').allTextContents()).includes('<i>שלום</i> & welcome'));
    assert.equal(await page.getAttribute('#messages li.agent p', 'dir'), 'auto');
    await page.fill('#message-field', 'Which account?');
    await page.press('#message-field', 'Enter');
    await waitFor('the note', async () => (await daemon.json('GET', '/v1/notes')).notes?.some(({ text }) => text === 'Which account?'));
    await waitFor('it to be shown', async () => (await page.locator('#messages li.person p').allTextContents()).includes('Which account?'));
    assert.equal(await page.inputValue('#message-field'), '');
    assert.equal(await page.locator('#messages li.person').count(), 1);
    await visitor.expectClean();
  }, { timeout: 180000 });

  boxTest('More: a link for watchers, who see what they are allowed to; the picture as a file', async (box) => {
    const { people, visitor, page } = await start(box, { device: DESKTOP, permissions: ['clipboard-read', 'clipboard-write'] });
    await visitor.takeOver();
    const item = async (name) => {
      if (!await page.isVisible('#sheet .sheet-more')) await page.click('#tool-more');
      await page.locator('#sheet').getByRole('button', { name, exact: true }).click();
    };
    await item('Share view link');
    await waitFor('the link', () => page.evaluate(async () => (await navigator.clipboard.readText()).includes('?t=')), 5000, 50);
    const watcher = await Visitor.open(people, await page.evaluate(() => navigator.clipboard.readText()));
    await watcher.expectPhase('view');
    const words = () => watcher.page.textContent('#status');
    await waitFor('the card', async () => /has the screen/.test(await words()), 5000, 50);
    await item('Let watchers see');
    await waitFor('the screen', async () => /has control/.test(await words()), 5000, 50);
    const [download] = await Promise.all([page.waitForEvent('download'), item('Save picture')]);
    const file = fs.readFileSync(await download.path());
    assert.equal(file.subarray(1, 4).toString(), 'PNG');
    assert.deepEqual([file.readUInt32BE(16), file.readUInt32BE(20)], [1280, 800]);
    await watcher.expectClean();
    await visitor.expectClean();
  }, { timeout: 180000 });
});
