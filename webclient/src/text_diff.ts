// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a soft keyboard did to a field → the keys that do the same on the box. Pure.

/**
 * How many times to press BackSpace and what to type, so that `before` becomes `after`. Where something
 * is taken back, the character ahead of it is typed anew as well: it may have been one half of what
 * changed (a letter and its accent, the parts of an emoji), and programs delete such things as one.
 */
export function diffText(before: string, after: string): { backspaces: number; text: string } {
  const old = [...before];
  const now = [...after];
  let same = 0;
  while (same < old.length && same < now.length && old[same] === now[same]) same++;
  if (same < old.length && same > 0) same--;
  return { backspaces: old.length - same, text: now.slice(same).join('') };
}
