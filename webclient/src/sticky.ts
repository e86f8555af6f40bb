// SPDX-License-Identifier: GPL-2.0-or-later
//
// Modifiers that are tapped instead of held: they go with the next key. Pure.
import { KEYSYM, ofCharacter } from './keysyms';
import type { SendKey } from './keys';

export type Modifier = 'Control' | 'Alt' | 'Shift';

export const MODIFIERS: readonly Modifier[] = ['Control', 'Alt', 'Shift'];

export class Sticky {
  onChange: () => void = () => {};
  private readonly latched = new Set<Modifier>();

  constructor(private readonly send: SendKey) {}

  toggle(modifier: Modifier): void {
    if (!this.latched.delete(modifier)) this.latched.add(modifier);
    this.onChange();
  }

  has(modifier: Modifier): boolean {
    return this.latched.has(modifier);
  }

  get isActive(): boolean {
    return this.latched.size > 0;
  }

  clear(): void {
    if (this.latched.size === 0) return;
    this.latched.clear();
    this.onChange();
  }

  /** Presses a key with what is latched and with `more`: all down in order, all up in reverse. */
  tap(keysym: number, more: readonly Modifier[] = []): void {
    const held = MODIFIERS.filter((each) => this.latched.has(each) || more.includes(each));
    const isLeftTab = keysym === KEYSYM.Tab && held.includes('Shift');
    const key = isLeftTab ? KEYSYM.LeftTab : keysym;
    for (const each of held) this.send(KEYSYM[each], true);
    this.send(key, true);
    this.send(key, false);
    for (const each of held.reverse()) this.send(KEYSYM[each], false);
    this.clear();
  }

  tapCharacter(character: string, more: readonly Modifier[] = []): void {
    this.tap(ofCharacter(character), more);
  }
}
