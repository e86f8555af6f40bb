// SPDX-License-Identifier: GPL-2.0-or-later
//
// The recorders that the benches compare: boxscreend (as it is, and at 25 a second) and ffmpeg -f x11grab with
// libx264 as people run it. RECORDERS[name](box, server, file) resolves to {pid, start, stop()}.
import { setTimeout as sleep } from 'node:timers/promises';
import { startRecording, waitEnd } from '../integration/video.mjs';
import { SIZE } from './bench.mjs';

const x11grab = (fps, preset) => async (box, server, file) => {
  const child = box.spawn('ffmpeg', ['-v', 'error', '-y', '-f', 'x11grab', '-framerate', String(fps), '-video_size',
    `${SIZE.width}x${SIZE.height}`, '-i', server.display, '-c:v', 'libx264', '-preset', preset, '-pix_fmt', 'yuv420p', file],
  { stdio: ['pipe', 'pipe', 'pipe'] });
  const start = performance.now();
  await sleep(1000);
  return { pid: child.pid, start, async stop() { child.process.stdin.write('q'); await child.exited; } };
};

const boxscreen = (options) => async (box, server, file) => {
  const daemon = await box.startDaemon({ display: server.display });
  const start = performance.now();
  const { id } = await startRecording(daemon, { path: file, ...options });
  await sleep(1000);
  return { pid: daemon.pid, start, daemon, async stop() {
    await daemon.request('POST', `/v1/recordings/${id}/stop`);
    await waitEnd(daemon, id, 60000);
  } };
};

export const RECORDERS = {
  'boxscreen': boxscreen({}),
  'boxscreen-25': boxscreen({ fps: 25 }),
  'ultrafast-25': x11grab(25, 'ultrafast'),
  'veryfast-25': x11grab(25, 'veryfast'),
  'veryfast-15': x11grab(15, 'veryfast'),
};

/** Prints what boxscreen needs, of what the peers need: {name: {cores, rate}}. */
export function printRatios(results) {
  for (const own of ['boxscreen', 'boxscreen-25']) {
    for (const peer of ['ultrafast-25', 'veryfast-25', 'veryfast-15']) {
      if (results[own] && results[peer])
        console.log(`  ${own} / ${peer}: CPU ${(results[own].cores / results[peer].cores).toFixed(3)}, bytes ${(results[own].rate / results[peer].rate).toFixed(3)}`);
    }
  }
}
