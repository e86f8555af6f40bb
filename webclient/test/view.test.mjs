// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const view = await load('view.ts');
const screen = { width: 1280, height: 800 };
const stage = { width: 390, height: 464 };

test('at fit all is seen, centred; a small screen is not blown up', () => {
  const fit = view.fit(screen, stage);
  assert.equal(fit.scale, 390 / 1280);
  assert.equal(fit.x, 0);
  assert(Math.abs(fit.y - (464 - 800 * fit.scale) / 2) < 1e-9);
  assert.deepEqual(view.fit({ width: 100, height: 100 }, stage), { scale: 1, x: 145, y: 182 });
});

test('every pixel maps to the stage and back, at fit, 0.8 and 2', () => {
  for (const scale of [view.fitScale(screen, stage), 0.8, 2]) {
    const zoomed = view.zoomTo(view.fit(screen, stage), scale, { x: 200, y: 230 }, screen, stage);
    for (let x = 0; x < 1280; x += 7) {
      for (let y = 0; y < 800; y += 13)
        assert.deepEqual(view.toScreen(zoomed, view.toStage(zoomed, { x, y }), screen), { x, y });
    }
  }
});

test('what is under the fingers stays there while it is zoomed', () => {
  let now = view.zoomTo(view.fit(screen, stage), 0.8, { x: 195, y: 232 }, screen, stage);
  const at = { x: 150, y: 200 };
  const before = view.toScreen(now, at, screen);
  now = view.zoomTo(now, 1.7, at, screen, stage);
  const after = view.toScreen(now, at, screen);
  assert(Math.abs(before.x - after.x) <= 1 && Math.abs(before.y - after.y) <= 1);
});

test('no gap at an edge, no scale beyond the limits', () => {
  const far = view.pan({ scale: 2, x: 0, y: 0 }, 500, -99999, screen, stage);
  assert.deepEqual(far, { scale: 2, x: 0, y: 464 - 1600 });
  assert.equal(view.clamp({ scale: 99, x: 0, y: 0 }, screen, stage).scale, view.SCALE_MAX);
  assert.equal(view.clamp({ scale: 0.01, x: 0, y: 0 }, screen, stage).scale, view.fitScale(screen, stage));
});

test('points outside are the nearest pixel', () => {
  assert.deepEqual(view.toScreen(view.fit(screen, stage), { x: -9, y: 9999 }, screen), { x: 0, y: 799 });
});

test('reveal moves only as much as is needed', () => {
  const now = { scale: 2, x: 0, y: 0 };
  assert.deepEqual(view.reveal(now, { x: 100, y: 100 }, 40, screen, stage), now);
  const moved = view.reveal(now, { x: 700, y: 100 }, 40, screen, stage);
  assert.equal(view.toStage(moved, { x: 700, y: 100 }).x, 350);
});

test('a stage or screen without a size is survived', () => {
  const none = { width: 0, height: 0 };
  assert(Number.isFinite(view.fit(screen, none).scale));
  assert.deepEqual(view.toScreen(view.fit(none, stage), { x: 5, y: 5 }, none), { x: 0, y: 0 });
});
