// SPDX-License-Identifier: GPL-2.0-or-later
//
// Long runs: nothing grows.
import assert from 'node:assert/strict';
import http from 'node:http';
import { boxTest, followEvents, isSanitized, waitFor } from './harness.mjs';

boxTest('5,000 shots: no growth of memory, descriptors, segments, threads', async (box, t) => {
  const { daemon, env } = await box.startScreen();
  await box.paint(env, 'blink', 0, 0, 300, 300, 4);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
  const queries = ['', '?format=jpeg', '?region=0,0,300,300', '?scale=0.5', '?window=active', '?cursor=1', '?format=webp&region=0,0,64,64',
    '?wait=change', '?annotate=grid&max_side=400'];
  let done = 0;
  const client = async (count, options) => {
    for (let i = 0; i < count; i++) {
      const reply = await daemon.request('GET', `/v1/shot${queries[(done + i) % queries.length]}`, options);
      // window=active: nothing need be active.
      assert([200, 404].includes(reply.status), `${reply.status} ${reply.body}`);
    }
    done += count;
  };
  // Half of them on connections of their own, half on kept ones.
  const round = (count) => Promise.all([client(count / 4, {}), client(count / 4, {}), client(count / 4, { agent }), client(count / 4, { agent })]);
  const total = isSanitized ? 1000 : 5000;
  await round(total / 5);
  const before = daemon.usage();
  await round((total / 5) * 4);
  agent.destroy();
  await waitFor('connections to be closed', () => daemon.usage().fds <= before.fds, 5000).catch(() => {});
  const after = daemon.usage();
  t.diagnostic(`${done} shots: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`);
  assert(after.fds <= before.fds, 'descriptors');
  assert(after.threads <= before.threads, 'threads');
  assert(after.segments <= before.segments + 1, 'SHM segments');
  if (!isSanitized) assert(after.rssKb <= before.rssKb + 5 * 1024, 'resident memory');
}, { timeout: 600000 });

boxTest('readers of events that come and go leave nothing', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 240 });
  const before = daemon.usage();
  for (let i = 0; i < 300; i++) {
    const follower = followEvents(daemon.socket);
    await follower.connected;
    follower.close();
  }
  await waitFor('descriptors as before', () => daemon.usage().fds <= before.fds, 10000);
});

boxTest('segments are gone with the daemon, also after SIGKILL', async (box) => {
  const segments = async () => new Set((await box.ok('ipcs', ['-m'])).split('\n').map((line) => line.split(/\s+/)[1]));
  const before = await segments();
  const { server, daemon } = await box.startScreen();
  await daemon.shot();
  await daemon.stop('SIGKILL');
  const again = await box.startDaemon({ display: server.display });
  await again.shot();
  await again.stop();
  await server.stop();
  const mine = async () => [...await segments()].filter((id) => !before.has(id));
  // Other tests run beside this one and have segments of their own, for a while.
  await waitFor('segments to go', async () => (await box.ok('ipcs', ['-m', '-p'])).split('\n')
    .every((line) => !line.includes(` ${daemon.pid} `) && !line.includes(` ${again.pid} `)), 3000)
    .catch(async () => assert.fail(`segments are left: ${await mine()}`));
});
