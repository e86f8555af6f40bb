// SPDX-License-Identifier: GPL-2.0-or-later
//
// The compose bar: a visible field in which the phone's keyboard may correct and compose as it likes. It
// is read once, on Insert or Enter, never during a composition, and what was read is typed on the box.
import { button, el, icon, make } from './dom';
import { textLength, TEXT_MAX, SECRET_MS } from './outbox';
import type { TextResult } from './texts';
import { say } from './words';
import type { Word } from './words';

export interface ComposeHost {
  send: (text: string, enter: boolean, secret: boolean) => Promise<TextResult>;
  isLive: () => boolean;
  pasteCode: () => void;
  pressEnter: () => void;
  tell: (word: Word, values?: Record<string, number>) => void;
  onFocus: (isFocused: boolean) => void;
}

type Field = HTMLTextAreaElement | HTMLInputElement;

export class Compose {
  readonly element = el('compose');
  private field!: Field;
  private isSecret = false;
  private isComposing = false;
  private wantsSubmit: { enter: boolean } | null = null; // once the composition has ended
  private secretTimer = 0;
  private readonly secretButton: HTMLButtonElement;
  private readonly showButton: HTMLButtonElement;
  private readonly codeButton: HTMLButtonElement;
  private readonly insertButton: HTMLButtonElement;

  constructor(private readonly host: ComposeHost) {
    const keepsFocus = { onpointerdown: (event: Event) => event.preventDefault() };
    const toggle = { ...keepsFocus, 'aria-pressed': 'false' };
    this.secretButton = button('secret', () => this.setSecret(!this.isSecret), {
      icon: 'lock',
      hidesWord: true,
      attributes: toggle,
    });
    this.showButton = button('show', () => this.toggleShown(), {
      icon: 'eye',
      hidesWord: true,
      attributes: toggle,
    });
    this.codeButton = button('code', () => host.pasteCode(), {
      id: 'compose-code',
      class: 'quiet',
      attributes: { ...keepsFocus, title: say('paste_code_help') },
    });
    this.insertButton = button('insert', () => this.submit(false), {
      id: 'insert',
      class: 'primary',
      attributes: keepsFocus,
    });
    this.renewField();
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  get hasText(): boolean {
    return this.field.value !== '';
  }

  get isFocused(): boolean {
    return document.activeElement === this.field;
  }

  open(): void {
    this.element.hidden = false;
    this.field.focus();
  }

  /** As it was, without taking the focus. */
  show(): void {
    this.element.hidden = false;
  }

  close(): void {
    this.element.hidden = true;
    if (this.isSecret) this.setSecret(false, false);
  }

  /** The page is hidden or left: a password does not stay behind. */
  clearSecret(): void {
    if (this.isSecret) this.renewField();
  }

  clear(): void {
    this.isSecret = false;
    this.renewField();
  }

  /** A new field, so that the old one's undo history goes with it. */
  private renewField() {
    clearTimeout(this.secretTimer);
    const hadFocus = this.field !== undefined && this.isFocused;
    const common = {
      id: 'compose-field',
      autocomplete: 'off',
      autocorrect: 'off',
      autocapitalize: 'off',
      spellcheck: 'false',
      enterkeyhint: 'send',
      dir: 'auto',
      oninput: () => this.changed(),
      onkeydown: (event: Event) => this.keyDown(event as KeyboardEvent),
      onfocus: () => this.host.onFocus(true),
      onblur: () => this.host.onFocus(false),
      oncompositionstart: () => {
        this.isComposing = true;
      },
      oncompositionend: () => this.composed(),
    };
    this.field = this.isSecret
      ? make('input', {
          ...common,
          type: 'password',
          autocomplete: 'new-password',
          'aria-label': say('secret_label'),
          placeholder: say('secret'),
        })
      : make('textarea', {
          ...common,
          rows: '1',
          'aria-label': say('compose_label'),
          placeholder: say('compose_placeholder'),
        });
    this.isComposing = false;
    this.secretButton.setAttribute('aria-pressed', String(this.isSecret));
    this.showButton.setAttribute('aria-pressed', 'false');
    this.element.replaceChildren(
      this.secretButton,
      this.field,
      this.showButton,
      this.codeButton,
      this.insertButton,
    );
    this.changed();
    if (hadFocus) this.field.focus();
  }

  private setSecret(isSecret: boolean, takesFocus = true) {
    this.isSecret = isSecret;
    this.renewField();
    if (takesFocus) this.field.focus();
  }

  private toggleShown() {
    const isShown = this.field.getAttribute('type') === 'text';
    this.field.setAttribute('type', isShown ? 'password' : 'text');
    this.showButton.setAttribute('aria-pressed', String(!isShown));
  }

  private changed() {
    const hasText = this.field.value !== '';
    this.showButton.hidden = !this.isSecret;
    this.codeButton.hidden = this.isSecret || hasText;
    const area = this.field;
    if (area instanceof HTMLTextAreaElement) {
      area.rows = 1;
      // As high as its text, up to three lines.
      area.rows = Math.min(3, Math.max(1, Math.round((area.scrollHeight - 20) / 22)));
    }
    clearTimeout(this.secretTimer);
    if (!this.isSecret || !hasText) return;
    this.secretTimer = window.setTimeout(() => {
      this.clearSecret();
      this.host.tell('secret_cleared');
    }, SECRET_MS);
  }

  private keyDown(event: KeyboardEvent) {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229)
      return;
    event.preventDefault();
    this.submit(true);
  }

  private composed() {
    this.isComposing = false;
    const wish = this.wantsSubmit;
    this.wantsSubmit = null;
    if (!wish) return;
    // Browsers put the last of the text into the field after this event.
    setTimeout(() => {
      this.field.focus();
      this.submit(wish.enter);
    });
  }

  private submit(enter: boolean) {
    if (this.isComposing) {
      this.wantsSubmit = { enter };
      this.field.blur(); // ends the composition
      return;
    }
    if (this.field.readOnly) return;
    const text = this.field.value;
    if (!this.host.isLive()) return this.host.tell('no_line_text');
    if (text === '') {
      if (enter) this.host.pressEnter();
      return;
    }
    if (textLength(text) > TEXT_MAX) return this.host.tell('too_long', { n: TEXT_MAX });
    void this.deliver(text, enter);
  }

  private async deliver(text: string, enter: boolean) {
    const { field } = this;
    field.readOnly = true;
    this.element.setAttribute('aria-busy', 'true');
    this.insertButton.replaceChildren(icon('spinner'), make('span', {}, say('sending')));
    const result = await this.host.send(text, enter, this.isSecret);
    this.element.removeAttribute('aria-busy');
    this.insertButton.replaceChildren(make('span', {}, say('insert')));
    if (field !== this.field) return; // cleared meanwhile
    field.readOnly = false;
    if (result === 'failed') return this.host.tell('text_failed');
    if (this.isSecret) {
      this.isSecret = false;
      this.renewField();
    } else {
      field.value = '';
      this.changed();
    }
    this.host.tell(result === 'typed' ? 'inserted' : 'secret_cleared');
  }
}
