// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { load } from './load.mjs';

const { pauseMs } = await load('backoff.ts');
const { layoutOf } = await load('layout.ts');
const { phaseOf, INITIAL, endOf, opensAtOnce, formatClock } = await load('model.ts');

test('pauses grow to 15 s, spread by a fifth; V31: no more than 15 tries in 120 s', () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5, 99].map((n) => pauseMs(n, 0.5)), [500, 1000, 2000, 4000, 8000, 15000, 15000]);
  assert.equal(pauseMs(0, 0), 400);
  assert(pauseMs(0, 0.999999) <= 600);
  let now = 0, tries = 0;
  while ((now += pauseMs(tries, 0)) <= 120000) tries++; // the shortest pauses there are
  assert(tries <= 15, `${tries} tries`);
});

test('a phone held upright stays one when its keyboard is up', () => {
  for (const height of [664, 464, 364, 300, 200]) assert.equal(layoutOf(390, height), 'tall');
  for (const height of [340, 200, 140]) assert.equal(layoutOf(750, height), 'short');
  assert.equal(layoutOf(1280, 800), 'wide');
  assert.equal(layoutOf(640, 400), 'short', '1280×800 at 200 %');
  assert.equal(layoutOf(320, 256), 'tall', '400 %');
});

const server = { role: 'control', holder: 'agent', screen: 'ready', takeover: { id: 't' } };

test('what is shown follows from what is known', () => {
  const phase = (change) => phaseOf({ ...INITIAL, ...change });
  assert.equal(phase({}), 'opening');
  assert.equal(phase({ hasFailed: true }), 'unreachable');
  assert.equal(phase({ server }), 'invite');
  assert.equal(phase({ server: { ...server, holder: 'other' } }), 'held');
  assert.equal(phase({ server, isTaking: true }), 'taking');
  const live = { server: { ...server, holder: 'you' }, wantsLive: true };
  assert.equal(phase({ ...live, line: 'connecting' }), 'connecting');
  assert.equal(phase({ ...live, line: 'up' }), 'control');
  assert.equal(phase({ ...live, line: 'down' }), 'reconnecting');
  assert.equal(phase({ ...live, line: 'silent' }), 'asleep');
  assert.equal(phase({ ...live, line: 'connecting', isScreenMissing: true }), 'waiting');
  assert.equal(phase({ server, wantsLive: true, line: 'up' }), 'view');
  for (const end of ['invalid', 'taken_over', 'handed_back', 'cancelled']) assert.equal(phase({ ...live, line: 'up', end }), end);
});

test('which ends are ends', () => {
  assert.deepEqual([4401, 4409, 4410, 4503, 1006, 1000].map(endOf), ['invalid', 'taken_over', 'handed_back', null, null, null]);
});

test('a takeover is never begun without a question', () => {
  assert.equal(opensAtOnce(server), false);
  assert.equal(opensAtOnce({ ...server, holder: 'you' }), true, 'a reload');
  assert.equal(opensAtOnce({ ...server, role: 'view' }), true);
});

test('the clock', () => {
  assert.deepEqual([1800, 61, 59.2, 0, -3].map(formatClock), ['30:00', '1:01', '1:00', '0:00', '0:00']);
});

test('every language has the words of English, with the same gaps', () => {
  const read = (file) => JSON.parse(fs.readFileSync(new URL(`../src/words/${file}`, import.meta.url)));
  const english = read('en.json');
  const gaps = (text) => (text.match(/\{\w+\}/g) ?? []).sort().join();
  for (const file of fs.readdirSync(new URL('../src/words', import.meta.url))) {
    const words = read(file);
    assert.deepEqual(Object.keys(words).sort(), Object.keys(english).sort(), file);
    for (const name of Object.keys(english)) assert.equal(gaps(words[name]), gaps(english[name]), `${file}: ${name}`);
  }
});
