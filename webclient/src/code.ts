// SPDX-License-Identifier: GPL-2.0-or-later
//
// The one-time code in a message. Pure.

/** The only run of 4 to 10 digits in the text; without exactly one, the whole text, trimmed. */
export function findCode(text: string): string {
  // "123 456" and "123-456" are one code in most messages that have them.
  const joined = text.replace(/(?<!\d)(\d{3})[ \-\u00a0](\d{3})(?!\d)/g, '$1$2');
  const runs = joined.match(/(?<!\d)\d{4,10}(?!\d)/g) ?? [];
  return runs.length === 1 ? runs[0] : text.trim();
}
