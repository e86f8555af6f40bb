// SPDX-License-Identifier: GPL-2.0-or-later
//
// Texts on their way to the box. Each has an id under which the daemon types it once, however often
// it is sent; it stays here until it is acknowledged, so that a dropped line loses nothing. Pure: the
// owner sends and keeps the time.

export const TEXT_MAX = 4000; // characters of one message
export const SECRET_MS = 30000; // how long a secret may wait for a line

export interface TextMessage {
  t: 'text';
  id: string;
  s: string;
  enter: boolean;
  secret: boolean;
}

interface Waiting {
  message: TextMessage;
  since: number;
}

/** How long a text is, as the daemon counts: in code points. */
export function textLength(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0xdc00 || code > 0xdfff) count++;
  }
  return count;
}

/** Cut into texts of at most `max` characters, never inside of one. */
export function cutText(text: string, max: number = TEXT_MAX): string[] {
  const parts: string[] = [];
  let characters = [...text];
  while (characters.length > max) {
    parts.push(characters.slice(0, max).join(''));
    characters = characters.slice(max);
  }
  parts.push(characters.join(''));
  return parts;
}

export class Outbox {
  private readonly waiting = new Map<string, Waiting>();
  private next = 1;

  /** prefix: makes the ids of this page its own, also after a reload. */
  constructor(private readonly prefix: string) {}

  add(text: string, enter: boolean, secret: boolean, now: number): TextMessage {
    const message: TextMessage = {
      t: 'text',
      id: `${this.prefix}-${this.next++}`,
      s: text,
      enter,
      secret,
    };
    this.waiting.set(message.id, { message, since: now });
    return message;
  }

  /** The daemon has typed it, or refused it: it is forgotten. What it was, if it was waiting. */
  settle(id: string): TextMessage | null {
    const entry = this.waiting.get(id);
    this.waiting.delete(id);
    return entry?.message ?? null;
  }

  /** What is to be sent again on a new line, oldest first. */
  unsettled(): TextMessage[] {
    return [...this.waiting.values()].map(({ message }) => message);
  }

  /** Drops secrets that have waited too long; how many there were. */
  dropOldSecrets(now: number): number {
    let count = 0;
    for (const [id, { message, since }] of this.waiting) {
      if (!message.secret || now - since < SECRET_MS) continue;
      this.waiting.delete(id);
      count++;
    }
    return count;
  }

  dropSecrets(): number {
    return this.dropOldSecrets(Infinity);
  }

  clear(): void {
    this.waiting.clear();
  }

  get size(): number {
    return this.waiting.size;
  }
}
