// SPDX-License-Identifier: GPL-2.0-or-later
//
// Screenshots: the S cases of the collected public reports, every option, every depth.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { boxTest, followEvents, programs, request, waitFor } from './harness.mjs';
import { assertPixel, assertSamePixels, readPng, readXwd } from './png.mjs';
import { startRecording, stopRecording } from './video.mjs';

const solid = (box, env, colour) => box.ok('xsetroot', ['-solid', colour], { env });

async function xwd(box, env) {
  const { stdout, status } = await box.run('xwd', ['-root', '-silent'], { env });
  assert.equal(status, 0);
  return readXwd(stdout);
}

const COLOURS = { '#808080': [128, 128, 128], '#ff8000': [255, 128, 0], '#ff0000': [255, 0, 0],
  '#000000': [0, 0, 0], '#ffffff': [255, 255, 255], '#123456': [0x12, 0x34, 0x56] };

// S01 and S03: colours come out right on every depth; 15 and 16 bits cannot hold all of them.
for (const [depth, tolerance] of [[8, 0], [15, 5], [16, 5], [24, 0], [30, 1]]) {
  boxTest(`S01 S03: colours at depth ${depth}`, async (box) => {
    const { daemon, env } = await box.startScreen({ width: 320, height: 240, depth });
    for (const [colour, rgb] of Object.entries(COLOURS)) {
      await solid(box, env, colour);
      const shot = await daemon.shot();
      assert.deepEqual([shot.width, shot.height], [320, 240]);
      for (const [x, y] of [[0, 0], [160, 120], [319, 239]]) assertPixel(shot, x, y, rgb, tolerance);
    }
  });
}

for (const depth of [8, 15, 16, 24, 30]) {
  boxTest(`a still screen is pixel-exact against xwd at depth ${depth}`, async (box) => {
    const { daemon, env } = await box.startScreen({ width: 641, height: 479, depth });
    await box.paint(env, 'pattern', depth);
    // xwd's values are rounded from the channel's own width here; the daemon may round the other
    // way only where a channel has not 8 bits.
    const isExact = depth === 24 || depth === 8;
    assertSamePixels(await daemon.shot(), await xwd(box, env), isExact ? 0 : 1);
  });
}

boxTest('S04: never an alpha channel, also with a 32-bit window on top', async (box) => {
  const { daemon, env } = await box.startScreen();
  await box.paint(env, 'argb', 100, 100, 300, 200, '00336699');
  const plain = await daemon.shot();
  assertPixel(plain, 250, 200, [0x33, 0x66, 0x99]);
  await box.paint(env, 'pattern'); // many colours: no palette
  const coloured = await daemon.shot();
  for (const shot of [plain, coloured]) {
    assert([2, 3].includes(shot.colorType), `colour type ${shot.colorType}`);
    assert(shot.isOpaque);
    assert(shot.chunkTypes.includes('sRGB'));
  }
  const allowed = new Set(['IHDR', 'sRGB', 'PLTE', 'tEXt', 'iTXt', 'zTXt', 'IDAT', 'IEND']);
  assert(coloured.chunkTypes.every((type) => allowed.has(type)), `${coloured.chunkTypes}`);
});

boxTest('S06: a window that hangs over the edge is clipped and the clip reported', async (box) => {
  const { daemon, env } = await box.startScreen();
  const { window } = await box.paint(env, 'window', 100, 0, 1200, 1000, '336699');
  const shot = await daemon.shot(`?window=${window}`);
  assert.deepEqual([shot.width, shot.height], [1180, 800]);
  assert.equal(shot.headers['x-shot-origin'], '100,0');
  assert.equal(shot.headers['x-shot-clipped-from'], '100,0,1200,1000');
  assertPixel(shot, 0, 0, [0x33, 0x66, 0x99]);
  assertPixel(shot, 1179, 799, [0x33, 0x66, 0x99]);
  const whole = await daemon.shot();
  assert.deepEqual([whole.width, whole.height], [1280, 800]);
  const above = await box.paint(env, 'window', -50, -60, 80, 80, 'ff0000');
  const corner = await daemon.shot(`?window=${above.window}`);
  assert.deepEqual([corner.width, corner.height, corner.headers['x-shot-origin']], [30, 20, '0,0']);
});

