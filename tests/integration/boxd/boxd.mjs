// SPDX-License-Identifier: GPL-2.0-or-later
//
// A stand-in for the rest of boxd: it knows the service only through its control socket, as the real
// one does. It follows the events, keeps the lock for its own exec, pushes links to a phone (a list),
// and carries an agent's blocking call over lost connections and restarts.
import { followEvents, request } from '../harness.mjs';

export class Boxd {
  constructor(socket) {
    Object.assign(this, { socket, pushes: [], seen: [], isLocked: false, isEnded: false });
  }

  static async start(socket) {
    const boxd = new Boxd(socket);
    boxd.isLocked = (await boxd.ask('GET', '/v1/status')).json().control.locked;
    await boxd.follow();
    return boxd;
  }

  ask(method, target, body) { return request(this.socket, method, target, { body }); }

  /** The event stream, from where it broke; when the daemon was started anew, the status says what it missed. */
  async follow(lastId) {
    this.stream = followEvents(this.socket, { lastId });
    await this.stream.connected;
    this.pump = this.read(this.stream);
  }

  async read(stream) {
    let lastId;
    while (!this.isEnded) {
      for (const event of stream.events.splice(0)) {
        lastId = event.id ?? lastId;
        this.seen.push(event.type);
        await this.onEvent(event);
      }
      if (stream.isClosed) break;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    while (!this.isEnded) {
      try {
        await this.follow(lastId);
        return;
      } catch { await new Promise((resolve) => setTimeout(resolve, 50)); }
    }
  }

  async onEvent({ type, data }) {
    if (type === 'takeover.opened') this.pushes.push(data.push);
    if (type === 'control.locked') this.isLocked = true;
    if (type === 'control.unlocked') this.isLocked = false;
    if (type === 'gap') this.isLocked = (await this.ask('GET', '/v1/status')).json().control.locked;
  }

  /** exec in the box: refused like the service's own calls while a person holds the screen. */
  exec() { return this.isLocked ? { status: 423, error: 'locked' } : { status: 200, stdout: 'ran' }; }

  /** The agent's blocking call. `cut` may break its connection: it goes on with the same takeover. */
  async takeover(note, { onWait } = {}) {
    let opened;
    for (;;) {
      try {
        opened ??= (await this.ask('POST', '/v1/takeovers', { note })).json();
        const call = request(this.socket, 'GET', `/v1/takeovers/${opened.id}?wait_s=55`, { timeoutMs: 60000 });
        onWait?.(opened);
        const state = (await call).json();
        if (state.ended_at) return state;
      } catch { await new Promise((resolve) => setTimeout(resolve, 50)); }
    }
  }

  stop() {
    this.isEnded = true;
    this.stream.close();
  }
}
