// SPDX-License-Identifier: GPL-2.0-or-later
//
// Act and settle: what POST /v1/act says of the change that a batch has brought about, and the picture
// of that change alone. Changes are made by a window that turns at each key press, black and white.
import assert from 'node:assert/strict';
import fs from 'node:fs';

import { boxTest, patience, waitFor } from './harness.mjs';
import { act } from './desk.mjs';
import { assertPixel, assertSamePixels, readPng } from './png.mjs';
import { control, openTakeover, Person } from './takeovers.mjs';

const CHANGED_ONLY = { shot: { changed_only: true } };
const TURN = [{ type: 'key', keys: 'a' }];

/** A screen with a window that turns white and black as keys are pressed; white at first. */
async function startTurning(box, x = 100, y = 200, w = 300, h = 40, options = {}) {
  const screen = await box.startScreen(options);
  await box.startPainter(screen.env, 'flip', x, y, w, h);
  await screen.daemon.request('GET', '/v1/shot?wait=stable');
  return screen;
}

const pictureOf = (shot) => readPng(Buffer.from(shot.base64, 'base64'));

/**
 * Runs `work` in the middle of a batch whose own change goes back to what was: the marker at 105,205
 * turns black, and white again at the end. Resolves to the reply.
 */
async function during(daemon, work, more = CHANGED_ONLY) {
  const pending = daemon.request('POST', '/v1/act',
    { body: { actions: [...TURN, { type: 'wait', ms: 800 * patience }, ...TURN], ...more } });
  await waitFor('the batch to begin', async () =>
    (await daemon.shot('?region=105,205,1,1')).pixel(0, 0)[0] === 0);
  await work();
  return pending;
}

boxTest('what changed is told as the smallest rectangle, and is the picture', async (box) => {
  const { daemon } = await startTurning(box);
  const reply = await act(daemon, TURN, CHANGED_ONLY);
  assert.deepEqual([reply.changed, reply.changed_region], [true, [100, 200, 300, 40]]);
  assert(reply.changed_at_ms <= reply.settled_at_ms, 'it settles without being told to');
  assert.equal(reply.still_changing, undefined);
  assert.deepEqual([reply.shot.width, reply.shot.height, reply.shot.origin, reply.shot.scale],
    [300, 40, [100, 200], [1, 1]]);
  const picture = pictureOf(reply.shot);
  for (const [x, y] of [[0, 0], [299, 0], [0, 39], [299, 39]]) assertPixel(picture, x, y, [0, 0, 0]);
  // The region that it names gives the same picture.
  assertSamePixels(picture, await daemon.shot(`?region=${reply.changed_region}`));
});

boxTest('nothing changed, or it went back: no picture', async (box) => {
  const { daemon } = await startTurning(box);
  for (const actions of [[{ type: 'move', x: 600, y: 600 }], [...TURN, { type: 'wait', ms: 300 }, ...TURN]]) {
    const reply = await act(daemon, actions, CHANGED_ONLY);
    assert.deepEqual([reply.changed, reply.changed_region, reply.shot], [false, null, 'unchanged']);
    assert.equal(reply.changed_at_ms !== null, actions.length > 1, 'when it was seen is told all the same');
    assert(reply.settled_at_ms >= 150);
    assert.equal((await act(daemon, actions, { settle: {}, shot: {} })).shot, 'unchanged');
  }
});

boxTest('region, scale, largest side, format and grid hold for the picture of a change', async (box) => {
  const { daemon } = await startTurning(box);
  const turn = async (shot) => act(daemon, TURN, { shot: { changed_only: true, ...shot } });

  let reply = await turn({ region: [300, 190, 400, 30] });
  assert.deepEqual(reply.changed_region, [100, 200, 300, 40], 'of the whole screen');
  assert.deepEqual([reply.shot.origin, reply.shot.width, reply.shot.height], [[300, 200], 100, 20]);

  reply = await turn({ region: '700,500,100,100' });
  assert.deepEqual([reply.changed, reply.shot], [true, 'unchanged'], 'changed elsewhere');

  reply = await turn({ scale: 0.5 });
  assert.deepEqual([reply.shot.width, reply.shot.height, reply.shot.origin, reply.shot.scale],
    [150, 20, [100, 200], [0.5, 0.5]]);
  reply = await turn({ max_side: 100 });
  assert.deepEqual([reply.shot.width, reply.shot.height], [100, 13]);
  reply = await turn({ max_side: 1000 });
  assert.equal(reply.shot.width, 300, 'the limit is that of the picture');

  for (const [format, magic] of [['jpeg', 'ffd8ff'], ['webp', '52494646']]) {
    reply = await turn({ format });
    assert.equal(reply.shot.format, format);
    assert.equal(Buffer.from(reply.shot.base64, 'base64').subarray(0, magic.length / 2).toString('hex'), magic);
  }
  reply = await turn({ annotate: 'grid', cursor: true });
  const region = `?region=${reply.changed_region}&annotate=grid&cursor=1`;
  assertSamePixels(pictureOf(reply.shot), await daemon.shot(region));
});

