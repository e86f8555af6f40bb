// SPDX-License-Identifier: GPL-2.0-or-later
//
// node tests/bench/crowd.mjs [--seconds N]: what viewers of a full-screen animation cost the daemon, 1, 4,
// 16 and 64 of them, and what one frozen viewer and one at 50 kB/s do to four others. Raw RFB over a Unix
// socket; CPU in cores, resident memory in MB, pictures a second and viewer. BOXSCREEN_BUILD names the build.
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Box } from '../integration/harness.mjs';
import { startLine } from '../integration/line.mjs';
import { ENC, LIKE_NOVNC, Rfb } from '../integration/rfb.mjs';
import { getTicket, takeApart, WebSocketClient } from '../integration/websocket.mjs';
import { makeLink } from '../integration/browsers.mjs';

const at = process.argv.indexOf('--seconds');
const SECONDS = at < 0 ? 6 : Number(process.argv[at + 1]);

async function watch(client) {
  client.setEncodings([...LIKE_NOVNC, ENC.h264]);
  client.continuous(true);
  client.pictures = 0;
  client.onRect = ({ encoding }) => {
    if (encoding !== ENC.h264) return;
    client.pictures++;
    client.h264.length = 0; // only counted here
  };
  return client;
}

const ofDaemon = (pid) => {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  return { ticks: Number(fields[11]) + Number(fields[12]), rssMb: Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024 };
};

async function measure(pid, clients) {
  await sleep(3000);
  for (const client of clients) client.pictures = 0;
  const before = ofDaemon(pid), start = performance.now();
  await sleep(SECONDS * 1000);
  const seconds = (performance.now() - start) / 1000, after = ofDaemon(pid);
  const rates = clients.map((client) => client.pictures / seconds).sort((a, b) => a - b);
  return { cpu: (after.ticks - before.ticks) / 100 / seconds, rssMb: after.rssMb, least: rates[0], median: rates[rates.length >> 1] };
}

const box = new Box();
try {
  const rfb = box.file('rfb.sock');
  const { daemon, env } = await box.startScreen({ daemon: { args: ['--rfb', rfb] } });
  await box.startPainter(env, 'animation', 0, 0, 1280, 800, 30);
  const join = async () => watch(await (await Rfb.unix(rfb)).open());
  const clients = [];
  const alone = ofDaemon(daemon.pid).rssMb;
  console.log('| viewers | CPU | of one | pictures a second (least, median) | resident, MB | MB a viewer |\n|---|---|---|---|---|---|');
  let one;
  for (const count of [1, 4, 16, 64]) {
    while (clients.length < count) clients.push(await join());
    const { cpu, rssMb, least, median } = await measure(daemon.pid, clients);
    one ??= cpu;
    console.log(`| ${count} | ${cpu.toFixed(3)} | ${(cpu / one).toFixed(2)} | ${least.toFixed(1)}, ${median.toFixed(1)} | ${rssMb.toFixed(0)} | ${((rssMb - alone) / count).toFixed(1)} |`);
  }
  for (const client of clients.splice(4)) client.destroy();
  await sleep(1000);
  const four = await measure(daemon.pid, clients);
  const frozen = await join();
  frozen.duplex.socket.pause();
  const link = await makeLink(daemon, 'view');
  const { base } = takeApart(link);
  const line = await startLine(Number(new URL(base).port), { rate: 50000 });
  const slow = await WebSocketClient.connect(`http://127.0.0.1:${line.port}${new URL(base).pathname}/live`,
    { protocols: ['binary', `ticket.${await getTicket(link)}`] });
  const slowViewer = await watch(await slow.rfb().open());
  const crowd = await measure(daemon.pid, clients);
  console.log(`four viewers: ${four.median.toFixed(1)} pictures a second, ${four.cpu.toFixed(3)} cores; `
    + `beside a frozen one and one at 50 kB/s (${(slowViewer.pictures / SECONDS).toFixed(1)}): ${crowd.median.toFixed(1)}, ${crowd.cpu.toFixed(3)}`);
  line.close();
} finally {
  await box.close();
}
