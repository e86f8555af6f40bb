// SPDX-License-Identifier: GPL-2.0-or-later
//
// The live screen as RFB: pictures, sizes, extensions, the clipboard, roles, and peers that vanish. The V
// cases of the collected public reports that concern the server. What slow and many viewers cost is in
// live-load.test.mjs, the WebSocket and the page's address in live-web.test.mjs, keys in
// live-input.test.mjs, browsers and other programs in live-clients.test.mjs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { act, heldDown } from './desk.mjs';
import { boxTest, followEvents, patience, programs, waitFor } from './harness.mjs';
import { ENC, LIKE_NOVNC, Rfb, TIGHT } from './rfb.mjs';
import { WebSocketClient } from './websocket.mjs';
import { makeLink } from './browsers.mjs';
import { startLive, viewers } from './live.mjs';

// Pictures

const WAYS = { 'Raw': [ENC.raw], 'Tight': TIGHT, 'Tight without LastRect': [ENC.tight],
  'what noVNC asks for': LIKE_NOVNC };
for (const [name, encodings] of Object.entries(WAYS)) {
  boxTest(`the picture is exact, and stays so, with ${name}`, async (box) => {
    const { daemon, env, connect } = await startLive(box, { width: 641, height: 479 });
    await box.paint(env, 'pattern', 3);
    const client = await connect(encodings);
    client.follow();
    await client.waitExact(daemon);
    for (const colour of ['ff8000', '123456']) {
      await box.paint(env, 'window', 101, 53, 203, 107, colour);
      await client.waitExact(daemon);
    }
  });
}

boxTest('V10: an odd size is whole, and a vertical line stays vertical', async (box) => {
  const { daemon, env, connect } = await startLive(box, { width: 1599, height: 899 });
  await box.paint(env, 'window', 777, 0, 1, 899, 'ff0000');
  const client = await connect();
  assert.deepEqual([client.width, client.height], [1599, 899]);
  client.follow();
  await client.waitExact(daemon);
  for (let y = 0; y < 899; y += 97) assert.deepEqual(client.at(777, y), [255, 0, 0]);
});

boxTest('V15: who only looks gets the whole picture within a second, without any input', async (box) => {
  const { daemon, env, connect } = await startLive(box, { role: 'view' });
  await box.paint(env, 'pattern', 5);
  const start = performance.now();
  const client = await connect();
  client.request(false);
  await waitFor('the first update', () => client.updates > 0, 1000);
  assert(performance.now() - start < 1000 * patience);
  client.follow();
  await client.waitExact(daemon);
});

for (const version of ['RFB 003.003\n', 'RFB 003.007\n', 'RFB 003.008\n', 'RFB 003.889\n', 'RFB 004.001\n']) {
  boxTest(`the handshake of ${JSON.stringify(version)}`, async (box) => {
    const { connect } = await startLive(box);
    if (version.startsWith('RFB 004')) {
      await assert.rejects(connect(TIGHT, { version }));
      return;
    }
    const minor = version === 'RFB 003.889\n' ? '003' : version.slice(8, 11);
    const client = await Rfb.unix(box.file('rfb.sock'));
    box.onClose(() => client.destroy());
    if (minor === '003') {
      // 889 is Apple's; it speaks 3.3.
      await client.input.read(12);
      client.write(version);
      assert.equal(await client.input.u32(), 1);
      client.write([1]);
      assert.equal((await client.input.read(24)).readUInt16BE(0), 1280);
    } else {
      await client.open({ version });
      assert.equal(client.width, 1280);
    }
  });
}

boxTest('V33: at 3840x2160 no Tight rectangle is wider than 2048', async (box) => {
  const { daemon, env, connect } = await startLive(box, { width: 3840, height: 2160 });
  await box.paint(env, 'window', 100, 100, 3500, 1900, '4080c0');
  const client = await connect(); // the client checks each rectangle
  client.follow();
  await client.waitExact(daemon, 10000);
  assert(client.rects.some((rect) => rect.encoding === ENC.tight));
});