boxTest('two changes far apart are in one rectangle; a window that moves changes both its places', async (box) => {
  const { env, daemon } = await startTurning(box);
  const window = await box.paint(env, 'window', 900, 500, 80, 60, '00ff00');
  await daemon.request('GET', '/v1/shot?wait=stable');
  const moved = (await during(daemon, async () => {
    const reply = await daemon.request('POST', `/v1/windows/${window.window}/move`, { body: { x: 860, y: 520 } });
    assert.equal(reply.status, 200, reply.body.toString());
  })).json();
  assert.deepEqual(moved.changed_region, [860, 500, 120, 80]);
  assertPixel(pictureOf(moved.shot), 5, 25, [0, 255, 0]);
  assertPixel(pictureOf(moved.shot), 115, 5, [0, 0, 0]);

  const both = (await during(daemon, () => box.paint(env, 'window', 1000, 700, 10, 10, 'ff0000'),
    { shot: { changed_only: true, window: window.window } })).json();
  assert.deepEqual([both.changed_region, both.shot], [[1000, 700, 10, 10], 'unchanged'], 'of another window');
  const apart = await act(daemon, [...TURN, { type: 'wait', ms: 10 }], CHANGED_ONLY);
  assert.deepEqual(apart.changed_region, [100, 200, 300, 40]);
});

boxTest('the screen takes another size meanwhile: all of it has changed', async (box) => {
  const { daemon } = await startTurning(box);
  const reply = await during(daemon, async () => {
    assert.equal((await daemon.request('PUT', '/v1/screen', { body: { width: 800, height: 600 } })).status, 200);
  });
  assert.equal(reply.status, 200, reply.body.toString());
  assert.deepEqual(reply.json().changed_region, [0, 0, 800, 600]);
  assert.deepEqual([reply.json().shot.width, reply.json().shot.height], [800, 600]);
});

boxTest('what never rests does not hold a batch: the deadline comes, and what moves is told', async (box) => {
  const { env, daemon } = await startTurning(box);
  await box.startPainter(env, 'animation', 640, 384, 128, 64, 30);
  const reply = await act(daemon, TURN, { settle: { quiet_ms: 500, timeout_ms: 600 }, ...CHANGED_ONLY });
  assert.equal(reply.settled_at_ms, null);
  assert.deepEqual(reply.still_changing, [640, 384, 128, 64]);
  assert.equal(reply.changed, true);
  assert.deepEqual(reply.shot.origin, [100, 200], 'the picture is the screen as it was then');
  // On a busy machine the painter may pause for as long as the tool wants quiet: then once more.
  const tool = await waitFor('no rest', async () => {
    const { status, stdout, stderr } = await box.tool(daemon, ['key', '--settle', 'a'], {});
    assert.equal(status, 0, stderr);
    return stdout.includes('not quiet yet') && stdout.toString();
  });
  assert.match(tool, /^changed in \d+,\d+,\d+,\d+, not quiet yet: 640,384,128,64 goes on changing\n$/);
});

boxTest('a caret and a clock that tick are quiet in between', async (box) => {
  const { env, daemon } = await startTurning(box);
  await box.paint(env, 'blink', 800, 20, 2, 16, 530);
  for (let i = 0; i < 3; i++) {
    const reply = await act(daemon, TURN, CHANGED_ONLY);
    assert.notEqual(reply.settled_at_ms, null);
    assert.equal(reply.changed, true);
  }
  // Asked for more quiet than there is, it ends at the deadline and names the caret's place.
  const reply = await act(daemon, TURN, { settle: { quiet_ms: 900, timeout_ms: 2000 } });
  assert.deepEqual([reply.settled_at_ms, reply.still_changing], [null, [768, 0, 64, 64]]);
});

