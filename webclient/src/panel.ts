// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the agent and the person tell each other: a panel beside the stage, or over it on a phone. Plain
// text, in the direction that it is written in, each with who said it.
import type { Message } from './api';
import { button, el, make } from './dom';
import { say, timeOfDay } from './words';
import type { Word } from './words';

export class Panel {
  readonly element = el('panel');
  private readonly list = make('ol');
  private readonly log = make('div', { id: 'messages', tabindex: '0', role: 'log' }, this.list);
  private readonly field: HTMLTextAreaElement;
  private readonly form: HTMLFormElement;
  private readonly seen = new Set<number>();
  private readonly mine: string[] = []; // sent from here, and not seen yet
  private readonly empty = make('p', { class: 'hint' }, say('no_messages'));

  /** send: false when it did not reach the agent. */
  constructor(
    private readonly send: (text: string) => Promise<boolean>,
    onClose: () => void,
  ) {
    this.log.setAttribute('aria-label', say('messages'));
    this.field = make('textarea', {
      id: 'message-field',
      rows: '2',
      maxlength: '4000',
      dir: 'auto',
      'aria-label': say('message_label'),
      placeholder: say('message_placeholder'),
      onkeydown: (event) => this.keyDown(event as KeyboardEvent),
    });
    this.form = make(
      'form',
      { onsubmit: (event) => this.submit(event) },
      this.field,
      button('send', () => this.form.requestSubmit(), {
        icon: 'send',
        class: 'primary',
        hidesWord: true,
      }),
    );
    const close = button('close', onClose, { icon: 'close', class: 'bare', hidesWord: true });
    this.element.append(
      make('div', { class: 'bar' }, make('h2', { id: 'panel-title' }, say('messages')), close),
      this.empty,
      this.log,
      this.form,
    );
  }

  get hasText(): boolean {
    return this.field.value.trim() !== '';
  }

  set canSend(canSend: boolean) {
    this.form.hidden = !canSend;
  }

  focus(): void {
    this.field.focus();
  }

  /** True when it is a new one. */
  add(message: Message): boolean {
    if (this.seen.has(message.id)) return false;
    this.seen.add(message.id);
    this.empty.hidden = true;
    const from = say(message.from === 'agent' ? 'from_agent' : this.whoWrote(message.text));
    this.list.append(
      make(
        'li',
        { class: `message ${message.from}` },
        make('span', { class: 'from' }, `${from} · ${timeOfDay(message.time)}`),
        make('p', { dir: 'auto' }, message.text),
      ),
    );
    this.log.scrollTop = this.log.scrollHeight;
    return true;
  }

  /** There may be several persons; those who come back after a reload are told apart no more. */
  private whoWrote(text: string): Word {
    const index = this.mine.indexOf(text);
    if (index < 0) return 'from_other';
    this.mine.splice(index, 1);
    return 'from_person';
  }

  private keyDown(event: KeyboardEvent) {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.form.requestSubmit();
  }

  private submit(event: Event) {
    event.preventDefault();
    const text = this.field.value.trim();
    if (text === '') return;
    this.mine.push(text);
    void this.send(text).then((isSent) => {
      if (isSent && this.field.value.trim() === text) this.field.value = '';
    });
  }
}