boxTest('S06: windows that are not there or not on the screen are errors', async (box) => {
  const { daemon, env } = await box.startScreen();
  const outside = await box.paint(env, 'window', 2000, 0, 50, 50, '336699').catch(() => null);
  const gone = await box.paint(env, 'window', 0, 0, 50, 50, '336699');
  await gone.stop();
  for (const window of [gone.window, 12345678, outside?.window].filter(Boolean)) {
    const reply = await daemon.request('GET', `/v1/shot?window=${window}`);
    assert([400, 404, 409, 410].includes(reply.status), `window ${window}: ${reply.status}`);
    assert(reply.json().message.length > 10);
  }
  assert.equal((await daemon.request('GET', '/v1/shot?window=active')).status >= 200, true);
  assert.equal((await daemon.shot()).width, 1280);
});

boxTest('S08: the same pixels without MIT-SHM', async (box) => {
  const { daemon, env } = await box.startScreen({ args: ['-extension', 'MIT-SHM'], width: 1279, height: 801 });
  await box.paint(env, 'pattern');
  assertSamePixels(await daemon.shot(), await xwd(box, env));
  await box.paint(env, 'window', 10, 10, 50, 50, '00ff00');
  assertPixel(await daemon.shot(), 30, 30, [0, 255, 0]);
});

const warp = (box, env, x, y) => box.ok(programs.xhelper, ['warp', `${x}`, `${y}`], { env });
const isCursor = (shot, x, y) => shot.pixel(x, y).join() === '255,0,255';

boxTest('S10: the pointer is drawn by its hotspot', async (box) => {
  const { daemon, env } = await box.startScreen();
  await solid(box, env, '#000000');
  await box.paint(env, 'cursor', 16, 8, 8, 'ff00ff');
  await warp(box, env, 200, 200);
  const shot = await daemon.shot('?cursor=1');
  for (let y = 180; y < 220; y++) {
    for (let x = 180; x < 220; x++) {
      const inside = x >= 192 && x <= 207 && y >= 192 && y <= 207;
      assert.equal(isCursor(shot, x, y), inside, `pixel ${x},${y}`);
    }
  }
  await warp(box, env, 0, 0);
  const corner = await daemon.shot('?cursor=1');
  for (const [x, y, inside] of [[0, 0, true], [7, 7, true], [8, 7, false], [7, 8, false]]) {
    assert.equal(isCursor(corner, x, y), inside, `pixel ${x},${y}`);
  }
  await warp(box, env, 1279, 799);
  assert(isCursor(await daemon.shot('?cursor=1'), 1279, 799));
  await warp(box, env, 200, 200);
  assert(!isCursor(await daemon.shot('?cursor=0'), 200, 200));
  assert(!isCursor(await daemon.shot(), 200, 200));
  const region = await daemon.shot('?cursor=1&region=196,196,8,8');
  assert(isCursor(region, 0, 0) && isCursor(region, 7, 7));
});

// Xvfb's SECURITY extension answers BadAccess for the image of a cursor whose maker has gone, until
// another client takes that one's place.
boxTest('S10: the pointer that xsetroot left behind is drawn too', async (box) => {
  const { daemon, env } = await box.startScreen();
  await solid(box, env, '#000000');
  const bits = Array(32).fill('0xff').join(', ');
  fs.writeFileSync(box.file('c.xbm'), '#define c_width 16\n#define c_height 16\n#define c_x_hot 8\n#define c_y_hot 8\n' +
    `static char c_bits[] = {\n${bits}};\n`);
  await box.ok('xsetroot', ['-cursor', 'c.xbm', 'c.xbm', '-fg', '#ff00ff', '-bg', '#ff00ff'], { env });
  await warp(box, env, 200, 200);
  for (let round = 0; round < 3; round++) {
    const shot = await daemon.shot('?cursor=1');
    for (const [x, y, inside] of [[192, 192, true], [207, 207, true], [191, 200, false], [208, 200, false]]) {
      assert.equal(isCursor(shot, x, y), inside, `pixel ${x},${y}`);
    }
  }
});

