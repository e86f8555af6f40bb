// SPDX-License-Identifier: GPL-2.0-or-later
//
// What stands on the stage in the states that are not the screen itself: what is going on, in words, and
// what can be done about it.
import type { ServerState } from './api';
import { button, el, icon, make } from './dom';
import type { Icon } from './dom';
import { formatClock } from './model';
import type { Model, Phase } from './model';
import { say, timeOfDay } from './words';
import type { Word } from './words';

export interface CardActions {
  takeOver: () => void;
  takeFromOther: () => void;
  watch: () => void;
  reload: () => void;
}

interface Card {
  icon: Icon;
  title: Word;
  text: string[];
  buttons: HTMLElement[];
}

const BUSY: Partial<Record<Phase, [icon: Icon, title: Word, text: Word | null]>> = {
  opening: ['spinner', 'opening', null],
  connecting: ['spinner', 'connecting', null],
  taking: ['spinner', 'taking', 'taking_text'],
  waiting: ['screen', 'waiting', 'waiting_text'],
  reconnecting: ['line', 'reconnecting', 'reconnecting_text'],
  asleep: ['moon', 'asleep', 'asleep_text'],
  invalid: ['cross', 'invalid', 'invalid_text'],
  taken_over: ['person', 'taken_over', 'taken_over_text'],
  cancelled: ['check', 'cancelled', 'cancelled_text'],
};

function invite(server: ServerState | null, actions: CardActions): Card {
  const hasTakeover = server?.takeover !== null;
  return {
    icon: 'hand',
    title: hasTakeover ? 'invite' : 'invite_plain',
    text: hasTakeover ? [say('invite_text')] : [],
    buttons: [
      button('take_over', actions.takeOver, { class: 'primary large', id: 'card-take' }),
      button('watch', actions.watch, { class: 'quiet large', id: 'card-watch' }),
    ],
  };
}

function held(server: ServerState | null, actions: CardActions): Card {
  const word: Word = server?.is_away ? 'held_away_text' : 'held_text';
  return {
    icon: 'person',
    title: 'held_title',
    text: [say(word, { time: timeOfDay(server?.held_since ?? null) })],
    buttons: [
      button('take_control', actions.takeFromOther, { class: 'primary large', id: 'card-take' }),
      button('watch', actions.watch, { class: 'quiet large', id: 'card-watch' }),
    ],
  };
}

function handedBack(model: Model): Card {
  const text = [say('handed_back_text')];
  if (model.outcome) text.unshift(say(`outcome_${model.outcome}` as Word));
  if (model.heldS !== null) text.push(say('handed_back_time', { time: formatClock(model.heldS) }));
  return { icon: 'check', title: 'handed_back', text, buttons: [] };
}

function cardOf(phase: Phase, model: Model, actions: CardActions): Card | null {
  if (phase === 'invite') return invite(model.server, actions);
  if (phase === 'held') return held(model.server, actions);
  if (phase === 'handed_back') return handedBack(model);
  if (phase === 'unreachable') {
    const again = button('try_again', actions.reload, { class: 'primary large' });
    return {
      icon: 'line',
      title: 'unreachable',
      text: [say('unreachable_text')],
      buttons: [again],
    };
  }
  const busy = BUSY[phase];
  if (!busy) return null;
  const [symbol, title, text] = busy;
  return { icon: symbol, title, text: text ? [say(text)] : [], buttons: [] };
}

let shown = '';

/** Draws the card of the phase, when it is another one than before. */
export function showCard(phase: Phase, model: Model, actions: CardActions): void {
  const element = el('card');
  const card = cardOf(phase, model, actions);
  element.hidden = card === null;
  const key = card ? `${phase} ${card.title} ${card.text.join(' ')}` : '';
  if (key === shown) return;
  shown = key;
  if (!card) return element.replaceChildren();
  element.replaceChildren(
    make(
      'div',
      { class: 'card-box' },
      icon(card.icon),
      make('h2', {}, say(card.title)),
      ...card.text.map((text) => make('p', {}, text)),
      ...(card.buttons.length > 0 ? [make('div', { class: 'actions' }, ...card.buttons)] : []),
    ),
  );
}
