// SPDX-License-Identifier: GPL-2.0-or-later
//
// What viewers cost each other and the box: a slow line, a video over lines as they are, thousands that
// come and go, one that watches a still screen. Looks at speed and memory, so it wants the machine alone.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { heldDown } from './desk.mjs';
import { boxTest, isSanitized, patience, waitFor } from './harness.mjs';
import { startLine } from './line.mjs';
import { ENC, LIKE_NOVNC, Rfb } from './rfb.mjs';
import { probe, startRecording, stopRecording } from './video.mjs';
import { getTicket, takeApart, WebSocketClient } from './websocket.mjs';
import { makeLink } from './browsers.mjs';
import { startLive, viewers } from './live.mjs';

boxTest('V17: a viewer at 50 kB/s is heard at once, and slows nobody', async (box) => {
  const { daemon, env } = await startLive(box);
  await box.paint(env, 'pattern', 4);
  const link = await makeLink(daemon, 'control');
  const fast = await (await WebSocketClient.live(link)).rfb().open();
  fast.setEncodings(LIKE_NOVNC);
  fast.isContinuous = true;
  fast.continuous(true);
  const slowSocket = await WebSocketClient.live(link, { takes: true });
  const slow = await slowSocket.rfb().open();
  slow.setEncodings(LIKE_NOVNC);
  slow.continuous(true);
  await waitFor('the first pictures', () => fast.updates > 0 && slow.updates > 0);
  await box.paint(env, 'blink', 0, 0, 1280, 800, 25);
  // 5 kB each 100 ms: what is read at once is small, since the socket is paused in between.
  slowSocket.socket.pause();
  const throttle = setInterval(() => slowSocket.socket.read(5000), 100); // tells its listeners itself
  box.onClose(() => { clearInterval(throttle); fast.destroy(); slow.destroy(); });
  const before = daemon.usage().rssKb;
  await sleep(3000);
  const fastUpdates = fast.updates, start = performance.now();
  const sent = performance.now();
  slow.key(0x61, true);
  await waitFor('its key to be down', async () => (await heldDown(box, env)).length === 1, 500);
  assert(performance.now() - sent < 500 * patience);
  slow.key(0x61, false);
  await sleep(2000);
  const fps = (fast.updates - fastUpdates) / ((performance.now() - start) / 1000);
  if (!isSanitized) assert(fps >= 10, `the fast viewer had ${fps.toFixed(1)} updates a second`);
  const grown = daemon.usage().rssKb - before;
  if (!isSanitized) assert(grown < 20000, `resident memory grew by ${grown} kB`);
});

// Lines as they are: a phone at the edge of its net, and another continent. A lost packet holds up all
// that follows it for a round trip, so an echo over the second takes one round trip or two.
for (const [name, line, fps, echoMs] of [
  ['50 kB/s', { delayMs: 20, rate: 50000 }, 8, 300],
  ['150 ms there and back, 2 % lost', { delayMs: 75, loss: 0.02 }, 15, 320]]) {
  boxTest(`a video and typing over ${name}`, async (box) => {
    const { daemon, env } = await startLive(box);
    await box.startPainter(env, 'animation', 100, 100, 640, 400, 30);
    await box.startPainter(env, 'flip', 1100, 650, 120, 90);
    const link = await makeLink(daemon, 'control');
    const { base } = takeApart(link);
    const { port, close } = await startLine(Number(new URL(base).port), line);
    box.onClose(close);
    const socket = await WebSocketClient.connect(`http://127.0.0.1:${port}${new URL(base).pathname}/live`,
      { protocols: ['binary', `ticket.${await getTicket(link, { takes: true })}`] });
    const client = await socket.rfb().open();
    box.onClose(() => client.destroy());
    client.setEncodings([...LIKE_NOVNC, ENC.h264]);
    client.continuous(true);
    await sleep(8000); // the quality finds its step
    const echoes = [], before = client.h264.length, start = performance.now();
    for (let i = 0; i < 21; i++) { // few of them leave the median to chance
      const sent = performance.now();
      const echo = new Promise((resolve) => {
        client.onRect = ({ encoding, x, y, width, height }) => {
          if (encoding === ENC.tight && x <= 1110 && x + width > 1110 && y <= 660 && y + height > 660)
            resolve(performance.now() - sent);
        };
      });
      client.tap(0x61);
      echoes.push(await Promise.race([echo, sleep(30000, null, { ref: false })]));
      assert(echoes.at(-1) !== null, `no echo of key ${i + 1} within 30 s`);
      await sleep(200);
    }
    const seen = (client.h264.length - before) / ((performance.now() - start) / 1000);
    assert(!client.failure, client.failure);
    console.log(`# ${name}: ${seen.toFixed(1)} pictures a second, echoes after ${echoes.map((ms) => ms.toFixed(0))} ms`);
    if (isSanitized) return;
    assert(seen >= fps, `${seen.toFixed(1)} pictures a second`);
    const median = echoes.sort((a, b) => a - b)[10];
    assert(median < echoMs, `echoes after ${echoes.map((ms) => ms.toFixed(0))} ms`);
  });
}

