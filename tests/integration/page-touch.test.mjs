// SPDX-License-Identifier: GPL-2.0-or-later
//
// A phone's fingers on the box's screen: what the X server sees of them.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { heldDown, startBrowser } from './desk.mjs';
import { boxTest, waitFor } from './harness.mjs';
import { IPHONE, openTakeover, PIXEL, startPeople, startPointerLog, Visitor } from './page.mjs';

const clicks = (events) => events.filter((line) => /^[+-]/.test(line));

async function start(box, options) {
  const { daemon, env } = await box.startScreen();
  const log = await startPointerLog(box, daemon);
  const people = await startPeople(box);
  const visitor = await Visitor.open(people, (await openTakeover(daemon)).url, options);
  await visitor.takeOver();
  await log.take();
  return { daemon, env, log, visitor, people };
}

function near(event, sign, x, y) {
  const [, kind, ex, ey] = event.match(/^(\S+) (\d+),(\d+)$/);
  assert.equal(kind, sign, event);
  assert(Math.abs(ex - x) <= 1 && Math.abs(ey - y) <= 1, `${event} is not at ${x},${y}`);
}

async function pinch(visitor, by) {
  const { x, y, width, height } = await visitor.page.locator('#stage').boundingBox();
  const at = [x + width / 2, y + height / 2];
  const spread = (d) => [[at[0] - d, at[1]], [at[0] + d, at[1]]];
  await visitor.touch('touchStart', ...spread(100));
  for (let i = 1; i <= 10; i++) await visitor.touch('touchMove', ...spread(100 * (1 + (by * i) / 10)));
  await visitor.touch('touchEnd');
}