boxTest('S12: eight at once, a hundred times each, lose nothing', async (box) => {
  const { daemon, env } = await box.startScreen();
  await box.paint(env, 'blink', 0, 0, 200, 200, 3);
  const one = async () => {
    for (let i = 0; i < 100; i++) {
      const reply = await daemon.request('GET', '/v1/shot');
      assert.equal(reply.status, 200);
      assert.equal(reply.body.readUInt32BE(16), 1280);
      assert.equal(reply.body.readUInt32BE(20), 800);
      if (i % 25 === 0) readPng(reply.body);
    }
  };
  await Promise.all(Array.from({ length: 8 }, one));
  assert(!daemon.end);
});

boxTest('S14: wait=stable returns after the first paint of a new window', async (box) => {
  const { daemon, env } = await box.startScreen();
  await solid(box, env, '#000000');
  for (let round = 0; round < 3; round++) {
    const xterm = box.spawn('xterm', ['-bg', '#123456', '-geometry', '200x80+0+0', '+sb'], { env });
    const shot = await daemon.shot('?wait=stable&quiet_ms=150&timeout_ms=5000');
    assertPixel(shot, 640, 400, [0x12, 0x34, 0x56]);
    assertPixel(await daemon.shot(), 640, 400, [0x12, 0x34, 0x56]);
    await xterm.stop();
  }
});

boxTest('wait=stable: a still screen returns at once, a blinking one by the time-out', async (box) => {
  const { daemon, env } = await box.startScreen();
  await solid(box, env, '#000000');
  await daemon.shot('?wait=stable&quiet_ms=300');
  const start = performance.now();
  const still = await daemon.shot('?wait=stable&quiet_ms=200&timeout_ms=5000');
  assert(performance.now() - start < 2500);
  assert.equal(still.headers['x-wait-end'], 'stable');
  await box.paint(env, 'blink', 0, 0, 20, 20, 20);
  const begin = performance.now();
  const blinking = await daemon.shot('?wait=stable&quiet_ms=200&timeout_ms=700');
  assert(performance.now() - begin >= 690);
  assert.equal(blinking.headers['x-wait-end'], 'timeout');
});

boxTest('wait=change: returns at the first change, says so when there is none', async (box) => {
  const { daemon, env } = await box.startScreen();
  await solid(box, env, '#000000');
  const still = await daemon.shot('?wait=stable&quiet_ms=200');
  const begin = performance.now();
  const none = await daemon.shot('?wait=change&timeout_ms=300');
  assert(performance.now() - begin >= 290);
  assert.deepEqual([none.headers['x-wait-end'], none.headers['x-wait-changed']], ['timeout', '0']);
  const waiting = daemon.shot('?wait=change&timeout_ms=10000');
  let isBack = false;
  waiting.then(() => { isBack = true; });
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert(!isBack, 'it returned before anything changed');
  const start = performance.now();
  await solid(box, env, '#ff8000');
  const changed = await waiting;
  assertPixel(changed, 5, 5, [255, 128, 0]);
  assert.equal(changed.headers['x-wait-end'], 'changed');
  assert(performance.now() - start < 2000);
  // A change since the picture of an ETag counts, though it has happened already.
  const since = await daemon.request('GET', '/v1/shot?wait=change&timeout_ms=10000',
    { headers: { 'If-None-Match': still.headers.etag } });
  assert.deepEqual([since.status, since.headers['x-wait-end']], [200, 'changed']);
});

boxTest('wait=change: what is redrawn alike, or elsewhere, is no change', async (box) => {
  const { daemon, env } = await box.startScreen();
  await solid(box, env, '#336699');
  await daemon.shot('?wait=stable&quiet_ms=200');
  const waiting = daemon.shot('?wait=change&timeout_ms=1000&region=500,500,100,100');
  await solid(box, env, '#336699');
  await box.paint(env, 'blink', 0, 0, 50, 50, 10);
  assert.equal((await waiting).headers['x-wait-end'], 'timeout');
});

