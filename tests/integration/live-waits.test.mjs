// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the live view does only after seconds: peers that are silent, and a daemon that was frozen.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeLink } from './browsers.mjs';
import { heldDown } from './desk.mjs';
import { boxTest, patience, waitFor } from './harness.mjs';
import { startLive } from './live.mjs';
import { LIKE_NOVNC, Rfb } from './rfb.mjs';
import { WebSocketClient } from './websocket.mjs';

boxTest('V11 V13: a peer that is silent behind an open socket is dead after 25 s; pings come each 10', async (box) => {
  const { daemon, env } = await startLive(box);
  const link = await makeLink(daemon, 'control');
  const silent = await WebSocketClient.live(link, { takes: true });
  silent.answersPings = false;
  const client = await silent.rfb().open();
  client.answersFences = false;
  client.key(0x61, true);
  const start = performance.now();
  const alive = await WebSocketClient.live(link);
  await alive.rfb().open();
  await waitFor('the key to be up', async () => (await heldDown(box, env)).length === 0, 30000, 500);
  assert(performance.now() - start > 20000, 'not too soon');
  assert(alive.pings.length >= 2, `${alive.pings.length} pings`);
  assert(alive.pings[0] - start < 12000 && !alive.isClosed);
  alive.destroy();
});

boxTest('handshakes that stall are dropped after 10 s, and what is no RFB at once', async (box) => {
  const { rfb } = await startLive(box);
  const stalled = await Rfb.unix(rfb);
  stalled.write('RFB 003.008\n');
  const noise = await Rfb.unix(rfb);
  noise.write('GET / HTTP/1.1\r\n\r\n');
  await waitFor('the noise to be dropped', () => noise.isClosed, 1000);
  await waitFor('the stalled one to be dropped', () => stalled.isClosed, 13000, 100);
});

boxTest('L12: frozen for a while, the daemon comes back at once', async (box) => {
  const { daemon, env } = await startLive(box);
  const link = await makeLink(daemon, 'view');
  const socket = await WebSocketClient.live(link);
  const client = await socket.rfb().open();
  client.setEncodings(LIKE_NOVNC);
  client.isContinuous = true;
  client.continuous(true);
  await client.waitExact(daemon);
  const pings = socket.pings.length;
  process.kill(daemon.pid, 'SIGSTOP');
  await box.paint(env, 'window', 10, 10, 50, 50, 'ff0000');
  await sleep(13000);
  process.kill(daemon.pid, 'SIGCONT');
  const start = performance.now();
  await daemon.json('GET', '/v1/status');
  assert(performance.now() - start < 1000 * patience);
  await client.waitExact(daemon);
  assert(socket.pings.length - pings <= 2, `${socket.pings.length - pings} pings at once`);
  client.destroy();
});
