// SPDX-License-Identifier: GPL-2.0-or-later
//
// Small helpers for making elements. Icons are drawn here, so that no font or picture is fetched.
import { say } from './words';
import type { Word } from './words';

export function el<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

type Attributes = Record<string, string | boolean | ((event: Event) => void)>;

/** An element; attributes that begin with "on" are listeners, `true` sets one without a value. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const ICONS = {
  type: 'M3 7h18v10H3zM7 14h10M7 10.5h.01M11 10.5h.01M15 10.5h.01',
  paste: 'M9 4h6v3H9zM9 5.5H6V20h12V5.500h-3',
  zoom: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M15.5 15.5 20 20M8 10.500h5M10.5 8v5',
  keys: 'M9 9h6v6H9zM9 9V6.500A2.5 2.5 0 1 0 6.5 9H9m6 0h2.500A2.5 2.5 0 1 0 15 6.500V9m0 6v2.500a2.5 2.5 0 1 0 2.5-2.500H15m-6 0H6.500A2.5 2.5 0 1 0 9 17.500V15',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  close: 'M6 6l12 12M18 6 6 18',
  lock: 'M7 11V8a5 5 0 0 1 10 0v3M5.5 11h13v9h-13z',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12M12 9.500a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5',
  enter: 'M19 6v6H6M10 8l-4 4 4 4',
  send: 'M4 12h15M13 6l6 6-6 6',
  up: 'M12 19V6M6 12l6-6 6 6',
  down: 'M12 5v13M6 12l6 6 6-6',
  left: 'M19 12H6M12 6l-6 6 6 6',
  right: 'M5 12h13M12 6l6 6-6 6',
  message: 'M4 5h16v11H10l-4 4v-4H4z',
  share: 'M12 15V4M8 7.5 12 4l4 3.500M6 11H5v9h14v-9h-1',
  full: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  save: 'M12 4v11M7.5 11 12 15l4.5-4M5 19h14',
  copy: 'M9 9h10v11H9zM5 15V4h10v2',
  pointer: 'M6 3l12 9-5.5 1L15 19l-2.5 1-2.5-6-4 3.500z',
  hand: 'M8 12V6.500a1.5 1.5 0 0 1 3 0V11m0-6a1.5 1.5 0 0 1 3 0v6m0-4.500a1.5 1.5 0 0 1 3 0V14c0 4-2 6.5-5.5 6.500S7 19 5 14.500c-.6-1.5 1.400-2.5 2.400-1L8 15',
  eyes: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12',
  check: 'M5 12.5 10 17l9-10',
  cross: 'M7 7l10 10M17 7 7 17',
  moon: 'M19 14A7.5 7.5 0 1 1 10 5a6 6 0 0 0 9 9',
  line: 'M4 9a12 12 0 0 1 16 0M7 12.500a7.5 7.5 0 0 1 10 0M10 16a3 3 0 0 1 4 0',
  screen: 'M3.5 5h17v11h-17zM9 20h6M12 16v4',
  person: 'M12 4.500a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M5 20c.5-4 3-6 7-6s6.5 2 7 6',
  chevron: 'M6 15l6-6 6 6',
  spinner: 'M12 3.500a8.5 8.5 0 1 1-8.5 8.5',
} as const;

export type Icon = keyof typeof ICONS;

export function icon(name: Icon): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('class', `icon icon-${name}`);
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

interface ButtonOptions {
  icon?: Icon;
  class?: string;
  id?: string;
  hidesWord?: boolean; // the word is the button's name for those who cannot see the icon
  attributes?: Attributes;
}

export function button(word: Word, onClick: () => void, options: ButtonOptions = {}) {
  const text = say(word);
  const element = make('button', { type: 'button', ...options.attributes, onclick: onClick });
  if (options.id) element.id = options.id;
  if (options.class) element.className = options.class;
  if (options.icon) element.append(icon(options.icon));
  if (options.hidesWord) {
    element.setAttribute('aria-label', text);
    element.title = text;
  } else element.append(make('span', {}, text));
  return element;
}

/** Fills in the words of what index.html has. */
export function translate(): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-t]')) {
    element.textContent = say(element.dataset.t as Word);
  }
  for (const element of document.querySelectorAll<HTMLElement>('[data-t-label]')) {
    element.setAttribute('aria-label', say(element.dataset.tLabel as Word));
  }
  document.title = say('title');
}