boxTest('S15: a scaled or cropped picture maps back to the screen', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 1440, height: 3040 });
  await solid(box, env, '#000000');
  await box.paint(env, 'window', 983, 2538, 4, 4, 'ff0000');
  for (const query of ['?max_side=1280', '?scale=0.25', '?scale=0.5&region=900,2400,301,301', '?scale=2&region=980,2530,20,20', '']) {
    const shot = await daemon.shot(query);
    const [ox, oy] = shot.headers['x-shot-origin'].split(',').map(Number);
    const [sx, sy] = shot.headers['x-shot-scale'].split(',').map(Number);
    assert.equal(shot.headers['x-screen-size'], '1440x3040');
    let best = [0, 0], bestRed = 0;
    for (let y = 0; y < shot.height; y++) {
      for (let x = 0; x < shot.width; x++) {
        if (shot.pixel(x, y)[0] > bestRed) { bestRed = shot.pixel(x, y)[0]; best = [x, y]; }
      }
    }
    const where = [ox + (best[0] + 0.5) / sx, oy + (best[1] + 0.5) / sy];
    assert(where[0] >= 982 && where[0] <= 988 && where[1] >= 2537 && where[1] <= 2543, `${query}: ${where}`);
  }
  const reduced = await daemon.shot('?max_side=1280');
  assert.deepEqual([reduced.width, reduced.height], [606, 1280]);
});

boxTest('S16: two monitors are one screen', async (box) => {
  const { daemon, env } = await box.startScreen();
  await box.ok('xrandr', ['--setmonitor', 'L', '640/1x800/1+0+0', 'screen'], { env });
  await box.ok('xrandr', ['--setmonitor', 'R', '640/1x800/1+640+0', 'none'], { env });
  const status = await daemon.json('GET', '/v1/status');
  assert.deepEqual([status.screen.width, status.screen.height], [1280, 800]);
  const shot = await daemon.shot();
  assert.deepEqual([shot.width, shot.height], [1280, 800]);
});

boxTest('regions: right pixels, clipped or refused outside', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 641, height: 481 });
  await box.paint(env, 'pattern');
  const whole = await daemon.shot();
  for (const [x, y, w, h] of [[0, 0, 641, 481], [1, 1, 1, 1], [640, 480, 1, 1], [13, 17, 101, 97]]) {
    const part = await daemon.shot(`?region=${x},${y},${w},${h}`);
    assert.deepEqual([part.width, part.height, part.headers['x-shot-origin']], [w, h, `${x},${y}`]);
    assertSamePixels(part, { width: w, height: h, pixel: (px, py) => whole.pixel(x + px, y + py) });
  }
  const clipped = await daemon.request('GET', '/v1/shot?region=600,400,100,100');
  assert([200, 400].includes(clipped.status));
  if (clipped.status === 200) assert.equal(readPng(clipped.body).width, 41);
  const refused = ['1,2,3', '1,2,0,5', 'a,b,c,d', '1,2,3,4,5', '', '700,0,10,10', '-5,-5,2,2',
    '99999999999,0,1,1', '1.5,2,3,4'];
  for (const region of refused) {
    const reply = await daemon.request('GET', `/v1/shot?region=${region}`);
    assert.equal(reply.status, 400, `region=${region}: ${reply.status}`);
    assert.match(reply.json().message, /region/, `region=${region}`);
  }
  assert.equal((await daemon.request('GET', '/v1/shot?region=1,2,3,4%00')).status, 400);
});

boxTest('options that make no sense are refused by name', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 240 });
  const wrong = { format: ['gif', '', 'PNG8'], quality: ['0', '101', 'x'], scale: ['0', '-1', 'nan', 'inf', '1e9'],
    max_side: ['0', '-1', 'x', '99999999'], cursor: ['2', 'maybe'], wait: ['forever'], quiet_ms: ['-1', 'x'],
    timeout_ms: ['-1', '1e99'], window: ['x', '-1', '1.5'], annotate: ['boxes'], nosuch: ['1'] };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      const reply = await daemon.request('GET', `/v1/shot?${name}=${value}`);
      assert.equal(reply.status, 400, `${name}=${value}: ${reply.status}`);
      assert.match(reply.json().message, new RegExp(name), `${name}=${value}`);
    }
  }
});