boxTest('while more moves than goes out, what a key does need not wait for its turn', async (box) => {
  const { env, connect } = await startLive(box);
  await box.startPainter(env, 'animation', 0, 0, 1200, 780, 60);
  const client = await connect([...LIKE_NOVNC, ENC.h264]);
  client.continuous(true);
  await waitFor('the film', () => client.h264.length > 50, 20000);
  const picturesIn = async (turns, act) => {
    const before = client.h264.length;
    for (let i = 0; i < turns; i++) {
      act();
      await sleep(50);
    }
    return client.h264.length - before;
  };
  const watched = await picturesIn(40, () => {}), typed = await picturesIn(40, () => client.tap(0x61));
  console.log(`# ${watched} pictures in 2 s, ${typed} while somebody types`);
  const flood = setInterval(() => client.pointer(5 + performance.now() % 50, 5, 1), 1);
  const dragged = await picturesIn(40, () => {});
  clearInterval(flood);
  client.pointer(5, 5);
  await sleep(500);
  const again = await picturesIn(40, () => client.pointer(5, 5));
  if (isSanitized) return;
  assert(typed > watched * 1.2, `${watched} pictures, ${typed} while somebody types`);
  assert(dragged > watched, `${watched} pictures, ${dragged} beside an event each millisecond`);
  assert(again < typed / 1.1, `${typed} pictures while somebody types, ${again} while the pointer lies still`);
});

boxTest('a recording of 60 pictures a second has them', async (box) => {
  const { daemon, env } = await box.startScreen();
  await box.startPainter(env, 'animation', 100, 100, 320, 240, 60);
  const { id } = await startRecording(daemon, { path: box.file('sixty.mp4'), fps: 60 });
  await sleep(4000);
  await stopRecording(daemon, id);
  const { packets, duration } = await probe(box, box.file('sixty.mp4'));
  if (!isSanitized) assert(packets.length / duration > 50, `${packets.length} pictures in ${duration} s`);
});

boxTest('a large change beside a film reaches a slow viewer, too', async (box) => {
  const { daemon, env } = await startLive(box);
  await box.startPainter(env, 'animation', 0, 0, 640, 400, 30);
  const link = await makeLink(daemon, 'view');
  const { base } = takeApart(link);
  const { port, close } = await startLine(Number(new URL(base).port), { rate: 50000 });
  box.onClose(close);
  const socket = await WebSocketClient.connect(`http://127.0.0.1:${port}${new URL(base).pathname}/live`,
    { protocols: ['binary', `ticket.${await getTicket(link)}`] });
  const client = await socket.rfb().open();
  box.onClose(() => client.destroy());
  client.setEncodings([...LIKE_NOVNC, ENC.h264]);
  client.continuous(true);
  await waitFor('the film', () => client.h264.length > 5, 20000);
  await box.paint(env, 'window', 660, 10, 600, 780, '3060c0');
  const points = [[670, 20], [1250, 20], [960, 400], [670, 780], [1250, 780]];
  await waitFor('the change', () => points.every(([x, y]) => client.at(x, y).join() === '48,96,192'), 20000);
});

boxTest('L07: viewers that come and go leave nothing behind', async (box) => {
  const { daemon, env, rfb } = await startLive(box, { width: 320, height: 240 });
  await box.paint(env, 'pattern', 4);
  const visit = async () => {
    const client = await (await Rfb.unix(rfb)).open();
    client.setEncodings(LIKE_NOVNC);
    client.request(false);
    await waitFor('the first frame', () => client.updates > 0, 5000, 1);
    client.destroy();
  };
  const crowd = async (count) => {
    for (let i = 0; i < count; i += 10) await Promise.all(Array.from({ length: 10 }, visit));
  };
  const settled = () => waitFor('all to have gone', async () => (await viewers(daemon)).length === 0
    && daemon.usage().threads, 5000);
  await crowd(isSanitized ? 100 : 500); // the allocator has an arena for each of many threads then
  await settled();
  await sleep(500);
  const before = daemon.usage();
  await crowd(isSanitized ? 200 : 5000);
  await settled();
  await waitFor('threads and descriptors to be as before', () => {
    const { fds, threads } = daemon.usage();
    return fds === before.fds && threads === before.threads;
  }, 10000, 100).catch(() => {});
  const after = daemon.usage();
  assert.equal(after.fds, before.fds);
  assert.equal(after.threads, before.threads);
  if (!isSanitized) assert(after.rssKb - before.rssKb < 5000, `resident memory grew by ${after.rssKb - before.rssKb} kB`);
}, { timeout: 300000 });

boxTest('a still screen costs nothing while it is watched', async (box) => {
  const { daemon, connect } = await startLive(box);
  const client = await connect([...LIKE_NOVNC, ENC.h264]);
  client.continuous(true);
  await client.waitExact(daemon);
  await sleep(500);
  const before = daemon.cpuMs();
  await sleep(4000);
  if (!isSanitized) assert(daemon.cpuMs() - before <= 10, `${daemon.cpuMs() - before} ms of CPU in 4 s`);
});
