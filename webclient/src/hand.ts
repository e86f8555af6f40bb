// SPDX-License-Identifier: GPL-2.0-or-later
//
// The person's hand on the box: pointer, keyboard and the key bar, from the browser's events on the stage
// to what the line takes.
import { button, el } from './dom';
import { Keys } from './keys';
import type { SendKey } from './keys';
import { KeysField } from './keys_field';
import { PointerLayer } from './pointer';
import { keyEvent } from './rfb_input';
import type { Stage } from './stage';
import { Sticky } from './sticky';
import type { Point } from './view';
import type { Word } from './words';

const TAB_MS = 200;
const CHIP_MS = 4000;
const isMac = /mac|iphone|ipad/i.test(navigator.platform);
const isTouch = () => matchMedia('(pointer: coarse)').matches;

export interface HandHost {
  isInControl: () => boolean;
  isComposing: () => boolean; // the compose bar has the focus
  send: (data: Uint8Array<ArrayBuffer>) => void;
  pasted: (text: string) => void;
  leaveStage: () => void;
  tell: (word: Word) => void;
}

export class Hand {
  readonly sticky: Sticky;
  private readonly pointer: PointerLayer;
  private readonly keys: Keys;
  private readonly field = el<HTMLTextAreaElement>('keys-field');

  constructor(
    private readonly stage: Stage,
    private readonly host: HandHost,
  ) {
    const sendKey: SendKey = (keysym, isDown) => {
      if (host.isInControl()) host.send(keyEvent(keysym, isDown));
    };
    this.pointer = new PointerLayer(stage);
    this.sticky = new Sticky(sendKey);
    this.keys = new Keys((keysym, isDown) => this.sendTyped(sendKey, keysym, isDown), isMac);
    this.bind();
  }

  private bind() {
    const { pointer, keys, field, host } = this;
    pointer.onDown = () => {
      keys.focus();
      this.focus();
    };
    pointer.onRightClickOffer = (at) => this.offerRightClick(at);
    keys.onLeave = () => host.leaveStage();
    keys.onPasteChord = () => true;
    new KeysField(field, keys, () => host.isInControl());
    field.addEventListener('paste', (event) => {
      event.preventDefault();
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (text !== '') host.pasted(text);
    });
    this.tellWayOut();
  }

  /** Who comes to the stage by Tab is told how to get off it: there, Tab is the box's. */
  private tellWayOut() {
    let tabbedAt = -Infinity;
    const note = (event: KeyboardEvent) => {
      if (event.key === 'Tab') tabbedAt = performance.now();
    };
    document.addEventListener('keydown', note, true);
    this.field.addEventListener('focus', () => {
      if (performance.now() - tabbedAt < TAB_MS) this.host.tell('stage_help');
    });
  }

  /** Fingers move the box's pointer as on a touchpad, instead of pointing. */
  get isTouchpad(): boolean {
    return this.pointer.gestures.isTouchpad;
  }

  set isTouchpad(isOn: boolean) {
    this.pointer.gestures.isTouchpad = isOn;
  }

  /** Whether the stage takes the person's pointer and keys. */
  setActive(isActive: boolean): void {
    this.stage.isActive = isActive;
    this.field.hidden = !isActive;
  }

  /** Keys go to the box. */
  focus(): void {
    if (this.field.hidden) return;
    // On a phone the focus must not bring its keyboard up.
    this.field.inputMode = isTouch() ? 'none' : 'text';
    if (!this.host.isComposing()) this.field.focus({ preventScroll: true });
  }

  /** Keys go to the box, on a phone from its own keyboard. */
  typeDirectly(): void {
    this.field.inputMode = 'text';
    this.field.blur();
    this.field.focus({ preventScroll: true });
  }

  /** The page has the window's focus again. */
  comeBack(): void {
    this.keys.focus();
  }

  /** The page is left: nothing may stay held on the box. */
  leave(): void {
    this.pointer.releaseAll();
    this.keys.blur();
  }

  /** Control is lost: what is held is let go, what is latched forgotten. */
  releaseAll(): void {
    this.pointer.releaseAll();
    this.keys.releaseAll();
    this.sticky.clear();
  }

  private sendTyped(send: SendKey, keysym: number, isDown: boolean) {
    if (this.sticky.isActive && isDown && (keysym < 0xffe1 || keysym > 0xffee)) {
      this.sticky.tap(keysym);
    } else send(keysym, isDown);
  }

  private offerRightClick(at: Point) {
    const place = this.stage.toScreen(at);
    const chips = el('chips');
    const chip = button(
      'right_click',
      () => {
        chips.replaceChildren();
        this.stage.moveTo(place);
        this.stage.click('right');
      },
      { class: 'chip' },
    );
    chips.replaceChildren(chip);
    const { clientWidth, clientHeight } = this.stage.element;
    chip.style.left = `${Math.min(Math.max(at.x - 60, 8), clientWidth - 140)}px`;
    chip.style.top = `${at.y > clientHeight / 2 ? at.y - 72 : Math.min(at.y + 28, clientHeight - 52)}px`;
    setTimeout(() => chip.remove(), CHIP_MS);
  }
}
