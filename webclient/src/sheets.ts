// SPDX-License-Identifier: GPL-2.0-or-later
//
// The sheets that the tool bar opens: one at a time, between the stage and the bar.
import { button, el, make } from './dom';
import type { Icon } from './dom';
import { KEYSYM } from './keysyms';
import type { Stage } from './stage';
import { MODIFIERS } from './sticky';
import type { Modifier, Sticky } from './sticky';
import { say } from './words';
import type { Word } from './words';

export type SheetName =
  'paste' | 'zoom' | 'keys' | 'pointer' | 'more' | 'paste_here' | 'copy' | 'share';

export interface SheetHost {
  stage: Stage;
  sticky: Sticky;
  isTouchpad: () => boolean;
  setTouchpad: (isOn: boolean) => void;
  pasteCode: () => void;
  pasteAll: () => void;
  pasted: (text: string, isCode: boolean) => void;
  copy: () => void;
  more: () => MoreItem[];
  onToggle: (name: SheetName | null) => void;
}

export interface MoreItem {
  word: Word;
  icon: Icon;
  run: () => void;
  isOn?: boolean; // of a switch
}

export class Sheets {
  private readonly element = el('sheet');
  open: SheetName | null = null;

  constructor(private readonly host: SheetHost) {
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.close();
    });
  }

  toggle(name: SheetName): void {
    if (this.open === name) this.close();
    else this.show(name, this.build(name));
  }

  close(): void {
    if (this.open === null) return;
    const name = this.open;
    const hadFocus = this.element.contains(document.activeElement);
    this.open = null;
    this.element.hidden = true;
    this.element.replaceChildren();
    this.host.sticky.onChange = () => {};
    this.host.onToggle(null);
    if (hadFocus) (el(`tool-${name}`) ?? el('tool-more'))?.focus();
  }

  /** A field for the browser's own paste, where reading the clipboard was not allowed. */
  askForPaste(isCode: boolean): void {
    const field = make('input', {
      id: 'paste-field',
      autocomplete: isCode ? 'one-time-code' : 'off',
      'aria-label': say('paste_here'),
      placeholder: say('paste_here'),
    });
    const take = () => {
      const text = field.value;
      field.value = '';
      if (text !== '') this.host.pasted(text, isCode);
    };
    field.addEventListener('paste', (event) => {
      event.preventDefault();
      field.value = event.clipboardData?.getData('text/plain') ?? '';
      take();
    });
    field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') take();
    });
    this.show('paste_here', [
      make('p', { class: 'hint' }, say('paste_denied')),
      make('div', { class: 'row' }, field, button('insert', take, { class: 'primary' })),
    ]);
    field.focus();
  }

  /** Text to be copied by hand, where the browser did not allow it. */
  showText(name: 'copy' | 'share', text: string): void {
    const field = make('textarea', { readonly: true, rows: '3', 'aria-label': say(name) }, text);
    this.show(name, [make('p', { class: 'hint' }, say('copy_failed')), field]);
    field.focus();
    field.select();
  }

  private show(name: SheetName, content: Node[]) {
    const word: Word = name === 'share' ? 'share_link' : name;
    this.open = name;
    const close = button('close', () => this.close(), {
      icon: 'close',
      class: 'bare',
      hidesWord: true,
    });
    this.element.replaceChildren(
      make('div', { class: 'bar' }, make('h2', { id: 'sheet-title' }, say(word)), close),
      make('div', { class: `sheet-body sheet-${name}` }, ...content),
    );
    this.element.setAttribute('aria-labelledby', 'sheet-title');
    this.element.hidden = false;
    this.host.onToggle(name);
  }

  private build(name: SheetName): Node[] {
    switch (name) {
      case 'paste':
        return this.pasteSheet();
      case 'zoom':
        return this.zoomSheet();
      case 'keys':
        return this.keysSheet();
      case 'pointer':
        return this.pointerSheet();
      default:
        return this.host.more().map((item) => this.moreItem(item));
    }
  }

  private pasteSheet(): Node[] {
    const { host } = this;
    return [
      make(
        'div',
        { class: 'grid' },
        button('paste_code', () => host.pasteCode(), { class: 'primary', id: 'paste-code' }),
        button('paste_all', () => host.pasteAll(), { id: 'paste-all' }),
        button('copy', () => host.copy(), { id: 'copy', icon: 'copy' }),
      ),
      make('p', { class: 'hint' }, say('paste_code_help')),
    ];
  }

  private zoomSheet(): Node[] {
    const { stage } = this.host;
    const to = (scale: number) => () => stage.zoomTo(scale);
    const percent = (scale: number) =>
      make('button', { type: 'button', onclick: to(scale) }, `${scale * 100}\u202f%`);
    return [
      make(
        'div',
        { class: 'grid' },
        button('fit', () => stage.showFit(), { id: 'zoom-fit' }),
        percent(0.5),
        percent(1),
        percent(2),
        button('zoom_out', () => stage.zoomTo(stage.view.scale / 1.25)),
        button('zoom_in', () => stage.zoomTo(stage.view.scale * 1.25)),
        this.switchButton('touchpad', this.host.isTouchpad(), (isOn) =>
          this.host.setTouchpad(isOn),
        ),
        button('pointer', () => this.toggle('pointer')),
      ),
    ];
  }

  private switchButton(word: Word, isOn: boolean, set: (isOn: boolean) => void, symbol?: Icon) {
    const element: HTMLButtonElement = button(
      word,
      () => {
        const next = element.getAttribute('aria-pressed') !== 'true';
        element.setAttribute('aria-pressed', String(next));
        set(next);
      },
      { attributes: { 'aria-pressed': String(isOn) }, ...(symbol ? { icon: symbol } : {}) },
    );
    return element;
  }

  // Keys

  private keyButton(label: string, run: () => void, name = label) {
    // The focus stays where it is, and with it a phone's keyboard.
    const attributes = {
      type: 'button',
      class: 'key',
      'aria-label': name,
      onpointerdown: (event: Event) => event.preventDefault(),
      onclick: run,
    };
    return make('button', attributes, label);
  }

  private keysSheet(): Node[] {
    const { sticky } = this.host;
    const key = (label: string, keysym: number, more: Modifier[] = [], name = label) =>
      this.keyButton(label, () => sticky.tap(keysym, more), name);
    const chord = (letter: string) =>
      key(`Ctrl+${letter}`, letter.toLowerCase().charCodeAt(0), ['Control']);
    const group = (...keys: Node[]) => make('div', { class: 'keys-group' }, ...keys);
    const functionKeys = Array.from({ length: 12 }, (_, i) => key(`F${i + 1}`, KEYSYM.F1 + i));
    return [
      group(...this.modifierKeys(), this.letterField()),
      group(
        key('Esc', KEYSYM.Escape),
        key('Tab', KEYSYM.Tab),
        key('⇧Tab', KEYSYM.Tab, ['Shift'], 'Shift+Tab'),
        key('⌫', KEYSYM.BackSpace, [], 'Backspace'),
        key('Del', KEYSYM.Delete),
        key('⏎', KEYSYM.Return, [], 'Enter'),
        key('←', KEYSYM.Left, [], say('left')),
        key('↑', KEYSYM.Up, [], say('up')),
        key('↓', KEYSYM.Down, [], say('down')),
        key('→', KEYSYM.Right, [], say('right')),
        key('Home', KEYSYM.Home),
        key('End', KEYSYM.End),
        key('PgUp', KEYSYM.PageUp),
        key('PgDn', KEYSYM.PageDown),
      ),
      group(
        ...['A', 'C', 'V', 'X', 'Z', 'W', 'T', 'N'].map(chord),
        key('Ctrl+Tab', KEYSYM.Tab, ['Control']),
        key('Alt+Tab', KEYSYM.Tab, ['Alt']),
      ),
      group(...functionKeys),
    ];
  }

  private modifierKeys(): Node[] {
    const { sticky } = this.host;
    const names: Record<Modifier, string> = { Control: 'Ctrl', Alt: 'Alt', Shift: 'Shift' };
    const buttons = MODIFIERS.map((modifier) => {
      const element = this.keyButton(names[modifier], () => sticky.toggle(modifier));
      element.dataset.modifier = modifier;
      return { modifier, element };
    });
    const update = () => {
      for (const { modifier, element } of buttons)
        element.setAttribute('aria-pressed', String(sticky.has(modifier)));
    };
    sticky.onChange = update;
    update();
    return buttons.map(({ element }) => element);
  }

  /** One letter for the latched modifiers. */
  private letterField(): Node {
    const field = make('input', {
      class: 'letter',
      autocomplete: 'off',
      autocapitalize: 'off',
      autocorrect: 'off',
      spellcheck: 'false',
      'aria-label': '+ A…Z',
      placeholder: '+ A',
    });
    field.addEventListener('input', (event) => {
      if ((event as InputEvent).isComposing) return;
      const [letter] = field.value;
      field.value = '';
      if (letter) this.host.sticky.tapCharacter(letter);
    });
    return field;
  }

  // The pointer without dragging

  private pointerSheet(): Node[] {
    const { stage } = this.host;
    let step = 10;
    const nudge = (dx: number, dy: number) => () => stage.moveBy(dx * step, dy * step);
    const arrow = (word: Word, symbol: Icon, dx: number, dy: number) =>
      button(word, nudge(dx, dy), {
        icon: symbol,
        hidesWord: true,
        class: `nudge nudge-${symbol}`,
      });
    const steps = this.stepChoice((value) => {
      step = value;
    });
    const hold = this.switchButton('hold', stage.isDown('left'), (isOn) =>
      isOn ? stage.press('left') : stage.release('left'),
    );
    return [
      make(
        'div',
        { class: 'pad' },
        arrow('up', 'up', 0, -1),
        arrow('left', 'left', -1, 0),
        arrow('right', 'right', 1, 0),
        arrow('down', 'down', 0, 1),
      ),
      make(
        'div',
        { class: 'grid' },
        steps,
        button('press', () => stage.click('left'), { class: 'primary' }),
        hold,
        button('right_click', () => stage.click('right')),
        button('scroll_up', () => stage.wheel(0, -1)),
        button('scroll_down', () => stage.wheel(0, 1)),
      ),
    ];
  }

  private stepChoice(set: (step: number) => void): Node {
    const values: [Word, number][] = [
      ['step_1', 1],
      ['step_10', 10],
    ];
    const buttons = values.map(([word, value]) => {
      const element = button(word, () => {
        for (const each of buttons) each.setAttribute('aria-pressed', String(each === element));
        set(value);
      });
      element.setAttribute('aria-pressed', String(value === 10));
      return element;
    });
    return make('div', { class: 'choice-row' }, ...buttons);
  }

  private moreItem(item: MoreItem): Node {
    if (item.isOn === undefined) {
      return button(item.word, item.run, { icon: item.icon, class: 'item' });
    }
    const element = this.switchButton(item.word, item.isOn, () => item.run(), item.icon);
    element.classList.add('item');
    return element;
  }
}