boxTest('V33: a cursor of 256x256 with alpha, in each form', async (box) => {
  const { daemon, env, connect } = await startLive(box);
  await box.paint(env, 'cursor', 64, 8, 9, 'ff0000');
  for (const encoding of [ENC.cursor, ENC.vmwareCursor, ENC.cursorAlpha]) {
    const client = await connect([ENC.tight, encoding]);
    client.follow();
    const cursor = await waitFor('the cursor', () => client.cursor?.width === 64 && client.cursor);
    assert.deepEqual([cursor.x, cursor.y, cursor.height], [8, 9, 64], 'the hotspot');
    assert.deepEqual([...cursor.data.subarray(0, 4)],
      encoding === ENC.cursor ? [0, 0, 255, 0] : [255, 0, 0, 255]);
  }
  const client = await connect([ENC.tight, ENC.cursorAlpha]);
  client.follow();
  await box.paint(env, 'cursor', 256, 128, 128, '00ff00');
  const large = await waitFor('the large cursor', () => client.cursor?.width >= 64 && client.cursor.x !== 8 && client.cursor);
  assert(large.width <= 256 && !client.failure);
  await client.waitExact(daemon);
});

boxTest('watchers see the pointer move', async (box) => {
  const { daemon, connect } = await startLive(box, { role: 'view' });
  const client = await connect([ENC.tight, ENC.pointerPos]);
  client.follow();
  await waitFor('the first position', () => client.pointers.length > 0);
  await act(daemon, [{ type: 'move', x: 321, y: 123 }]);
  await waitFor('the pointer at its place', () => String(client.pointers.at(-1)) === '321,123', 1000);
});

// Sizes

const resize = (daemon, width, height) => daemon.request('PUT', '/v1/screen', { body: { width, height } });

boxTest('V09: a new size reaches viewers that know sizes, the others are closed', async (box) => {
  const { daemon, env, connect } = await startLive(box);
  const extended = await connect([...TIGHT, ENC.extendedDesktopSize]);
  const plain = await connect([...TIGHT, ENC.desktopSize]);
  const neither = await connect(TIGHT);
  for (const client of [extended, plain, neither]) {
    client.follow();
    await client.waitExact(daemon);
  }
  const { pid } = daemon;
  for (const [width, height] of [[1024, 768], [1280, 800]]) {
    assert.equal((await resize(daemon, width, height)).status, 200);
    await box.paint(env, 'window', 10, 10, 100, 100, 'ff00ff');
    for (const client of [extended, plain]) {
      await waitFor('the new size', () => client.width === width && client.height === height);
      await client.waitExact(daemon);
    }
  }
  await waitFor('the viewer without sizes to be closed', () => neither.isClosed);
  assert.equal(daemon.pid, pid);
  assert(!daemon.end);
});

boxTest('a controller changes the size; what cannot be is answered', async (box) => {
  const { daemon, connect } = await startLive(box);
  const client = await connect([...TIGHT, ENC.extendedDesktopSize]);
  client.follow();
  await waitFor('the word that sizes are known', () => client.sizes.length > 0);
  client.setDesktopSize(1000, 700);
  await waitFor('the answer', () => client.sizes.some((size) => size.reason === 1 && size.status === 0));
  await waitFor('the size', () => client.width === 1000);
  await client.waitExact(daemon);
  client.setDesktopSize(9000, 9000);
  await waitFor('the refusal', () => client.sizes.some((size) => size.reason === 1 && size.status === 3));
});

boxTest('V10: 50 changes of size under three busy viewers', async (box) => {
  const { daemon, env, connect } = await startLive(box);
  await box.paint(env, 'blink', 0, 0, 600, 500, 20);
  const clients = [];
  for (const encodings of [LIKE_NOVNC, [...TIGHT, ENC.desktopSize, ENC.quality6], [ENC.raw, ENC.desktopSize]]) {
    const client = await connect(encodings);
    client.follow();
    clients.push(client);
  }
  for (let i = 0; i < 50; i++) {
    const [width, height] = i % 2 ? [1279 - i, 799 - i] : [640 + 3 * i, 480 + i];
    assert.equal((await resize(daemon, width, height)).status, 200);
    if (i % 10 === 0) await sleep(30);
  }
  for (const client of clients) {
    await waitFor('the last size', () => {
      assert(!client.failure, client.failure);
      return client.width === 1230;
    }, 10000);
  }
}, { timeout: 240000 });

// Extensions

