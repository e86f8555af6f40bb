// SPDX-License-Identifier: GPL-2.0-or-later
//
// The text field that takes a keyboard's events for the stage. It holds nothing, but for the word that a
// soft keyboard may still correct, for a moment.
import type { Keys } from './keys';
import { KEYSYM } from './keysyms';
import { diffText } from './text_diff';

const WORD_MS = 3000;

export class KeysField {
  private readonly mayCorrect = matchMedia('(pointer: coarse)').matches;
  private word = ''; // what a soft keyboard believes is there
  private isSoft = false; // the last key had no name: its text comes as input
  private timer = 0;

  constructor(
    private readonly field: HTMLTextAreaElement,
    private readonly keys: Keys,
    private readonly canType: () => boolean,
  ) {
    field.addEventListener('keydown', (event) => this.keyDown(event));
    field.addEventListener('keyup', (event) => keys.keyUp(event));
    field.addEventListener('beforeinput', (event) => this.beforeInput(event));
    field.addEventListener('input', (event) => {
      if (!(event as InputEvent).isComposing) this.takeChange();
    });
    field.addEventListener('compositionend', () => this.takeChange());
    field.addEventListener('focus', () => keys.focus());
    field.addEventListener('blur', () => {
      this.clear();
      keys.blur();
    });
  }

  private clear() {
    clearTimeout(this.timer);
    this.word = '';
    this.field.value = '';
  }

  private keyDown(event: KeyboardEvent) {
    if (!this.canType()) return;
    this.isSoft = event.key === 'Unidentified' || event.keyCode === 229;
    const { key, code, ctrlKey, altKey, metaKey } = event;
    const isAltGraph = event.getModifierState('AltGraph');
    const isComposing = event.isComposing || this.isSoft;
    if (!this.keys.keyDown({ key, code, ctrlKey, altKey, metaKey, isAltGraph, isComposing }))
      return;
    event.preventDefault();
    this.clear();
  }

  private beforeInput(event: InputEvent) {
    if (event.isComposing || this.isSoft) return;
    const { inputType, data } = event;
    const isBreak = inputType === 'insertLineBreak' || inputType === 'insertParagraph';
    const isText = inputType === 'insertText' && data !== null;
    const isBack = inputType === 'deleteContentBackward' && this.word === '';
    if (!isBreak && !isText && !isBack) return;
    event.preventDefault();
    if (!this.canType()) return;
    if (isText) this.keys.type(data);
    else this.keys.tap(isBreak ? KEYSYM.Return : KEYSYM.BackSpace);
  }

  private takeChange() {
    const { field, keys } = this;
    const { backspaces, text } = diffText(this.word, field.value);
    if (this.canType()) {
      for (let i = 0; i < backspaces; i++) keys.tap(KEYSYM.BackSpace);
      keys.type(text);
    }
    this.word = field.value;
    clearTimeout(this.timer);
    if (!this.isSoft || !this.mayCorrect || /\s$/.test(this.word)) this.clear();
    else this.timer = window.setTimeout(() => this.clear(), WORD_MS);
  }
}
