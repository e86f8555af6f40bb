// SPDX-License-Identifier: GPL-2.0-or-later
//
// The bar at the top: how things are, in words; what time is left; the way to hand back.
import { boxName } from './api';
import type { ServerState } from './api';
import { el } from './dom';
import { formatClock } from './model';
import type { Phase } from './model';
import { say } from './words';
import type { Word } from './words';

const WARN_S = 300;

export class Header {
  private endsAt: number | null = null; // Date.now() of the end; null: no clock is shown
  private mayExtend = false;
  private warnedAt = Infinity; // minutes that were announced
  private status = '';

  constructor(private readonly announce: (text: string) => void) {
    el('chip').textContent = boxName;
    setInterval(() => this.tick(), 1000);
  }

  update(phase: Phase, server: ServerState | null, endsAt: number | null, isHolder: boolean): void {
    const words = this.words(phase, server);
    // Written only when it changes: it is read out each time.
    if (this.status !== words) el('status').textContent = this.status = words;
    document.title = `${words} · ${say('title')}`;
    el('chip').hidden = boxName === '';
    el('hand-back').hidden = !isHolder;
    const canTake = server?.role === 'control' && phase === 'view';
    el('take').hidden = !canTake;
    el('take').textContent = say(server?.takeover ? 'take_over' : 'take_control');
    this.mayExtend = (server?.takeover?.extensions_left ?? 0) > 0;
    this.endsAt = server?.takeover ? endsAt : null;
    this.tick();
  }

  private words(phase: Phase, server: ServerState | null): string {
    let word: Word = phase;
    if (phase === 'invite' && server?.takeover === null) word = 'invite_plain';
    if (phase === 'view' && server) {
      if (server.is_private) word = 'view_private';
      else word = server.holder === 'agent' ? 'view_agent' : 'view_person';
    }
    return say(word);
  }

  /** Back to how things are, after something else was announced in the same place. */
  restore(): void {
    el('status').textContent = this.status;
  }

  private tick() {
    const clock = el('countdown');
    clock.hidden = this.endsAt === null;
    const leftS = this.endsAt === null ? Infinity : (this.endsAt - Date.now()) / 1000;
    el('extend').hidden = !(this.mayExtend && leftS <= WARN_S);
    clock.classList.toggle('short', leftS <= WARN_S);
    if (this.endsAt === null) return;
    const text = formatClock(leftS);
    clock.textContent = text;
    clock.setAttribute('aria-label', say('countdown_label', { time: text }));
    if (leftS > WARN_S + 60) this.warnedAt = Infinity;
    for (const minutes of [5, 1]) {
      if (leftS > minutes * 60 || this.warnedAt <= minutes) continue;
      this.warnedAt = minutes;
      if (leftS > minutes * 60 - 30) {
        this.announce(minutes === 1 ? say('minute_left') : say('minutes_left', { n: minutes }));
      }
    }
  }
}
