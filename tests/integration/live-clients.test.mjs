// SPDX-License-Identifier: GPL-2.0-or-later
//
// The live screen in the programs that people use: the page in Chromium and Firefox, gtk-vnc, and
// TigerVNC's viewer on a second X server.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { Chromium, countDifferences, Firefox, makeLink, readCanvas, waitCanvasExact } from './browsers.mjs';
import { expectNoneHeld, startTerminal } from './desk.mjs';
import { boxTest, waitFor } from './harness.mjs';
import { readPng, readXwd } from './png.mjs';

const viewers = async (daemon) => (await daemon.json('GET', '/v1/status')).viewers;

for (const Browser of [Chromium, Firefox]) {
  boxTest(`${Browser.name}: exact at rest, exact beside a video, exact 500 ms after it`, async (box) => {
    const { daemon, env } = await box.startScreen();
    await box.paint(env, 'pattern', 3);
    const browser = await Browser.start(box);
    await browser.goto(await makeLink(daemon, 'view'));
    await waitCanvasExact(browser, daemon, 20000);
    assert.equal(await browser.run('location.search + location.hash'), '', 'no secret in the address');
    assert.equal((await viewers(daemon))[0].encoding, 'h264');
    const area = { x: 333, y: 221, width: 320, height: 200 };
    const blink = await box.paint(env, 'blink', area.x, area.y, area.width, area.height, 40);
    await waitFor('the video to be encoded', async () => (await viewers(daemon))[0].fps > 10, 10000, 100);
    const [moving, shot] = [await readCanvas(browser), await daemon.shot()];
    for (const still of [{ x: 0, y: 0, width: 1280, height: area.y },
      { x: 0, y: area.y, width: area.x, height: area.height },
      { x: area.x + area.width, y: area.y, width: 1280 - area.x - area.width, height: area.height },
      { x: 0, y: area.y + area.height, width: 1280, height: 800 - area.y - area.height }])
      assert.equal(countDifferences(moving, shot, still), 0, JSON.stringify(still));
    await blink.stop();
    await waitCanvasExact(browser, daemon, 1500);
    const faults = (browser.console ?? []).filter((line) => /^(exception|error)/.test(line));
    assert.deepEqual(faults, []);
  }, { timeout: 180000 });
}

boxTest('Chromium: keys, clicks and pastes of a controller arrive; a watcher\'s do not', async (box) => {
  const { daemon, env } = await box.startScreen();
  const terminal = await startTerminal(box, daemon);
  const browser = await Chromium.start(box);
  await browser.goto(await makeLink(daemon, 'control'));
  await waitCanvasExact(browser, daemon, 20000);
  const phase = () => browser.run('document.body.dataset.phase');
  assert.equal(await phase(), 'view', 'looking takes nothing from the agent');
  assert.equal((await daemon.json('GET', '/v1/status')).control.holder, 'agent');
  await browser.run('document.getElementById("take").click()');
  await waitFor('control', async () => await phase() === 'control', 5000, 50);
  for (const [key, code, number] of [['h', 'KeyH', 72], ['I', 'KeyI', 73], ['Enter', 'Enter', 13]]) {
    if (key === 'I') await browser.key('keyDown', 'Shift', 'ShiftLeft', 16);
    await browser.key('keyDown', key, code, number, key.length === 1 ? key : undefined);
    await browser.key('keyUp', key, code, number);
    if (key === 'I') await browser.key('keyUp', 'Shift', 'ShiftLeft', 16);
  }
  await terminal.expect('hI\n');
  const box_ = await browser.run('(({x, y, width}) => ({x, y, width}))(document.querySelector("#stage canvas").getBoundingClientRect())');
  const scale = box_.width / 1280;
  await browser.mouse('mouseMoved', box_.x + 640 * scale, box_.y + 400 * scale);
  await waitFor('the pointer', async () => {
    const [, x, y] = (await box.ok('xinput', ['query-state', 'Virtual core XTEST pointer'], { env }))
      .match(/valuator\[0\]=(\d+)[^]*valuator\[1\]=(\d+)/);
    return Math.abs(x - 640) <= 1 && Math.abs(y - 400) <= 1;
  }, 5000, 50);
  await expectNoneHeld(box, env);
  assert.equal((await daemon.json('GET', '/v1/status')).control.holder, 'person');
  // The page hands back, and says so.
  await browser.run('document.getElementById("hand-back").click()');
  await browser.run('document.getElementById("hand-back-confirm").click()');
  await waitFor('the agent to have it', async () => (await daemon.json('GET', '/v1/status')).control.holder === 'agent');
  // Until the page knows, it asks whoever leaves whether they mean it, and nobody would answer.
  await waitFor('the page to know', async () => await phase() !== 'control');
  await browser.goto(await makeLink(daemon, 'view'));
  await waitCanvasExact(browser, daemon, 20000);
  await browser.key('keyDown', 'x', 'KeyX', 88);
  await browser.key('keyUp', 'x', 'KeyX', 88);
  await daemon.json('GET', '/v1/status');
  assert.equal(terminal.read(), '');
  await waitFor('the page to say what it does',
    async () => await browser.run('document.getElementById("status").textContent') === 'Watching the agent');
}, { timeout: 180000 });

