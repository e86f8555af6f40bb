// SPDX-License-Identifier: GPL-2.0-or-later
//
// The browser's pointer events on the stage: fingers go through the gestures, a mouse or a pen is taken
// as it is.
import { Gestures } from './gesture';
import type { Button } from './gesture';
import type { Stage } from './stage';
import type { Point } from './view';

const BUTTONS: Button[] = ['left', 'middle', 'right'];
const LINE_PX = 20;
const STEP_PX = 50; // of a wheel's delta for one step; browsers send 100 or 120 for a notch

export class PointerLayer {
  readonly gestures: Gestures;
  onRightClickOffer: (at: Point) => void = () => {};
  /** A finger or button came down on the stage. */
  onDown: () => void = () => {};

  private timer = 0;
  private wheelRest: Point = { x: 0, y: 0 };

  constructor(private readonly stage: Stage) {
    this.gestures = new Gestures({
      moveTo: (at) => stage.moveTo(stage.toScreen(at)),
      moveBy: (dx, dy) => stage.moveBy(dx / stage.view.scale, dy / stage.view.scale),
      press: (button) => stage.press(button),
      release: (button) => stage.release(button),
      wheel: (x, y) => stage.wheel(x, y),
      pan: (dx, dy) => stage.pan(dx, dy),
      zoom: (factor, at) => stage.zoomTo(stage.view.scale * factor, at),
      offerRightClick: (at) => this.onRightClickOffer(at),
      isZoomed: () => stage.isZoomed,
    });
    const { element } = stage;
    const on = <K extends keyof HTMLElementEventMap>(
      name: K,
      handler: (event: HTMLElementEventMap[K]) => void,
    ) => element.addEventListener(name, handler, { passive: false });
    on('pointerdown', (event) => this.down(event));
    on('pointermove', (event) => this.move(event));
    on('pointerup', (event) => this.up(event));
    on('pointercancel', (event) => this.cancelled(event));
    on('lostpointercapture', (event) => this.cancelled(event));
    on('wheel', (event) => this.wheel(event));
    on('contextmenu', (event) => event.preventDefault());
    // Safari's own zoom, and the mouse events that browsers make up after a touch.
    for (const name of ['gesturestart', 'touchstart', 'dragstart']) {
      element.addEventListener(name, (event) => this.isOnPicture(event) && event.preventDefault(), {
        passive: false,
      });
    }
  }

  /** Lets go of everything: blur, hide, loss of control. */
  releaseAll(): void {
    this.gestures.cancel();
    this.stage.releaseAll();
    this.arm();
  }

  /** Buttons and cards on the stage are no part of the picture. */
  private isOnPicture(event: Event): boolean {
    return !(event.target instanceof Element && event.target.closest('button, #card, #toast'));
  }

  private place(event: MouseEvent): Point {
    const { left, top } = this.stage.element.getBoundingClientRect();
    const { clientLeft, clientTop } = this.stage.element;
    return { x: event.clientX - left - clientLeft, y: event.clientY - top - clientTop };
  }

  private down(event: PointerEvent) {
    if (!this.isOnPicture(event)) return;
    event.preventDefault(); // the focus is set by onDown
    this.stage.element.setPointerCapture(event.pointerId);
    this.onDown();
    const at = this.place(event);
    if (event.pointerType === 'touch') {
      this.gestures.down(event.pointerId, at, event.timeStamp);
      this.arm();
    } else {
      this.stage.moveTo(this.stage.toScreen(at));
      this.setButtons(event.buttons);
    }
  }

  private move(event: PointerEvent) {
    if (event.pointerType === 'touch') {
      this.gestures.move(event.pointerId, this.place(event), event.timeStamp);
      this.arm();
    } else if (this.isOnPicture(event)) {
      this.stage.panAtEdge(this.place(event));
      this.stage.moveTo(this.stage.toScreen(this.place(event)));
      this.setButtons(event.buttons); // a second button comes as a move
    }
  }

  private up(event: PointerEvent) {
    if (event.pointerType === 'touch') {
      this.gestures.up(event.pointerId, event.timeStamp);
      this.arm();
    } else this.setButtons(event.buttons);
  }

  private cancelled(event: PointerEvent) {
    // Capture is also lost after each pointerup; then there is nothing left to let go.
    if (event.type === 'pointercancel') this.releaseAll();
    else if (event.pointerType !== 'touch') this.setButtons(0);
  }

  /** `mask` as in PointerEvent.buttons: 1 left, 2 right, 4 middle. */
  private setButtons(mask: number) {
    const wanted = { left: (mask & 1) !== 0, right: (mask & 2) !== 0, middle: (mask & 4) !== 0 };
    for (const button of BUTTONS) {
      if (wanted[button] && !this.stage.isDown(button)) this.stage.press(button);
      if (!wanted[button] && this.stage.isDown(button)) this.stage.release(button);
    }
  }

  private wheel(event: WheelEvent) {
    if (!this.isOnPicture(event)) return;
    event.preventDefault();
    const at = this.place(event);
    if (event.ctrlKey) {
      // A touchpad's pinch arrives as this.
      this.stage.zoomTo(this.stage.view.scale * Math.exp(-event.deltaY / 200), at);
      return;
    }
    const unit = event.deltaMode === 0 ? 1 : LINE_PX;
    this.wheelRest.x += event.deltaX * unit;
    this.wheelRest.y += event.deltaY * unit;
    const x = Math.trunc(this.wheelRest.x / STEP_PX);
    const y = Math.trunc(this.wheelRest.y / STEP_PX);
    // A notch is one step, however many pixels the browser makes of it.
    const isNotch = Math.abs(event.deltaY * unit) >= 100 && event.deltaX === 0;
    this.wheelRest.x -= x * STEP_PX;
    this.wheelRest.y -= y * STEP_PX;
    if (x === 0 && y === 0) return;
    this.stage.moveTo(this.stage.toScreen(at));
    if (isNotch) this.stage.wheel(0, Math.sign(event.deltaY));
    else this.stage.wheel(x, y);
  }

  private arm() {
    clearTimeout(this.timer);
    const { deadline } = this.gestures;
    if (deadline === null) return;
    this.timer = window.setTimeout(
      () => {
        this.gestures.tick(performance.now());
        this.arm();
      },
      Math.max(deadline - performance.now(), 1),
    );
  }
}
