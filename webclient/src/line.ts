// SPDX-License-Identifier: GPL-2.0-or-later
//
// The line to the daemon: a ticket, a WebSocket, and another one when it drops. Says what state it is in;
// what a person does while it is down is not kept.
import { getTicket, liveUrl, NoAnswer, NotValid } from './api';
import { pauseMs } from './backoff';
import { RfbChannel } from './rfb_channel';
import type { ServerMessage } from './rfb_channel';

const PING_MS = 5000;
const SILENT_MS = 8000; // then the box sleeps, or the line is dead
const DEAD_MS = 20000; // then another line is tried
const STEADY_MS = 10000; // up for so long, a line that drops is tried anew at once
const WAKE_MS = 2500; // for an answer after the page was hidden: many lines do not survive that

export interface LineEvents {
  /** A socket is open and everything about it can be set up. */
  onChannel: (channel: RfbChannel) => void;
  onMessage: (message: ServerMessage) => void;
  onUp: () => void;
  onDown: () => void;
  onSilent: () => void;
  onNoScreen: () => void;
  /** 4401, 4409, 4410: no more tries. */
  onEnd: (code: number) => void;
}

export class Line {
  private channel: RfbChannel | null = null;
  private attempt = 0;
  private upSince = Infinity;
  private retryTimer = 0;
  private pingTimer = 0;
  private heardAt = 0;
  private askedAt: number | null = null; // when the ping went out that has no answer yet
  private isConnecting = false;
  private isSilent = false;
  private isClosed = true;
  private run = 0; // counts connects and closes: an answer to an older one is void

  constructor(private readonly events: LineEvents) {}

  get isUp() {
    return this.channel?.isOpen === true;
  }

  open(): void {
    if (!this.isClosed) return;
    this.isClosed = false;
    this.attempt = 0;
    void this.connect();
  }

  close(): void {
    this.isClosed = true;
    this.run++;
    this.isConnecting = false;
    clearTimeout(this.retryTimer);
    clearInterval(this.pingTimer);
    this.retryTimer = 0;
    const { channel } = this;
    this.channel = null;
    channel?.close();
  }

  send(data: Uint8Array<ArrayBuffer>): void {
    this.channel?.send(data);
  }

  tell(message: ServerMessage): void {
    this.channel?.tell(message);
  }

  /** The page is seen again, or the network is back: no pause any more, and is the line still alive? */
  hurry(): void {
    if (this.isClosed) return;
    if (this.retryTimer !== 0) {
      clearTimeout(this.retryTimer);
      void this.connect();
    } else if (this.channel) {
      const { channel } = this;
      const asked = performance.now();
      this.ping();
      setTimeout(() => {
        if (this.channel === channel && this.heardAt < asked) channel.drop();
      }, WAKE_MS);
    }
  }

  private async connect() {
    this.retryTimer = 0;
    if (this.isConnecting) return;
    this.isConnecting = true;
    const run = ++this.run;
    let ticket: string;
    try {
      ticket = await getTicket();
    } catch (error) {
      if (run !== this.run) return;
      this.isConnecting = false;
      if (error instanceof NotValid) this.events.onEnd(4401);
      else this.retry(error instanceof NoAnswer);
      return;
    }
    if (run === this.run) this.attach(new RfbChannel(liveUrl(), ticket));
  }

  private attach(channel: RfbChannel) {
    this.channel = channel;
    this.askedAt = null;
    this.isSilent = false;
    this.heardAt = performance.now();
    channel.onAnything = () => {
      this.heardAt = performance.now();
      this.askedAt = null;
      if (!this.isSilent) return;
      this.isSilent = false;
      if (!this.isConnecting) this.events.onUp();
    };
    channel.onServerMessage = (message) => {
      if (message.t === 'hello') this.settle();
      this.events.onMessage(message);
    };
    channel.onEnd = (code) => {
      if (this.channel === channel) this.lose(code);
    };
    this.events.onChannel(channel);
    clearInterval(this.pingTimer);
    this.pingTimer = window.setInterval(() => this.watch(), 1000);
  }

  private settle() {
    this.isConnecting = false;
    this.upSince = performance.now();
    this.events.onUp();
  }

  private lose(code: number) {
    clearInterval(this.pingTimer);
    this.channel = null;
    this.isConnecting = false;
    if (code === 4401 || code === 4409 || code === 4410) {
      this.isClosed = true;
      this.events.onEnd(code);
      return;
    }
    if (code === 4503) this.events.onNoScreen();
    this.retry(false, code === 4503);
  }

  private retry(isAsleep: boolean, isWaiting = false) {
    if (isAsleep) this.events.onSilent();
    else if (!isWaiting) this.events.onDown();
    // A line that keeps dropping is no better than none.
    if (performance.now() - this.upSince >= STEADY_MS) this.attempt = 0;
    this.upSince = Infinity;
    const attempt = isWaiting ? Math.min(this.attempt, 4) : this.attempt;
    this.attempt++;
    this.retryTimer = window.setTimeout(() => void this.connect(), pauseMs(attempt, Math.random()));
  }

  private ping() {
    this.askedAt ??= performance.now();
    this.tell({ t: 'ping', id: 0 });
  }

  private watch() {
    const now = performance.now();
    const quiet = now - this.heardAt;
    if (quiet >= PING_MS && this.askedAt === null) this.ping();
    // Timers of hidden pages are late: what counts is how long an answer has been owed.
    const owed = this.askedAt === null ? 0 : now - this.askedAt;
    if (owed > DEAD_MS - PING_MS) {
      this.channel?.drop();
      this.events.onSilent();
    } else if (owed > SILENT_MS - PING_MS && !this.isSilent) {
      this.isSilent = true;
      this.events.onSilent();
    }
  }
}