boxTest('extensions are announced as each wants it, and answered', async (box) => {
  const { daemon, connect } = await startLive(box);
  const client = await connect([...LIKE_NOVNC, ENC.pointerPos]);
  client.request(false);
  await waitFor('all announcements', () => client.hasQemuKey && client.hasExtendedMouse && client.lights !== undefined
    && client.endsOfContinuous === 1 && client.fences.length > 0 && client.sizes.length > 0
    && client.clipboards.length > 0 && client.cursor);
  assert.match(client.name, /^boxscreen /);
  const caps = client.clipboards[0];
  assert.equal(caps.flags >>> 0, 0x1f000001, 'request, peek, notify, provide, text');
  // A fence comes back with its payload, its flags cut down to those known.
  client.fence(0x80000007, [1, 2, 3]);
  await waitFor('the fence', () => client.fences.some((fence) => fence.flags === 7 && fence.payload.equals(Buffer.from([1, 2, 3]))));
  // Continuous updates come without asking, and end with a word.
  client.continuous(true);
  await box.paint({ DISPLAY: daemon.display }, 'window', 50, 50, 60, 60, '00ff00');
  await client.waitExact(daemon);
  client.continuous(false);
  await waitFor('the end of continuous updates', () => client.endsOfContinuous === 2);
});

boxTest('lights: Caps Lock on the screen reaches the viewer', async (box) => {
  const { daemon, connect } = await startLive(box);
  const client = await connect([...TIGHT, ENC.led]);
  client.follow();
  await waitFor('the lights', () => client.lights === 0);
  for (const lights of [4, 0]) {
    await act(daemon, [{ type: 'key', keys: 'Caps_Lock' }]);
    await waitFor('Caps Lock', () => client.lights === lights, 1000);
  }
});

// The moving picture

boxTest('what moves comes as JPEG, what rests is exact beside it and becomes exact after', async (box) => {
  const { daemon, env, connect } = await startLive(box);
  await box.paint(env, 'pattern', 9);
  const client = await connect([...TIGHT, ENC.quality6]);
  client.follow();
  await client.waitExact(daemon);
  const blink = await box.paint(env, 'blink', 333, 222, 301, 203, 25);
  await waitFor('JPEG', () => client.lossy.length > 5);
  const { x, y, width, height } = client.lossy.at(-1);
  assert(x >= 333 && y >= 222 && x + width <= 634 && y + height <= 425, `JPEG only where it moves: ${[x, y, width, height]}`);
  const shot = await daemon.shot();
  assert.equal(client.differences(shot, { x: 0, y: 0, width: 1280, height: 222 }), 0);
  assert.equal(client.differences(shot, { x: 0, y: 222, width: 333, height: 400 }), 0);
  await blink.stop();
  await client.waitExact(daemon, 1500);
});

boxTest('H.264: begins with an IDR of its own context, goes on without gaps, ends exact', async (box) => {
  const { daemon, env, connect } = await startLive(box);
  await box.paint(env, 'pattern', 9);
  const client = await connect([...LIKE_NOVNC, ENC.h264]);
  client.follow();
  await client.waitExact(daemon);
  const blink = await box.paint(env, 'blink', 100, 100, 401, 301, 25);
  await waitFor('a good deal of H.264', () => client.h264.length > 30, 10000);
  assert.equal(client.h264[0].flags, 1, 'the first resets its context');
  for (const rect of client.h264) {
    assert(rect.width % 2 === 0 && rect.height % 2 === 0);
    assert.equal(rect.data.readUInt32BE(0), 1, 'Annex B');
  }
  // One rectangle's packets, decoded by somebody else.
  const { width, height } = client.h264.at(-1);
  const last = client.h264.filter((rect) => rect.width === width && rect.height === height);
  fs.writeFileSync(box.file('video.h264'), Buffer.concat(last.map((rect) => rect.data)));
  const decoded = await box.run('ffmpeg', ['-v', 'error', '-xerror', '-i', box.file('video.h264'), '-f', 'null', '-']);
  assert.equal(decoded.status, 0, decoded.stderr);
  assert.equal(decoded.stderr, '');
  await blink.stop();
  await client.waitExact(daemon, 1500);
  const [viewer] = await viewers(daemon);
  assert.equal(viewer.encoding, 'h264');
  assert(viewer.bytes > 0 && viewer.rtt_ms > 0);
});

