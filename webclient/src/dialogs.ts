// SPDX-License-Identifier: GPL-2.0-or-later
//
// The two questions that the page asks. Both begin on the answer that changes nothing.
import { button, el, make } from './dom';
import { say } from './words';
import type { Word } from './words';

export type Outcome = 'done' | 'could_not' | 'other';

const dialog = () => el<HTMLDialogElement>('dialog');

function show(content: Node[], first: HTMLElement): void {
  const box = dialog();
  box.replaceChildren(...content);
  if (!box.open) box.showModal();
  first.focus();
}

/** By the event before the closing: the one after it comes when the next question may be there already. */
function onEscape(run: () => void): void {
  dialog().oncancel = (event) => {
    event.preventDefault();
    run();
  };
}

export function closeDialog(): void {
  if (dialog().open) dialog().close();
  dialog().replaceChildren();
}

/** Resolves to whether the person wants it. */
export function confirmTake(): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (isYes: boolean) => () => {
      resolve(isYes);
      closeDialog();
    };
    onEscape(answer(false));
    const no = button('cancel', answer(false), { class: 'quiet' });
    show(
      [
        make('h2', { id: 'dialog-title' }, say('confirm_take')),
        make('p', {}, say('confirm_take_text')),
        make(
          'div',
          { class: 'actions' },
          button('take_control', answer(true), { class: 'primary' }),
          no,
        ),
      ],
      no,
    );
  });
}

export interface HandBack {
  outcome: Outcome;
  message: string;
}

/** Resolves to what the person says, or null to keep control. */
export function askHandBack(hasUnsent: boolean): Promise<HandBack | null> {
  return new Promise((resolve) => {
    const message = make('textarea', {
      id: 'hand-back-message',
      rows: '2',
      maxlength: '4000',
      dir: 'auto',
    });
    const choice = (value: Outcome, word: Word) => {
      const input = make('input', { type: 'radio', name: 'outcome', value });
      input.checked = value === 'done';
      return make('label', { class: 'choice' }, input, make('span', {}, say(word)));
    };
    const choices = make(
      'fieldset',
      {},
      make('legend', {}, say('outcome')),
      choice('done', 'done'),
      choice('could_not', 'could_not'),
      choice('other', 'other'),
    );
    const finish = (result: HandBack | null) => {
      resolve(result);
      closeDialog();
    };
    onEscape(() => finish(null));
    const confirm = () => {
      const checked = choices.querySelector<HTMLInputElement>('input:checked')!;
      finish({ outcome: checked.value as Outcome, message: message.value.trim() });
    };
    const keep = button('keep', () => finish(null), { class: 'quiet', id: 'keep' });
    const content: Node[] = [
      make('h2', { id: 'dialog-title' }, say('hand_back_title')),
      choices,
      make('label', { for: 'hand-back-message' }, say('hand_back_message')),
      message,
    ];
    if (hasUnsent) content.push(make('p', { class: 'warning', role: 'alert' }, say('unsent')));
    const yes = button('hand_back', confirm, { class: 'primary', id: 'hand-back-confirm' });
    content.push(make('div', { class: 'actions' }, yes, keep));
    show(content, keep);
  });
}