boxTest('jpeg and webp decode to the same picture, roughly', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 320, height: 240 });
  await solid(box, env, '#336699');
  const jpeg = await daemon.request('GET', '/v1/shot?format=jpeg&quality=90');
  assert.equal(jpeg.headers['content-type'], 'image/jpeg');
  assert.equal(jpeg.body.readUInt16BE(0), 0xffd8);
  assert.equal(jpeg.body.readUInt16BE(jpeg.body.length - 2), 0xffd9);
  const webp = await daemon.request('GET', '/v1/shot?format=webp&quality=90');
  assert.equal(webp.headers['content-type'], 'image/webp');
  assert.equal(webp.body.toString('latin1', 8, 12), 'WEBP');
  assert.equal(webp.body.readUInt32LE(4) + 8, webp.body.length);
});

boxTest('annotate=grid draws over the picture and keeps its size', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 640, height: 480 });
  await solid(box, env, '#336699');
  const shot = await daemon.shot('?annotate=grid');
  assert.deepEqual([shot.width, shot.height], [640, 480]);
  let other = 0;
  for (let x = 0; x < 640; x++) other += shot.pixel(x, 240).join() !== '51,102,153';
  assert(other >= 5, `${other} pixels of a row are of the grid`);
});

boxTest('ETag: 304 while nothing changes, never after a change', async (box) => {
  const { daemon, env } = await box.startScreen();
  await solid(box, env, '#000000');
  const first = await daemon.shot('?wait=stable');
  const { etag } = first.headers;
  assert.match(etag, /^(W\/)?".+"$/);
  const ask = (query, tag) => daemon.request('GET', `/v1/shot${query}`, { headers: { 'If-None-Match': tag } });
  const same = await ask('', etag);
  assert.deepEqual([same.status, same.body.length], [304, 0]);
  assert.equal(same.headers.etag, etag);
  assert.equal((await ask('?scale=0.5', etag)).status, 200, 'other options are another picture');
  assert.equal((await ask('', '"nonsense"')).status, 200);
  assert.equal((await ask('', `"nonsense", ${etag}`)).status, 304);
  for (let round = 0; round < 20; round++) {
    const before = (await daemon.shot()).headers.etag;
    await solid(box, env, round % 2 ? '#000000' : '#ffffff');
    const after = await ask('', before);
    assert.equal(after.status, 200, `round ${round}: a change was not seen`);
    assertPixel(readPng(after.body), 3, 3, round % 2 ? [0, 0, 0] : [255, 255, 255]);
  }
});

boxTest('what is on the screen when the call comes is in the picture', async (box) => {
  const { daemon, env } = await box.startScreen();
  await solid(box, env, '#000000');
  for (let round = 0; round < 100; round++) {
    const value = (round * 37) % 256;
    const hex = value.toString(16).padStart(2, '0');
    await solid(box, env, `#${hex}${hex}00`);
    assertPixel(await daemon.shot('?region=10,10,4,4'), 1, 1, [value, value, 0]);
  }
});

boxTest('small changes in turn: each picture is whole and exact', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 640, height: 480 });
  await box.paint(env, 'pattern', 2);
  let seed = 7;
  const random = (below) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  for (let i = 0; i < 24; i++) {
    const size = i % 6 === 5 ? [600, 400] : [1 + random(40), 1 + random(30)];
    await box.paint(env, 'window', random(600), random(440), ...size,
      (0x100000 + random(0xefffff)).toString(16));
    // Some pictures are passed over, so that old memory misses more than one change.
    if (i % 5 !== 3) assertSamePixels(await daemon.shot(), await xwd(box, env));
  }
});

boxTest('no torn pictures while the whole screen flips', async (box) => {
  const { daemon, env } = await box.startScreen();
  await box.paint(env, 'blink', 0, 0, 1280, 800, 2);
  const seen = new Set();
  for (let round = 0; round < 60; round++) {
    const shot = await daemon.shot();
    const first = shot.pixel(0, 0).join();
    for (let y = 0; y < 800; y += 7) assert.equal(shot.pixel((y * 13) % 1280, y).join(), first, `row ${y}`);
    seen.add(first);
  }
  assert.equal(seen.size, 2, 'both colours were seen');
});

