// SPDX-License-Identifier: GPL-2.0-or-later
//
// For watchers: a strip of what the agent did last, each step with its time and a small picture, made
// here from what the watcher sees anyway.
import { button, make } from './dom';
import { say, timeOfDay } from './words';

export interface StepMessage {
  id: number;
  time: string;
  action: string;
  x?: number;
  y?: number;
}

const STEPS_MAX = 60;
const THUMB_WIDTH = 160;
const SETTLE_MS = 350; // after the step, until its effect is most likely to be seen

export class Steps {
  private readonly list = make('ol', { id: 'steps-list', tabindex: '0' });
  private readonly empty = make('p', { class: 'hint' }, say('no_steps'));
  private readonly section: HTMLElement;
  private readonly toggle: HTMLButtonElement;
  private readonly seen = new Set<number>();
  private isPaused = false;

  constructor(
    parent: HTMLElement,
    private readonly canvas: () => HTMLCanvasElement | null,
  ) {
    this.toggle = button('pause', () => this.setPaused(!this.isPaused), {
      class: 'quiet',
      id: 'live-toggle',
    });
    this.list.setAttribute('aria-label', say('steps'));
    this.section = make(
      'section',
      { id: 'steps', 'aria-label': say('steps'), hidden: true },
      this.toggle,
      this.empty,
      this.list,
    );
    parent.querySelector('main')!.after(this.section);
  }

  show(isSeen: boolean): void {
    this.section.hidden = !isSeen;
  }

  add(step: StepMessage): void {
    if (this.seen.has(step.id)) return;
    this.seen.add(step.id);
    this.empty.hidden = true;
    const picture = make('canvas', {
      width: String(THUMB_WIDTH),
      height: '100',
      'aria-hidden': 'true',
    });
    const item = make(
      'li',
      {},
      picture,
      make('span', { class: 'step-action' }, step.action),
      make('span', { class: 'step-time' }, timeOfDay(step.time)),
    );
    this.list.append(item);
    while (this.list.children.length > STEPS_MAX) this.list.firstElementChild!.remove();
    if (!this.isPaused) this.list.scrollLeft = this.list.scrollWidth;
    setTimeout(() => this.draw(picture, step), SETTLE_MS);
  }

  private draw(picture: HTMLCanvasElement, step: StepMessage) {
    const source = this.canvas();
    const context = picture.getContext('2d');
    if (!source || source.width === 0 || !context) return;
    picture.height = Math.round((THUMB_WIDTH * source.height) / source.width);
    context.drawImage(source, 0, 0, picture.width, picture.height);
    if (step.x === undefined || step.y === undefined) return;
    const scale = THUMB_WIDTH / source.width;
    context.strokeStyle = '#ff3b30';
    context.lineWidth = 2;
    context.beginPath();
    context.arc(step.x * scale, step.y * scale, 6, 0, 2 * Math.PI);
    context.stroke();
  }

  /** Paused, the picture and the strip stand still; the line goes on. */
  private setPaused(isPaused: boolean) {
    this.isPaused = isPaused;
    this.toggle.textContent = say(isPaused ? 'live' : 'pause');
    const stage = document.getElementById('stage')!;
    stage.querySelector('.still')?.remove();
    const source = this.canvas();
    if (!isPaused) {
      this.list.scrollLeft = this.list.scrollWidth;
      return;
    }
    if (!source) return;
    const still = make('canvas', {
      class: 'still',
      width: String(source.width),
      height: String(source.height),
    });
    still.getContext('2d')!.drawImage(source, 0, 0);
    document.getElementById('frame')!.append(still);
  }
}
