// SPDX-License-Identifier: GPL-2.0-or-later
//
// The page's words, in the reader's language where there are some, else in English. One JSON file a
// language, all with the same names.
import english from './words/en.json';

export type Word = keyof typeof english;

let words: Record<string, string> = english;
export let language = 'en';

const OTHERS: Record<string, () => Promise<{ default: Record<string, string> }>> = {
  ja: () => import('./words/ja.json'),
};
const RIGHT_TO_LEFT = ['ar', 'fa', 'he', 'ur'];

/** The words for the first of the languages that there are words for; English goes on without waiting. */
export async function loadWords(languages: readonly string[]): Promise<void> {
  for (const tag of languages) {
    const name = tag.toLowerCase().split('-')[0]!;
    if (name === 'en') return;
    const load = OTHERS[name];
    if (!load) continue;
    try {
      words = { ...english, ...(await load()).default };
      language = name;
      document.documentElement.lang = name;
      document.documentElement.dir = RIGHT_TO_LEFT.includes(name) ? 'rtl' : 'ltr';
    } catch {
      // English it is.
    }
    return;
  }
}

export function say(word: Word, values: Record<string, string | number> = {}): string {
  return words[word]!.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
}

/** A time of day, or nothing when it is not one. */
export function timeOfDay(time: string | null): string {
  const date = new Date(time ?? '');
  if (Number.isNaN(date.getTime())) return '';
  return date.toLocaleTimeString(language, { hour: '2-digit', minute: '2-digit' });
}