boxTest('PUT /v1/screen and xrandr change the size of the next picture', async (box) => {
  const { daemon, env } = await box.startScreen();
  const events = followEvents(daemon.socket);
  await events.connected;
  await daemon.json('PUT', '/v1/screen', { body: { width: 1024, height: 768 } });
  const small = await daemon.shot();
  assert.deepEqual([small.width, small.height], [1024, 768]);
  assert.match(JSON.stringify(await waitFor('an event', () => events.events.find((e) => e.type.startsWith('screen.')))), /1024/);
  await box.ok('xrandr', ['--output', 'screen', '--mode', '1280x800'], { env });
  await waitFor('the old size', async () => (await daemon.shot()).width === 1280);
  for (const body of [{ width: 0, height: 5 }, { width: 99999, height: 99999 }, { width: 800 }, { width: '800', height: 600 }, { width: 800, height: 600, x: 1 }]) {
    const reply = await daemon.request('PUT', '/v1/screen', { body });
    assert([400, 409].includes(reply.status), `${JSON.stringify(body)}: ${reply.status}`);
  }
  assert.equal((await daemon.shot()).width, 1280);
  events.close();
});

boxTest('POST /v1/shots saves whole files and gives a link that works for an hour', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 640, height: 480 });
  await solid(box, env, '#336699');
  const path = box.file('saved.png');
  fs.writeFileSync(path, 'old');
  const saved = await daemon.json('POST', '/v1/shots', { body: { path } });
  const file = fs.readFileSync(path);
  assert.deepEqual([saved.path, saved.width, saved.height, saved.bytes], [path, 640, 480, file.length]);
  assertPixel(readPng(file), 600, 400, [0x33, 0x66, 0x99]);
  assert.deepEqual(fs.readdirSync(box.folder).filter((name) => name.includes('.part')), []);
  const left = Date.parse(saved.expires_at) - Date.now();
  assert(left > 3500e3 && left <= 3601e3, `${left} ms left`);
  const get = (url, options = {}) => new Promise((resolve, reject) => {
    http.get(url, { agent: false, ...options }, (reply) => {
      const parts = [];
      reply.on('data', (part) => parts.push(part));
      reply.on('end', () => resolve({ status: reply.statusCode, headers: reply.headers, body: Buffer.concat(parts) }));
    }).on('error', reject);
  });
  const linked = await get(saved.url);
  assert.equal(linked.status, 200);
  assert(linked.body.equals(file));
  assert.equal(linked.headers['content-type'], 'image/png');
  const part = await get(saved.url, { headers: { Range: 'bytes=0-7' } });
  assert.deepEqual([part.status, part.body.length], [206, 8]);
  const url = new URL(saved.url);
  for (const [name, value] of url.searchParams) {
    const forged = new URL(url);
    forged.searchParams.set(name, value.slice(0, -1) + (value.endsWith('0') ? '1' : '0'));
    assert([403, 404].includes((await get(forged)).status), `forged ${name}`);
  }
  assert([403, 404].includes((await get(new URL('/../../etc/passwd', saved.url))).status));
  assert([400, 403, 404].includes((await get(`${url.origin}/%2e%2e/%2e%2e/etc/passwd`)).status));
  // Every letter of it is signed: the name, the id's length, how the number is written.
  const start = saved.url.indexOf('/files/') + 7;
  for (let i = start; i < saved.url.length; i++) {
    const letter = saved.url[i] === 'b' ? 'c' : 'b';
    for (const other of [saved.url.slice(0, i) + letter + saved.url.slice(i + 1), `${saved.url.slice(0, i)}0${saved.url.slice(i)}`])
      assert.equal((await get(other)).status, 404, other);
  }
  assert.equal((await get(saved.url)).status, 200);
  // Other bytes with the old size and time put back are another file.
  const { atimeMs, mtimeMs } = fs.statSync(path);
  await box.ok('touch', ['-r', path, box.file('times')]);
  const fd = fs.openSync(path, 'r+');
  fs.writeSync(fd, 'XXXXX', file.length - 5);
  fs.closeSync(fd);
  await box.ok('touch', ['-r', box.file('times'), path]);
  const touched = fs.statSync(path);
  assert.deepEqual([touched.size, touched.mtimeMs, touched.atimeMs], [file.length, mtimeMs, atimeMs]);
  assert.equal((await get(saved.url)).status, 410);
  const again = await daemon.json('POST', '/v1/shots', { body: { path } });
  assert.equal((await get(again.url)).status, 200);
  fs.rmSync(path);
  assert.equal((await get(again.url)).status, 410);
});

