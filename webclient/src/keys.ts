// SPDX-License-Identifier: GPL-2.0-or-later
//
// A keyboard on the stage → keysyms. Text is taken from what the browser makes of the keys (so that every
// layout, dead key and input method is right), named keys and chords from the keys themselves. Pure:
// keys_field.ts has the events.
import { isModifier, KEYSYM, ofCharacter, ofNamedKey } from './keysyms';

export type SendKey = (keysym: number, isDown: boolean) => void;

/** What keys.ts needs of a KeyboardEvent. */
export interface KeyPress {
  key: string;
  code: string;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  isAltGraph: boolean;
  isComposing: boolean;
}

export class Keys {
  /** Ctrl, Alt and Shift together. */
  onLeave: () => void = () => {};
  /** Ctrl+V: true when the local clipboard's text will be typed instead. */
  onPasteChord: () => boolean = () => false;

  private readonly down = new Map<string, number>(); // code → keysym that was pressed for it
  private isAway = false;

  constructor(
    private readonly send: SendKey,
    private readonly isMac: boolean,
  ) {}

  /** True: the browser is not to do anything with the key. */
  keyDown(event: KeyPress): boolean {
    // Some browsers tell of a key after they have told that the page has lost the focus.
    if (this.isAway || event.isComposing || event.key === 'Process') return false;
    const { code, key } = event;
    if (key === 'Unidentified' || key === 'Dead') return false;
    if (event.isAltGraph || key === 'AltGraph') this.liftAltGr();
    if (key === 'AltGraph') return true;
    const isMacOption = this.isMac && key === 'Alt'; // makes characters there
    const named = isMacOption ? null : ofNamedKey(key, code, this.isMac);
    if (named !== null) return this.press(code || key, named, isModifier(key));
    if (isMacOption || [...key].length !== 1) return false;
    return this.isChord(event) ? this.pressChord(event) : false;
  }

  keyUp(event: Pick<KeyPress, 'key' | 'code'>): void {
    const id = event.code || event.key;
    const keysym = this.down.get(id);
    if (keysym === undefined) return;
    this.down.delete(id);
    this.send(keysym, false);
    // A Mac tells nothing of keys that are lifted while Cmd is down.
    if (this.isMac && event.key === 'Meta') this.releaseAll();
  }

  tap(keysym: number): void {
    this.send(keysym, true);
    this.send(keysym, false);
  }

  type(text: string): void {
    for (const character of text.replaceAll('\r\n', '\n')) this.tap(ofCharacter(character));
  }

  releaseAll(): void {
    const held = [...this.down.values()].reverse();
    this.down.clear();
    for (const keysym of held) this.send(keysym, false);
  }

  blur(): void {
    this.isAway = true;
    this.releaseAll();
  }

  focus(): void {
    this.isAway = false;
  }

  private isHeld(...keysyms: number[]): boolean {
    return [...this.down.values()].some((keysym) => keysyms.includes(keysym));
  }

  private isChord(event: KeyPress): boolean {
    if (event.isAltGraph) return false;
    return event.ctrlKey || event.metaKey || (event.altKey && !this.isMac);
  }

  private press(id: string, keysym: number, isModifierKey: boolean): boolean {
    const isShifted = this.isHeld(KEYSYM.Shift, KEYSYM.Shift + 1);
    const key = keysym === KEYSYM.Tab && isShifted ? KEYSYM.LeftTab : keysym;
    this.down.set(id, key);
    this.send(key, true);
    const isLeaving =
      isModifierKey &&
      this.isHeld(KEYSYM.Control, KEYSYM.Control + 1) &&
      this.isHeld(KEYSYM.Alt, KEYSYM.Alt + 1) &&
      this.isHeld(KEYSYM.Shift, KEYSYM.Shift + 1);
    if (isLeaving) {
      this.releaseAll();
      this.onLeave();
    }
    return true;
  }

  private pressChord(event: KeyPress): boolean {
    const isPaste = event.key.toLowerCase() === 'v' && (event.ctrlKey || event.metaKey);
    if (isPaste && !event.altKey && this.onPasteChord()) {
      this.releaseAll(); // or the text would come with Ctrl held
      return false; // the browser's paste event follows
    }
    const keysym = ofCharacter(event.key);
    this.down.set(event.code || event.key, keysym);
    this.send(keysym, true);
    return true;
  }

  /** Windows says Ctrl before AltGr; what AltGr makes comes as text. */
  private liftAltGr() {
    for (const code of ['ControlLeft', 'AltRight']) {
      const keysym = this.down.get(code);
      if (keysym === undefined) continue;
      this.down.delete(code);
      this.send(keysym, false);
    }
  }
}