boxTest('Chromium: a wrong link says so and does not try again; a dropped line does', async (box) => {
  const { daemon } = await box.startScreen();
  const browser = await Chromium.start(box);
  const link = await makeLink(daemon, 'view');
  await browser.goto(`${link}x`);
  const status = () => browser.run('document.getElementById("status")?.textContent');
  await waitFor('the word', async () => /not valid/.test(await status()), 10000, 50);
  await browser.goto(link);
  await waitCanvasExact(browser, daemon, 20000);
  await browser.goto(link.split('?')[0]); // a reload: the tab's session goes on
  await waitCanvasExact(browser, daemon, 20000);
  assert.equal((await viewers(daemon)).length, 1);
}, { timeout: 180000 });

boxTest('gvnccapture takes the screen as it is', async (box) => {
  fs.writeFileSync(box.file('password'), 'secret12\n');
  const server = await box.startXvfb();
  const number = 3000 + Math.floor(Math.random() * 2000); // gvnccapture counts displays: port 5900 + n
  const daemon = await box.startDaemon({ display: server.display,
    args: ['--rfb', `127.0.0.1:${5900 + number}`, '--rfb-password-file', box.file('password')] });
  await box.paint(server.env, 'pattern', 8);
  const picture = box.file('capture.png');
  // It asks for the password on a terminal.
  const capture = box.spawn('script', ['-qec', `gvnccapture 127.0.0.1:${number} ${picture}`, '/dev/null'],
    { stdio: ['pipe', 'pipe', 'pipe'] });
  capture.process.stdin.on('error', () => {}); // it may end while it is being told
  await waitFor('the question', () => /Password/.test(capture.output()), 10000);
  // It throws away what is typed before it has turned off the echo, just after the question.
  await waitFor('the picture', () => {
    if (!capture.end) capture.process.stdin.write('secret12\n');
    return capture.end;
  }, 20000, 500);
  assert.equal(capture.end.code, 0, capture.log());
  assert.equal(countDifferences(readPng(fs.readFileSync(picture)), await daemon.shot()), 0);
});

boxTest('TigerVNC\'s viewer shows the screen exactly, and follows it', async (box) => {
  fs.writeFileSync(box.file('password'), 'secret12\n');
  const server = await box.startXvfb();
  const second = await box.startXvfb({ width: 1600, height: 1000 });
  const port = 20000 + Math.floor(Math.random() * 12000);
  const daemon = await box.startDaemon({ display: server.display, args: ['--rfb', `127.0.0.1:${port}`,
    '--rfb-password-file', box.file('password'), '--rfb-role', 'control'] });
  const terminal = await startTerminal(box, daemon);
  await box.ok('sh', ['-c', 'vncpasswd -f < password > vncpasswd'], {}).catch(async () => {
    // TigerVNC's file: the password encrypted with a fixed key.
    const { vncResponse } = await import('./rfb.mjs');
    const key = Buffer.from([23, 82, 107, 6, 35, 78, 88, 7]).toString('latin1');
    fs.writeFileSync(box.file('vncpasswd'), vncResponse(key, Buffer.from('secret12')));
  });
  const viewer = box.spawn('xtigervncviewer', ['-passwd', box.file('vncpasswd'), '-geometry', '1300x840+0+0',
    '-RemoteResize=0', '-DotWhenNoCursor=0', `127.0.0.1::${port}`], { env: { ...second.env, HOME: box.folder } });
  const window = await waitFor('the viewer to connect', async () => {
    assert(!viewer.end, viewer.log());
    return (await viewers(daemon))[0];
  }, 20000, 100);
  assert.equal(window.role, 'control');
  const shows = async () => {
    const { stdout } = await box.run('xwd', ['-root', '-silent'], { env: second.env });
    const [there, here] = [readXwd(stdout), await daemon.shot()];
    // Its window has no frame (no window manager), so the screen begins somewhere in the first rows.
    for (let y0 = 0; y0 < 80; y0++) {
      for (let x0 = 0; x0 < 40; x0++) {
        let isSame = true;
        for (let i = 0; isSame && i < 400; i++) {
          const [x, y] = [(i * 97) % 1280, (i * 61) % 800];
          isSame = String(there.pixel(x0 + x, y0 + y)) === String(here.pixel(x, y));
        }
        if (!isSame) continue;
        const cut = { width: 1280, height: 800, pixel: (x, y) => there.pixel(x0 + x, y0 + y) };
        return countDifferences(cut, here) === 0;
      }
    }
    return false;
  };
  await box.paint(server.env, 'window', 700, 500, 300, 200, '20a0ff');
  await waitFor('the viewer to show the screen', shows, 15000, 200);
  assert.equal(terminal.read(), '');
}, { timeout: 120000 });
