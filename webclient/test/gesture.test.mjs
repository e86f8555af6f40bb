// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const { Gestures } = await load('gesture.ts');

/** Plays touches: [time, what, finger, x, y]; returns what the pointer did, as words. */
function play(steps, { isZoomed = false, isTouchpad = false } = {}) {
  const log = [];
  const at = ({ x, y }) => `${Math.round(x)},${Math.round(y)}`;
  const gestures = new Gestures({
    moveTo: (point) => log.push(`move ${at(point)}`),
    moveBy: (dx, dy) => log.push(`by ${dx},${dy}`),
    press: (button) => log.push(`press ${button}`),
    release: (button) => log.push(`release ${button}`),
    wheel: (x, y) => log.push(`wheel ${x},${y}`),
    pan: (dx, dy) => log.push(`pan ${dx},${dy}`),
    zoom: (factor, point) => log.push(`zoom ${factor.toFixed(2)} ${at(point)}`),
    offerRightClick: (point) => log.push(`offer ${at(point)}`),
    isZoomed: () => isZoomed,
  });
  gestures.isTouchpad = isTouchpad;
  for (const [time, what, id, x, y] of steps) {
    if (gestures.deadline !== null && gestures.deadline <= time) gestures.tick(gestures.deadline);
    if (what === 'down') gestures.down(id, { x, y }, time);
    else if (what === 'move') gestures.move(id, { x, y }, time);
    else if (what === 'up') gestures.up(id, time);
    else if (what === 'cancel') gestures.cancel();
    else gestures.tick(time);
  }
  return log;
}

test('a tap is a move, a press and a release', () => {
  assert.deepEqual(play([[0, 'down', 1, 50, 60], [80, 'move', 1, 53, 62], [120, 'up', 1]]),
    ['move 50,60', 'press left', 'release left']);
});

test('a drag presses where it began, however slow it is', () => {
  assert.deepEqual(play([[0, 'down', 1, 50, 60], [100, 'move', 1, 56, 60], [150, 'move', 1, 90, 60], [200, 'up', 1]]),
    ['move 50,60', 'press left', 'move 56,60', 'move 90,60', 'release left']);
  assert.deepEqual(play([[0, 'down', 1, 50, 60], [900, 'move', 1, 52, 60], [1500, 'move', 1, 70, 60], [2000, 'up', 1]]),
    ['move 50,60', 'press left', 'move 70,60', 'release left'], 'after a hold, without a right click');
});

test('a hold of 10 s is one press and one release, then a right click is offered', () => {
  assert.deepEqual(play([[0, 'down', 1, 50, 60], [249, 'tick'], [250, 'tick'], [5000, 'move', 1, 51, 60], [10000, 'up', 1]]),
    ['move 50,60', 'press left', 'release left', 'offer 50,60']);
});

test('a timer that is late does not make a drag of a hold', () => {
  assert.deepEqual(play([[0, 'down', 1, 50, 60], [240, 'move', 1, 51, 60], [260, 'up', 1]]),
    ['move 50,60', 'press left', 'release left', 'offer 50,60']);
});

test('the second of two taps lands where the first did, within 24 px', () => {
  const tap = (time, x, y) => [[time, 'down', 1, x, y], [time + 50, 'up', 1]];
  assert.deepEqual(play([...tap(0, 50, 60), ...tap(200, 70, 70)]),
    ['move 50,60', 'press left', 'release left', 'move 50,60', 'press left', 'release left']);
  assert.equal(play([...tap(0, 50, 60), ...tap(200, 80, 60)])[3], 'move 80,60', 'further away');
  assert.equal(play([...tap(0, 50, 60), ...tap(600, 70, 70)])[3], 'move 70,70', 'later');
  assert.equal(play([...tap(0, 50, 60), ...tap(200, 60, 60), ...tap(400, 65, 60)])[6], 'move 65,60', 'a third');
});

const two = (time) => [[time, 'down', 1, 100, 100], [time + 20, 'down', 2, 160, 100]];

test('a two-finger tap is one right click, in the middle', () => {
  assert.deepEqual(play([...two(0), [120, 'move', 1, 101, 101], [150, 'up', 1], [160, 'up', 2]]),
    ['move 130,100', 'press right', 'release right']);
});

test('two fingers held long are nothing', () => {
  assert.deepEqual(play([...two(0), [900, 'up', 1], [910, 'up', 2]]), []);
});

const drag = (dy) => [...two(0), [40, 'move', 1, 100, 100 + dy / 2], [45, 'move', 2, 160, 100 + dy / 2],
  [60, 'move', 1, 100, 100 + dy], [65, 'move', 2, 160, 100 + dy], [90, 'up', 1], [95, 'up', 2]];

test('a two-finger drag turns the wheel at fit, one step for 20 px, fingers up is down', () => {
  const steps = play(drag(-80)).map((line) => Number(line.split(',')[1]));
  assert.equal(steps.reduce((sum, step) => sum + step), 4);
  assert(play(drag(80)).every((line) => /^wheel 0,-\d$/.test(line)));
});

test('a two-finger drag pans what is zoomed, and the box hears nothing', () => {
  const log = play(drag(-80), { isZoomed: true });
  assert(log.length > 0 && log.every((line) => line.startsWith('pan')), log.join());
});

test('a pinch zooms and sends nothing', () => {
  const log = play([...two(0), [40, 'move', 1, 80, 100], [50, 'move', 2, 180, 100], [60, 'move', 2, 220, 100], [90, 'up', 2], [99, 'up', 1]]);
  assert(log.some((line) => line.startsWith('zoom')));
  assert(log.every((line) => /^(zoom|pan)/.test(line)), log.join());
});

test('a second finger during a press lets go, then pans', () => {
  const log = play([[0, 'down', 1, 100, 100], [50, 'move', 1, 120, 100], [80, 'down', 2, 200, 100],
    [100, 'move', 1, 120, 150], [105, 'move', 2, 200, 150], [150, 'up', 1], [160, 'up', 2]], { isZoomed: true });
  assert.deepEqual(log.slice(0, 4), ['move 100,100', 'press left', 'move 120,100', 'release left']);
  assert(log.slice(4).every((line) => line.startsWith('pan')), log.join());
});

test('a finger that stays after two does nothing', () => {
  const log = play([...two(0), [100, 'up', 1], [200, 'move', 2, 300, 300], [800, 'tick'], [900, 'up', 2]]);
  assert.deepEqual(log, ['move 130,100', 'press right', 'release right']);
});

test('a cancelled touch lets go', () => {
  assert.deepEqual(play([[0, 'down', 1, 5, 5], [300, 'tick'], [400, 'cancel'], [500, 'move', 1, 50, 50]]),
    ['move 5,5', 'press left', 'release left']);
  assert.deepEqual(play([[0, 'down', 1, 5, 5], [100, 'cancel'], [400, 'tick']]), []);
});

test('touchpad mode: a finger moves the pointer, taps and holds act where it is', () => {
  const options = { isTouchpad: true };
  assert.deepEqual(play([[0, 'down', 1, 50, 50], [60, 'move', 1, 70, 55], [90, 'up', 1]], options), ['by 20,5']);
  assert.deepEqual(play([[0, 'down', 1, 50, 50], [60, 'up', 1]], options), ['press left', 'release left']);
  assert.deepEqual(play([[0, 'down', 1, 50, 50], [300, 'move', 1, 70, 50], [400, 'up', 1]], options),
    ['press left', 'by 20,0', 'release left']);
});
