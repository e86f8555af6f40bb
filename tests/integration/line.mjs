// SPDX-License-Identifier: GPL-2.0-or-later
//
// A bad line between a viewer and the daemon, in user space (netem is not in every kernel): each way a
// delay, a rate, and packets that are lost, which hold up all that comes after them until they have
// been sent again, as TCP has it. What the line has not taken yet stays with the sender.
import net from 'node:net';

const PACKET = 1400;

function carry(from, to, { delayMs, rate, loss, random }) {
  let freeAt = 0, lastAt = 0, queued = 0;
  const onTheWay = []; // in order: timers alone could overtake each other
  const arrive = () => {
    while (onTheWay.length > 0 && onTheWay[0].at <= performance.now() + 0.5) {
      const { packet } = onTheWay.shift();
      queued -= packet.length;
      if (!to.destroyed) to.write(packet);
    }
    if (from.isPaused() && queued < (rate || 1e9) * 0.1 + 20000) from.resume();
    if (onTheWay.length > 0) setTimeout(arrive, Math.max(onTheWay[0].at - performance.now(), 1));
  };
  from.on('data', (data) => {
    for (let i = 0; i < data.length; i += PACKET) {
      const packet = data.subarray(i, i + PACKET);
      const now = performance.now();
      freeAt = Math.max(freeAt, now) + (rate ? packet.length / rate * 1000 : 0);
      let at = freeAt + delayMs;
      // Found missing by the next acknowledgements: one more round trip.
      if (random() < loss) at += 2 * delayMs;
      lastAt = Math.max(lastAt, at);
      queued += packet.length;
      onTheWay.push({ at: lastAt, packet: Buffer.from(packet) });
      if (onTheWay.length === 1) setTimeout(arrive, lastAt - now);
    }
    // A router's queue of a fifth of a second; then the sender must wait.
    if (rate && queued > rate * (0.2 + delayMs / 1000) + 20000) from.pause();
  });
  from.on('close', () => to.destroy());
  from.on('error', () => {});
}

/** Listens; {port, close()}. Each connection goes on to 127.0.0.1:port over the line. */
export function startLine(port, { delayMs = 0, rate = 0, loss = 0, seed = 1 } = {}) {
  let state = seed;
  const random = () => { state = (state * 1103515245 + 12345) % 2147483648; return state / 2147483648; };
  const server = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1');
    for (const socket of [near, far]) socket.setNoDelay(true);
    carry(near, far, { delayMs, loss, random });
    carry(far, near, { delayMs, rate, loss, random });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ port: server.address().port, close: () => server.close() }));
  });
}
