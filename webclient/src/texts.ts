// SPDX-License-Identifier: GPL-2.0-or-later
//
// Sends texts and says when they have been typed. What was not acknowledged goes out again on the next
// line under the same id, so that it is typed once; secrets do not wait longer than 30 s.
import { Outbox, SECRET_MS } from './outbox';
import type { TextMessage } from './outbox';
import type { ServerMessage } from './rfb_channel';

export type TextResult = 'typed' | 'failed' | 'cleared';

export class Texts {
  private readonly outbox: Outbox;
  private readonly done = new Map<string, (result: TextResult) => void>();

  constructor(private readonly tell: (message: ServerMessage) => void) {
    const random = crypto.getRandomValues(new Uint32Array(2));
    this.outbox = new Outbox([...random].map((number) => number.toString(36)).join(''));
  }

  send(text: string, enter: boolean, secret: boolean): Promise<TextResult> {
    const message = this.outbox.add(text, enter, secret, performance.now());
    this.tell({ ...message });
    if (secret) setTimeout(() => this.clearSecrets(performance.now()), SECRET_MS + 50);
    return new Promise((resolve) => this.done.set(message.id, resolve));
  }

  /** A new line, and the screen is still this person's. */
  resend(): void {
    for (const message of this.outbox.unsettled()) this.tell({ ...message });
  }

  /** True: the message was about a text. */
  handle(message: ServerMessage): boolean {
    if (message.t !== 'text-ok' && message.t !== 'text-failed') return false;
    const id = String(message.id);
    this.outbox.settle(id);
    this.finish(id, message.t === 'text-ok' ? 'typed' : 'failed');
    return true;
  }

  /** Without a time: all of them, because the page is left. */
  clearSecrets(now = Infinity): void {
    const before = this.outbox.unsettled();
    if (this.outbox.dropOldSecrets(now) === 0) return;
    const left = new Set(this.outbox.unsettled());
    for (const each of before) if (!left.has(each)) this.finish(each.id, 'cleared');
  }

  /** Control is over: nothing of this is to be typed any more. */
  failAll(): void {
    const waiting: TextMessage[] = this.outbox.unsettled();
    this.outbox.clear();
    for (const { id } of waiting) this.finish(id, 'failed');
  }

  private finish(id: string, result: TextResult) {
    this.done.get(id)?.(result);
    this.done.delete(id);
  }
}