boxTest('POST /v1/shots refuses what it cannot save', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 240 });
  const ask = (body) => daemon.request('POST', '/v1/shots', { body });
  for (const body of [{}, { path: '' }, { path: 5 }, { path: box.file('x.png'), formt: 'png' }, { path: box.file('x.png'), scale: 'x' }, { path: 'relative.png' }]) {
    const reply = await ask(body);
    assert.equal(reply.status, 400, JSON.stringify(body));
  }
  for (const path of ['/nonexistent/folder/x.png', box.folder, '/dev/null']) {
    const reply = await ask({ path });
    assert(reply.status >= 400 && reply.status < 508 && reply.status !== 500, `${path}: ${reply.status}`);
    assert(reply.json().message.length > 10);
  }
  assert.equal(fs.statSync('/dev/null').isCharacterDevice(), true);
  assert.equal(fs.existsSync(box.file('x.png')), false);
});

boxTest('POST /v1/shots writes over regular files alone: never through a link, never over what else is there', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 320, height: 240 });
  const ask = (path, more) => daemon.request('POST', '/v1/shots', { body: { path, ...more } });
  const target = box.file('precious.png');
  fs.writeFileSync(target, 'precious');
  fs.symlinkSync(target, box.file('link.png'));
  fs.symlinkSync(box.file('new.png'), box.file('dangling.png'));
  fs.symlinkSync('/dev/null', box.file('device.png'));
  await box.ok('mkfifo', [box.file('fifo.png')]);
  const before = () => fs.readdirSync(box.folder).map((name) => [name, fs.lstatSync(box.file(name)).ino]);
  const were = before();
  for (const [name, why] of [['link.png', /symbolic link/], ['dangling.png', /symbolic link/], ['device.png', /symbolic link/],
    ['fifo.png', /device, pipe or socket/], ['control0.sock', /device, pipe or socket/]]) {
    const reply = await ask(box.file(name), { format: 'png' });
    assert.deepEqual([reply.status, reply.json().error], [400, 'bad_request'], name);
    assert.match(reply.json().message, why);
  }
  for (const path of ['/dev/shm/boxscreen-test.png', '/proc/self/fd/1', `${box.folder}/../x.png`, `${box.folder}//x.png`,
    `${box.folder}/./x.png`, `${box.folder}/`, box.file(`${'x'.repeat(230)}.png`)]) {
    const reply = await ask(path, { format: 'png' });
    assert.deepEqual([reply.status, /^path: (must|has)/.test(reply.json().message)], [400, true], `${path}: ${reply.body}`);
  }
  // A trap that is laid while the picture is waited for; one that is there already is told at once.
  await solid(box, env, '#000000');
  const waiting = ask(box.file('late.png'), { wait: 'change', timeout_ms: 20000 });
  await daemon.json('GET', '/v1/status');
  await daemon.json('GET', '/v1/status');
  fs.symlinkSync(target, box.file('late.png'));
  assert.equal((await ask(box.file('late.png'), { wait: 'change', timeout_ms: 20000 })).status, 400);
  await solid(box, env, '#ffffff');
  assert.equal((await waiting).status, 400);
  fs.rmSync(box.file('late.png'));
  // What publishes to a playlist looks at the same.
  for (const path of [box.file('link.m3u8'), '/dev/shm/x.m3u8', `${box.folder}/../x.m3u8`]) {
    if (path.endsWith('link.m3u8')) fs.symlinkSync(target, path);
    assert.equal((await daemon.request('POST', '/v1/publish', { body: { url: path } })).status, 400, path);
  }
  fs.rmSync(box.file('link.m3u8'));
  assert.deepEqual(before(), were, 'nothing was replaced, nothing was left');
  assert.equal(fs.readFileSync(target, 'utf8'), 'precious');
});

