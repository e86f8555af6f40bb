// SPDX-License-Identifier: GPL-2.0-or-later
//
// Keys as X keysyms (X11/keysymdef.h). Pure.

export const KEYSYM = {
  BackSpace: 0xff08,
  Tab: 0xff09,
  LeftTab: 0xfe20, // what Tab is called while Shift is down
  Return: 0xff0d,
  Escape: 0xff1b,
  Home: 0xff50,
  Left: 0xff51,
  Up: 0xff52,
  Right: 0xff53,
  Down: 0xff54,
  PageUp: 0xff55,
  PageDown: 0xff56,
  End: 0xff57,
  Insert: 0xff63,
  Delete: 0xffff,
  F1: 0xffbe,
  Shift: 0xffe1,
  Control: 0xffe3,
  Alt: 0xffe9,
  Super: 0xffeb,
} as const;

/** KeyboardEvent.key → keysym, of the keys that make no text. */
const NAMED: Record<string, number> = {
  Backspace: KEYSYM.BackSpace,
  Tab: KEYSYM.Tab,
  Enter: KEYSYM.Return,
  Escape: KEYSYM.Escape,
  Home: KEYSYM.Home,
  End: KEYSYM.End,
  PageUp: KEYSYM.PageUp,
  PageDown: KEYSYM.PageDown,
  ArrowLeft: KEYSYM.Left,
  ArrowUp: KEYSYM.Up,
  ArrowRight: KEYSYM.Right,
  ArrowDown: KEYSYM.Down,
  Insert: KEYSYM.Insert,
  Delete: KEYSYM.Delete,
  ContextMenu: 0xff67,
  Pause: 0xff13,
  PrintScreen: 0xff61,
  ScrollLock: 0xff14,
  Undo: 0xff65,
  Redo: 0xff66,
};

const MODIFIERS: Record<string, [left: number, right: number]> = {
  Shift: [0xffe1, 0xffe2],
  Control: [0xffe3, 0xffe4],
  Alt: [0xffe9, 0xffea],
  Meta: [0xffeb, 0xffec],
};

const KEYPAD: Record<string, number> = { NumpadEnter: 0xff8d };

export function isModifier(key: string): boolean {
  return key in MODIFIERS;
}

/** The keysym of a character. */
export function ofCharacter(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x0a || code === 0x0d) return KEYSYM.Return;
  if (code === 0x09) return KEYSYM.Tab;
  return code <= 0xff ? code : 0x01000000 + code;
}

/** The keysym of a key that makes no text, else null. Cmd is Ctrl where the keyboard is a Mac's. */
export function ofNamedKey(key: string, code: string, isMac: boolean): number | null {
  const modifier = MODIFIERS[isMac && key === 'Meta' ? 'Control' : key];
  if (modifier) return modifier[/Right$/.test(code) ? 1 : 0];
  const keypad = KEYPAD[code];
  if (keypad !== undefined) return keypad;
  const f = /^F(\d\d?)$/.exec(key);
  if (f && Number(f[1]) <= 24) return KEYSYM.F1 + Number(f[1]) - 1;
  return NAMED[key] ?? null;
}