// Most of their time these wait.
describe('fingers and mice', { concurrency: 4 }, () => {
  for (const [name, device] of [['Pixel', PIXEL], ['iPhone', IPHONE]]) {
    boxTest(`19: a tap on a ${name} lands within a pixel at fit, 0.8 and 2`, async (box) => {
      const { env, log, visitor } = await start(box, { device });
      for (const [scale, x, y] of [[0, 200, 150], [0, 1100, 700], [0.8, 1060, 690], [2, 1090, 695]]) {
        if (scale > 0) {
          // Around the pointer, as the zoom sheet does.
          await visitor.page.click('#tool-zoom');
          await visitor.page.click(`#sheet button:has-text("${scale === 2 ? 200 : 100}")`);
          await visitor.page.click('#sheet .bar button');
          if (scale === 0.8) await pinch(visitor, -0.2);
          await log.take();
        }
        await visitor.tap(x, y);
        const events = clicks(await log.take(2));
        assert.equal(events.length, 2, events.join());
        near(events[0], '+1', x, y);
        near(events[1], '-1', x, y);
        await sleep(450); // not a double tap
      }
      assert.deepEqual(await heldDown(box, env), []);
      await visitor.expectClean();
    });
  }

  boxTest('21: a hold of 10 s is one press and one release, and then a right click is offered', async (box) => {
    const { env, log, visitor } = await start(box);
    const at = await visitor.place(500, 300);
    await visitor.touch('touchStart', [at.x, at.y]);
    const [press] = clicks(await log.take(1));
    near(press, '+1', 500, 300);
    await sleep(10000);
    assert.deepEqual(clicks(await log.take()), []);
    await visitor.touch('touchEnd');
    near(clicks(await log.take(1))[0], '-1', 500, 300);
    assert.deepEqual(await heldDown(box, env), []);
    await visitor.page.click('#chips button');
    const right = clicks(await log.take(2));
    near(right[0], '+3', 500, 300);
    near(right[1], '-3', 500, 300);
    assert.equal(right.length, 2);
  });

  boxTest('23: two fingers: a tap is one right click, a drag the wheel, a pinch sends nothing', async (box) => {
    const { env, log, visitor } = await start(box);
    const [a, b] = [await visitor.place(400, 400), await visitor.place(700, 400)];
    const two = (dy = 0) => [[a.x, a.y + dy], [b.x, b.y + dy]];
    await visitor.touch('touchStart', ...two());
    await visitor.touch('touchEnd');
    let events = clicks(await log.take(2));
    assert.equal(events.length, 2, events.join());
    near(events[0], '+3', 550, 400);
    await visitor.touch('touchStart', ...two());
    for (let dy = -10; dy >= -80; dy -= 10) await visitor.touch('touchMove', ...two(dy));
    await visitor.touch('touchEnd');
    events = clicks(await log.take(8));
    assert.deepEqual(events.map((line) => line.split(' ')[0]), ['+5', '-5', '+5', '-5', '+5', '-5', '+5', '-5']);
    await visitor.sent();
    await pinch(visitor, 0.8);
    assert.deepEqual((await visitor.sent()).pointer, []);
    assert((await visitor.place(0, 0)).scale > 0.45, 'it is larger');
    // Zoomed, two fingers pan.
    const before = await visitor.place(640, 400);
    await visitor.touch('touchStart', [a.x, a.y], [b.x, b.y]);
    for (let dx = 10; dx <= 60; dx += 10) await visitor.touch('touchMove', [a.x + dx, a.y], [b.x + dx, b.y]);
    await visitor.touch('touchEnd');
    assert((await visitor.place(640, 400)).x > before.x + 20);
    assert.deepEqual((await visitor.sent()).pointer, []);
    assert.deepEqual(await log.take(), []);
    assert.deepEqual(await heldDown(box, env), []);
  });

  boxTest('a slider in the box\'s browser follows a finger; a slow drag is no right click', async (box) => {
    const { daemon, env } = await box.startScreen();
    const program = await startBrowser(box, daemon);
    const people = await startPeople(box);
    const visitor = await Visitor.open(people, (await openTakeover(daemon)).url);
    await visitor.takeOver();
    const slider = { x: 650, y: 300, width: 400 };
    // Where the thumb is: 100 of 1000.
    const from = await visitor.place(slider.x + 8 + (slider.width - 16) * 0.1, slider.y + 8);
    await visitor.touch('touchStart', [from.x, from.y]);
    for (let i = 1; i <= 8; i++) {
      await sleep(60); // half a second in all: slower than a hold
      await visitor.touch('touchMove', [from.x + i * 5, from.y]);
    }
    await visitor.touch('touchEnd');
    const wanted = 100 + (40 / from.scale / (slider.width - 16)) * 1000;
    await waitFor('the slider', () => Math.abs(program.state().slider - wanted) < 25).catch(() => {});
    assert(Math.abs(program.state().slider - wanted) < 25, `${program.state().slider}, not ${wanted}`);
    assert(!program.names().includes('contextmenu'));
    assert.deepEqual(await heldDown(box, env), []);
  });

  boxTest('a double tap is a double click, though the second tap is beside the first', async (box) => {
    const { log, visitor } = await start(box);
    const at = await visitor.place(600, 300);
    // On a busy machine the driver may take longer than a double tap may: then once more.
    for (let isQuick = false, i = 0; !isQuick; i++) {
      assert(i < 20, 'the driver is never quick enough');
      const begin = performance.now();
      for (const dx of [0, 18]) {
        await visitor.touch('touchStart', [at.x + dx, at.y]);
        await visitor.touch('touchEnd');
      }
      isQuick = performance.now() - begin < 250;
      const events = clicks(await log.take(4));
      assert.equal(events.length, 4);
      if (isQuick) for (const event of events) near(event, event.slice(0, 2), 600, 300);
      else await sleep(1000); // no third tap of the same series
    }
  });

  boxTest('fingers that the browser takes away, a hidden page and a second finger let go', async (box) => {
    const { env, log, visitor } = await start(box);
    const at = await visitor.place(300, 300);
    const other = await visitor.place(900, 600);
    const ends = [
      () => visitor.touch('touchCancel'),
      () => visitor.setHidden(true),
      () => visitor.page.evaluate(() => window.dispatchEvent(new Event('blur'))),
      () => visitor.touch('touchStart', [at.x + 30, at.y], [other.x, other.y]),
    ];
    for (const end of ends) {
      await visitor.touch('touchStart', [at.x, at.y]);
      await visitor.touch('touchMove', [at.x + 30, at.y]);
      near(clicks(await log.take(1))[0], '+1', 300, 300);
      await end();
      assert.equal(clicks(await log.take(1)).length, 1);
      assert.deepEqual(await heldDown(box, env), []);
      await visitor.touch('touchEnd').catch(() => {});
      await visitor.setHidden(false);
      await log.take();
    }
  });

  boxTest('without dragging: touchpad mode, the nudge pad, hold, scroll buttons', async (box) => {
    const { env, log, visitor } = await start(box);
    const { page } = visitor;
    await visitor.tap(600, 400);
    await log.take(2);
    await page.click('#tool-more');
    await page.click('#sheet button:has-text("Pointer")');
    const press = (name) => page.locator('#sheet').getByRole('button', { name, exact: true }).click();
    await press('Right');
    await press('1 px');
    await press('Down');
    await press('Press');
    let events = await log.take(2);
    near(clicks(events)[0], '+1', 610, 401);
    await press('Hold');
    assert.deepEqual(clicks(await log.take(1)).map((line) => line.slice(0, 2)), ['+1']);
    await press('Left');
    await press('Hold');
    near(clicks(await log.take(1))[0], '-1', 609, 401);
    await press('Scroll down');
    assert.deepEqual(clicks(await log.take(2)).map((line) => line.slice(0, 2)), ['+5', '-5']);
    await page.click('#tool-zoom');
    await press('Touchpad mode');
    await page.click('#sheet .bar button');
    const at = await visitor.place(100, 100);
    await visitor.touch('touchStart', [at.x, at.y]);
    await visitor.touch('touchMove', [at.x + 20, at.y]);
    await visitor.touch('touchMove', [at.x + 40, at.y]);
    await visitor.touch('touchEnd');
    events = await log.take();
    assert(events.length > 0 && events.every((line) => line.startsWith('m')), events.join());
    await visitor.touch('touchStart', [at.x, at.y]);
    await visitor.touch('touchEnd');
    events = clicks(await log.take(2));
    near(events[0], '+1', 609 + Math.round(40 / at.scale), 401);
    assert.deepEqual(await heldDown(box, env), []);
  });

  boxTest('a mouse is taken as it is: buttons, drags, the wheel', async (box) => {
    const { env, log, visitor } = await start(box, { device: { viewport: { width: 1280, height: 800 } } });
    const { page } = visitor;
    const at = await visitor.place(400, 300);
    await page.mouse.click(at.x, at.y, { button: 'right' });
    let events = clicks(await log.take(2));
    near(events[0], '+3', 400, 300);
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    const to = await visitor.place(500, 350);
    await page.mouse.move(to.x, to.y, { steps: 4 });
    await page.mouse.up();
    events = await log.take(2);
    near(clicks(events)[0], '+1', 400, 300);
    near(clicks(events)[1], '-1', 500, 350);
    assert(events.filter((line) => line[0] === 'm').length >= 4);
    await page.mouse.wheel(0, 120);
    assert.deepEqual(clicks(await log.take(2)).map((line) => line.slice(0, 2)), ['+5', '-5']);
    await page.mouse.wheel(0, -240);
    assert.equal(clicks(await log.take(2)).filter((line) => line.startsWith('+4')).length, 1, 'a notch is a step');
    assert.deepEqual(await heldDown(box, env), []);
  });
});