boxTest('folders that are links: followed to where a path could name, never to below /proc, /sys or /dev', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 320, height: 240 });
  await solid(box, env, '#336699');
  fs.mkdirSync(box.file('real'));
  const name = path.basename(box.folder);
  for (const [link, target] of [['good', box.file('real')], ['shm', '/dev/shm'], ['dev', '/dev'], ['self', '/proc/self'], ['sys', '/sys/kernel'],
    ['chain', box.file('shm')], ['gone', box.file('nothing')]])
    fs.symlinkSync(target, box.file(link));
  const before = fs.readdirSync(box.folder);
  assert.equal((await daemon.json('POST', '/v1/shots', { body: { path: box.file('good/x.png') } })).path, box.file('good/x.png'));
  assertPixel(readPng(fs.readFileSync(box.file('real/x.png'))), 5, 5, [0x33, 0x66, 0x99]);
  for (const folder of ['shm', 'dev', 'self/cwd', path.join('self', 'root', 'tmp'), 'self/fd', 'sys', 'chain']) {
    for (const [method, body] of [['/v1/shots', { path: box.file(`${folder}/${name}.png`) }], ['/v1/recordings', { path: box.file(`${folder}/${name}.mp4`) }],
      ['/v1/publish', { url: box.file(`${folder}/${name}.m3u8`) }]]) {
      const reply = await daemon.request('POST', method, { body });
      assert.equal(reply.status, 400, `${method} ${folder}: ${reply.body}`);
      assert.match(reply.json().message, /below \/proc, \/sys or \/dev/, `${method} ${folder}`);
    }
  }
  assert.match((await daemon.request('POST', '/v1/shots', { body: { path: box.file('gone/x.png') } })).json().message, /does not exist/);
  // The folder is turned elsewhere while the picture is waited for.
  const waiting = daemon.request('POST', '/v1/shots', { body: { path: box.file(`good/${name}.png`), wait: 'change', timeout_ms: 20000 } });
  await daemon.json('GET', '/v1/status');
  await daemon.json('GET', '/v1/status');
  fs.rmSync(box.file('good'));
  fs.symlinkSync('/dev/shm', box.file('good'));
  await solid(box, env, '#ffffff');
  assert.equal((await waiting).status, 400);
  // A recording's file is finished beside itself: a link laid there is replaced, not followed.
  fs.writeFileSync(box.file('precious'), 'precious');
  fs.symlinkSync(box.file('precious'), box.file('real/film.mp4.finishing'));
  const recording = await startRecording(daemon, { path: box.file('real/film.mp4') });
  await stopRecording(daemon, recording.id);
  assert.equal(fs.readFileSync(box.file('precious'), 'utf8'), 'precious');
  assert.deepEqual(fs.readdirSync(box.file('real')).sort(), ['film.mp4', 'x.png']);
  assert.deepEqual(fs.readdirSync('/dev/shm').filter((file) => file.includes(name)), []);
  assert.deepEqual(fs.readdirSync(box.folder).filter((file) => file !== 'precious'), before);
});

boxTest('the frame headers tell time and change', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 320, height: 240 });
  await solid(box, env, '#336699');
  const shot = await daemon.shot();
  assert(Math.abs(Date.parse(shot.headers['x-frame-time']) - Date.now()) < 20000, shot.headers['x-frame-time']);
  assert(shot.headers['x-frame-changed'] !== undefined);
  assert(shot.text.length >= 1, 'a text chunk with the time');
});

boxTest('HEAD answers like GET, without the picture', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 240 });
  const reply = await request(daemon.socket, 'HEAD', '/v1/shot');
  assert.deepEqual([reply.status, reply.body.length], [200, 0]);
});