boxTest('a second viewer joins the moving picture at an IDR', async (box) => {
  const { env, connect } = await startLive(box);
  await box.paint(env, 'blink', 100, 100, 400, 300, 25);
  const first = await connect([...LIKE_NOVNC, ENC.h264]);
  first.follow();
  await waitFor('H.264 at the first', () => first.h264.length > 10, 10000);
  const second = await connect([...LIKE_NOVNC, ENC.h264]);
  second.follow();
  await waitFor('H.264 at the second', () => second.h264.length > 10, 10000);
  assert.equal(second.h264[0].flags, 1);
});

// The clipboard

const XCLIP = ['-selection', 'clipboard', '-o', '-t', 'UTF8_STRING'];

boxTest('V01: pastes arrive, by the extended clipboard and as Latin-1', async (box) => {
  const { env, connect } = await startLive(box);
  const modern = await connect(LIKE_NOVNC);
  const text = 'Grüße 你好 😀\nzweite Zeile';
  modern.provideText(text);
  await waitFor('the text', async () => (await box.run('xclip', XCLIP, { env })).stdout.toString() === text);
  const old = await connect(TIGHT);
  old.cutText(Buffer.from([0x63, 0x61, 0x66, 0xe9]));
  await waitFor('café', async () => (await box.run('xclip', XCLIP, { env })).stdout.toString() === 'café');
  // Who announces is asked.
  modern.clipboard(0x08000001);
  await waitFor('the request', () => modern.clipboards.some(({ flags }) => flags === 0x02000001));
});

boxTest('V03: 300,000 bytes, and more than 1 MB, both ways', async (box) => {
  const { daemon, env, connect } = await startLive(box);
  const modern = await connect(LIKE_NOVNC);
  const old = await connect(TIGHT);
  for (const size of [300000, 1500000]) {
    const text = 'äbc\n0123456789'.repeat(Math.ceil(size / 14)).slice(0, size);
    modern.provideText(text);
    await waitFor('the paste', async () => (await box.run('xclip', XCLIP, { env })).stdout.toString() === text, 10000);
    const copied = `${size} ${text}`;
    await box.ok('xclip', ['-selection', 'clipboard', '-i'], { env, input: copied, stdio: ['pipe', 'ignore', 'ignore'] });
    await waitFor('the announcement', () => modern.clipboards.at(-1)?.flags === 0x08000001, 10000);
    modern.clipboard(0x02000001);
    await waitFor('the text', () => modern.clipboards.at(-1)?.text === copied.replace(/\n/g, '\r\n'), 10000);
    await waitFor('the text as Latin-1', () => old.cutTexts.at(-1)?.equals(Buffer.from(copied, 'latin1')), 10000);
    modern.clipboards.push({});
  }
  assert(!daemon.end && !modern.failure);
});

boxTest('a text beyond the limit is dropped, not the viewer', async (box) => {
  const { daemon, connect } = await startLive(box);
  const client = await connect(LIKE_NOVNC);
  client.cutText(Buffer.alloc(5 << 20, 'x'));
  client.fence(0x80000001, [9]);
  await waitFor('what came after it to be answered', () => client.fences.some(({ payload }) => payload[0] === 9));
  assert.equal((await viewers(daemon))[0].refused, 1);
});

// Roles

boxTest('T13: a watcher changes nothing, is counted, and goes on watching', async (box) => {
  const { daemon, env, connect } = await startLive(box, { role: 'view' });
  await box.ok('xclip', ['-selection', 'clipboard', '-i'], { env, input: 'before', stdio: ['pipe', 'ignore', 'ignore'] });
  const client = await connect([...LIKE_NOVNC, ENC.pointerPos]);
  client.follow();
  await client.waitExact(daemon);
  const place = String(await waitFor('the pointer', () => client.pointers.at(-1)));
  client.key(0x61, true);
  client.pointer(5, 5, 1);
  client.provideText('after');
  client.cutText(Buffer.from('after'));
  client.setDesktopSize(640, 480);
  client.fence(0x80000001, [7]);
  await waitFor('all of it to be dealt with', () => client.fences.some(({ payload }) => payload[0] === 7));
  assert.deepEqual(await heldDown(box, env), []);
  assert.equal((await box.run('xclip', XCLIP, { env })).stdout.toString(), 'before');
  assert.equal(client.clipboards.length, 0, 'no clipboard is offered to watchers');
  const [viewer] = await viewers(daemon);
  assert.deepEqual([viewer.role, viewer.refused], ['view', 5]);
  await box.paint(env, 'window', 10, 10, 50, 50, 'ff0000');
  await client.waitExact(daemon);
  assert.deepEqual([client.width, client.height], [1280, 800]);
  assert.equal(String(client.pointers.at(-1)), place);
  const metrics = (await daemon.request('GET', '/metrics')).body.toString();
  assert.match(metrics, /^boxscreen_viewer_refused_total 5$/m);
  assert.match(metrics, /^boxscreen_viewer_fps\{id="1",role="view",encoding="tight\+jpeg"\} /m);
});