boxTest('while a person holds the screen there is no act, and no picture of what they do', async (box) => {
  const { daemon } = await startTurning(box);
  const { url } = await openTakeover(daemon);
  let person;
  const cut = await during(daemon, async () => { person = await Person.holding(box, url); });
  assert.equal(cut.status, 423);
  assert.deepEqual([cut.json().error, cut.json().shot], ['locked', undefined]);
  const refused = await daemon.request('POST', '/v1/act', { body: { actions: TURN, ...CHANGED_ONLY } });
  assert.equal(refused.status, 423);
  await person.call('hand_back', { outcome: 'done' });
  await waitFor('the agent', async () => (await control(daemon)).holder === 'agent');
  assert.equal((await act(daemon, TURN, CHANGED_ONLY)).changed, true);
});

boxTest('wrong requests are named, and the screenshot call has no such option', async (box) => {
  const { daemon } = await box.startScreen();
  for (const [more, message] of [
    [{ shot: { changed_only: 1 } }, /shot\.changed_only/],
    [{ shot: { changed: true } }, /shot\.changed: unknown member/],
    [{ settle: { timeout_ms: 100 } }, /settle\.timeout_ms: must not be shorter than quiet_ms \(150\)/],
    [{ settle: { quiet: 1 } }, /settle\.quiet: unknown member/],
  ]) {
    const reply = await daemon.request('POST', '/v1/act', { body: { actions: TURN, ...more } });
    assert.equal(reply.status, 400);
    assert.match(reply.json().message, message);
  }
  assert.equal((await daemon.request('GET', '/v1/shot?changed_only=1')).status, 400);
  const gone = await act(daemon, TURN, { shot: { changed_only: true, window: 4294967295 } });
  assert.match(gone.shot_error, /not on the screen/);
});

boxTest('the tool: --settle and --shot-changed', async (box) => {
  const { daemon } = await startTurning(box);
  const file = box.file('changed.png');
  const run = async (...args) => {
    const { status, stdout, stderr } = await box.tool(daemon, args);
    assert.equal(status, 0, stderr);
    return stdout.toString();
  };
  assert.match(await run('key', 'a', '--shot-changed', file),
    /^changed in 100,200,300,40, quiet after \d+ ms\n$/);
  assert.deepEqual([readPng(fs.readFileSync(file)).width, readPng(fs.readFileSync(file)).height], [300, 40]);
  fs.rmSync(file);
  assert.match(await run('move', '700', '700', '--shot-changed', file), /^unchanged, quiet after \d+ ms\n$/);
  assert(!fs.existsSync(file), 'no picture of nothing');
  assert.match(await run('key', 'a', '--settle'), /^changed in 100,200,300,40, quiet after \d+ ms\n$/);

  const batch = box.file('batch.json');
  for (const body of [TURN, TURN[0], { actions: TURN }]) {
    fs.writeFileSync(batch, JSON.stringify(body));
    const reply = JSON.parse(await run('act', '--shot-changed', box.file('changed.webp'), batch));
    assert.deepEqual([reply.changed, reply.shot.path, reply.shot.format, reply.shot.base64],
      [true, box.file('changed.webp'), 'webp', undefined]);
    assert.equal(fs.readFileSync(box.file('changed.webp')).toString('latin1', 0, 4), 'RIFF');
    assert.equal(JSON.parse(await run('act', '--settle', batch)).shot, undefined);
  }
  // What the file says of settle and shot holds.
  fs.writeFileSync(batch, JSON.stringify({ actions: TURN, settle: { quiet_ms: 500 }, shot: { scale: 0.5 } }));
  const reply = JSON.parse(await run('act', '--shot-changed', file, batch));
  assert(reply.settled_at_ms >= 500);
  assert.equal(readPng(fs.readFileSync(file)).width, 150);

  for (const [args, message] of [
    [['key', 'a', '--shot-changed', 'picture.gif'], /ending names no format/],
    [['act', '--settle', box.file('none.json')], /none\.json/],
  ]) {
    const wrong = await box.tool(daemon, args);
    assert.notEqual(wrong.status, 0);
    assert.match(wrong.stderr, message);
  }
  fs.writeFileSync(batch, '"text"');
  assert.equal((await box.tool(daemon, ['act', '--settle', batch])).status, 2);
});
