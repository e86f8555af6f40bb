// SPDX-License-Identifier: GPL-2.0-or-later
//
// Words that come and go: what was just done, what the agent says. Read out in the polite region, which
// the header's status is; a while later that says again how things are.
import { el, make } from './dom';
import { say } from './words';
import type { Word } from './words';

const TOAST_MS = 4000;
const MESSAGE_MS = 12000;
const ANNOUNCED_MS = 5000;

export class Notices {
  private timer = 0;

  /** restore: writes the status again. */
  constructor(private readonly restore: () => void) {
    el('toast').addEventListener('click', () => this.hide());
  }

  tell(word: Word, values: Record<string, string | number> = {}): void {
    const text = say(word, values);
    this.show([make('span', {}, text)], TOAST_MS);
    el('toast').classList.add('passing');
    this.announce(text);
  }

  /** What somebody else says, in their words. */
  quote(from: string, text: string): void {
    this.show([make('strong', {}, from), make('span', { dir: 'auto' }, text)], MESSAGE_MS);
  }

  announce(text: string): void {
    el('status').textContent = text;
    setTimeout(() => {
      if (el('status').textContent === text) this.restore();
    }, ANNOUNCED_MS);
  }

  private hide() {
    el('toast').hidden = true;
    el('toast').replaceChildren();
  }

  private show(content: Node[], forMs: number) {
    const toast = el('toast');
    clearTimeout(this.timer);
    toast.replaceChildren(...content);
    toast.classList.remove('passing');
    toast.hidden = false;
    this.timer = window.setTimeout(() => this.hide(), forMs);
  }
}