boxTest('a controller takes the screen from the agent with a key, and gives it back when it leaves', async (box) => {
  const { daemon, connect } = await startLive(box);
  const events = followEvents(daemon.socket);
  await events.connected;
  const client = await connect(LIKE_NOVNC);
  const status = async () => (await daemon.json('GET', '/v1/status')).control;
  client.pointer(5, 5, 0);
  client.fence(0x80000001, [7]);
  await waitFor('the fence', () => client.fences.some(({ payload }) => payload[0] === 7));
  assert.equal((await status()).holder, 'agent', 'a passing pointer takes nothing');
  client.tap(0x61);
  await events.next('control.locked');
  assert.deepEqual([(await status()).holder, (await status()).locked], ['person', true]);
  const refused = await daemon.request('POST', '/v1/act', { body: { actions: [{ type: 'key', keys: 'a' }] } });
  assert.equal(refused.status, 423, refused.body.toString());
  client.destroy();
  await events.next('control.unlocked');
  await events.next('viewer.left');
  assert.equal((await status()).holder, 'agent');
});

// Peers that leave or do not behave

boxTest('V11: keys and buttons of a peer that vanishes are up within a second', async (box) => {
  const { daemon, env } = await startLive(box);
  const link = await makeLink(daemon, 'control');
  for (const leave of ['resetAndDestroy', 'end', 'destroy']) {
    const socket = await WebSocketClient.live(link, { takes: true, confirm: true });
    const client = await socket.rfb().open();
    client.key(0xffe1, true);
    client.key(0x61, true);
    client.pointer(10, 10, 1);
    await waitFor('the keys to be down', async () => (await heldDown(box, env)).length === 3);
    socket.socket[leave]();
    await waitFor(`all up after ${leave}`, async () => (await heldDown(box, env)).length === 0, 1000);
  }
});

// Native viewers

boxTest('--rfb on a loopback port wants its password, all others are refused', async (box) => {
  fs.writeFileSync(box.file('password'), 'secret12 and more\n');
  const server = await box.startXvfb();
  const port = 20000 + Math.floor(Math.random() * 12000);
  const daemon = await box.startDaemon({ display: server.display,
    args: ['--rfb', `127.0.0.1:${port}`, '--rfb-password-file', box.file('password'), '--rfb-role', 'view'] });
  const good = await (await Rfb.tcp(port)).open({ password: 'secret12' });
  assert.deepEqual(good.securityTypes, [2], 'only VNC authentication is offered');
  good.setEncodings(TIGHT);
  good.follow();
  await good.waitExact(daemon);
  good.destroy();
  await assert.rejects((await Rfb.tcp(port)).open({ password: 'wrong' }), /refused: the password is wrong/);
  const none = await Rfb.tcp(port);
  await assert.rejects(none.open());
  none.destroy();
});

boxTest('--rfb on a path is its owner\'s, and addresses that others reach are refused', async (box) => {
  const { rfb } = await startLive(box);
  assert.equal(fs.statSync(rfb).mode & 0o777, 0o600);
  for (const [args, says] of [[['--rfb', '0.0.0.0:5900'], /tunnel/], [['--rfb', '127.0.0.1:5900'], /--rfb-password-file/],
    [['--rfb', '192.0.2.1:5900'], /tunnel/], [['--rfb', '/tmp/x', '--rfb-role', 'owner'], /view or control/]]) {
    const result = await box.run(programs.boxscreend, args);
    assert.equal(result.status, 2, args.join(' '));
    assert.match(result.stderr, says);
  }
});
