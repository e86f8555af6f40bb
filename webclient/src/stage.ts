// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where the box's screen is seen: which part of it, how large, and the box's pointer on top. Also holds
// what the pointer has down, so that it can be let go.
import type { Button } from './gesture';
import type { CursorShape } from './picture';
import { pointerEvent } from './rfb_input';
import { clamp, fit, isAtFit, pan, reveal, toScreen, toStage, zoomTo } from './view';
import type { Point, Size, View } from './view';

const BITS: Record<Button, number> = { left: 1, middle: 2, right: 4 };
const WHEEL = { up: 8, down: 16, left: 32, right: 64 };
const EDGE_PX = 32;
const EDGE_PAN_PX = 12; // for each move there
const STEPS_MAX = 20; // of one wheel event: a thrown wheel must not scroll for seconds

export class Stage {
  screen: Size = { width: 0, height: 0 };
  view: View = { scale: 1, x: 0, y: 0 };
  /** Where the box's pointer is, as far as known. */
  at: Point = { x: 0, y: 0 };
  private active = false;
  private buttons = 0;
  private staysFit = true;
  private size: Size = { width: 0, height: 0 };
  private hot: Point = { x: 0, y: 0 };
  private isPointerKnown = false;

  constructor(
    readonly element: HTMLElement,
    private readonly frame: HTMLElement,
    private readonly pointer: HTMLElement,
    private readonly send: (data: Uint8Array<ArrayBuffer>) => void,
  ) {
    new ResizeObserver(() => this.resize()).observe(element);
    this.resize();
  }

  /** Whether what happens here goes to the box. */
  get isActive(): boolean {
    return this.active;
  }

  set isActive(isActive: boolean) {
    if (isActive === this.active) return;
    this.active = isActive;
    this.isPointerKnown = false; // somebody else may have moved it since
  }

  // What is seen

  setScreen(screen: Size): void {
    const isNew = screen.width !== this.screen.width || screen.height !== this.screen.height;
    this.screen = screen;
    this.frame.style.width = `${screen.width}px`;
    this.frame.style.height = `${screen.height}px`;
    if (isNew) this.showFit();
  }

  get isZoomed(): boolean {
    return !isAtFit(this.view, this.screen, this.size);
  }

  showFit(): void {
    this.staysFit = true;
    this.apply(fit(this.screen, this.size));
  }

  /** To a scale, around a point of the stage or, without one, around the pointer. */
  zoomTo(scale: number, at?: Point): void {
    const around = at ?? toStage(this.view, this.at);
    const moved = zoomTo(this.view, scale, around, this.screen, this.size);
    this.apply(at ? moved : reveal(moved, this.at, 40, this.screen, this.size));
    this.staysFit = !this.isZoomed;
  }

  pan(dx: number, dy: number): void {
    this.apply(pan(this.view, dx, dy, this.screen, this.size));
  }

  /** A mouse near an edge of the stage: what lies beyond comes nearer. */
  panAtEdge(at: Point): void {
    if (!this.isZoomed) return;
    const push = (value: number, room: number) => {
      if (value < EDGE_PX) return EDGE_PAN_PX;
      return value > room - EDGE_PX ? -EDGE_PAN_PX : 0;
    };
    this.pan(push(at.x, this.size.width), push(at.y, this.size.height));
  }

  /** Brings the pointer into view: after the nudge pad, or when the keyboard has covered it. */
  showPointer(): void {
    this.apply(reveal(this.view, this.at, 40, this.screen, this.size));
  }

  private resize() {
    const { clientWidth: width, clientHeight: height } = this.element;
    const centre = toScreen(
      this.view,
      { x: this.size.width / 2, y: this.size.height / 2 },
      this.screen,
    );
    this.size = { width, height };
    if (this.staysFit) return this.apply(fit(this.screen, this.size));
    // What was in the middle stays there.
    const { scale } = this.view;
    const view = { scale, x: width / 2 - centre.x * scale, y: height / 2 - centre.y * scale };
    this.apply(clamp(view, this.screen, this.size));
  }

  private apply(view: View) {
    this.view = view;
    this.frame.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.scale})`;
    // Beyond natural size, pixels rather than a blur; text stays readable as it is.
    this.frame.classList.toggle('large', view.scale >= 2);
    this.placePointer();
  }

  // The box's pointer

  setCursor(shape: CursorShape): void {
    const { width, height } = shape;
    this.hot = { x: shape.hotX, y: shape.hotY };
    this.pointer.replaceChildren();
    this.element.classList.toggle('has-pointer', width > 0 && height > 0);
    if (width === 0 || height === 0) return;
    const canvas = document.createElement('canvas');
    Object.assign(canvas, { width, height });
    const data = new ImageData(new Uint8ClampedArray(shape.rgba), width, height);
    canvas.getContext('2d')!.putImageData(data, 0, 0);
    this.pointer.append(canvas);
    this.placePointer();
  }

  /** Somebody else has moved it. */
  pointerMoved(x: number, y: number): void {
    // Echoes of one's own moves are late.
    if (this.isActive && this.isPointerKnown) return;
    this.isPointerKnown = true;
    this.at = { x, y };
    this.placePointer();
  }

  private placePointer() {
    const { scale, x, y } = this.view;
    // Small pictures: the pointer is drawn large enough to be seen.
    const size = Math.max(scale, 0.75);
    const left = x + (this.at.x + 0.5) * scale - this.hot.x * size;
    const top = y + (this.at.y + 0.5) * scale - this.hot.y * size;
    this.pointer.style.transform = `translate(${left}px, ${top}px) scale(${size})`;
  }

  // What the person does

  toScreen(at: Point): Point {
    return toScreen(this.view, at, this.screen);
  }

  moveTo(to: Point): void {
    if (!this.isActive) return; // a watcher sees where the agent's is
    this.at = to;
    this.isPointerKnown = true;
    this.tell();
  }

  moveBy(dx: number, dy: number): void {
    const { width, height } = this.screen;
    this.moveTo({
      x: Math.min(Math.max(this.at.x + dx, 0), width - 1),
      y: Math.min(Math.max(this.at.y + dy, 0), height - 1),
    });
    this.showPointer();
  }

  press(button: Button): void {
    this.buttons |= BITS[button];
    this.tell();
  }

  release(button: Button): void {
    this.buttons &= ~BITS[button];
    this.tell();
  }

  click(button: Button): void {
    this.press(button);
    this.release(button);
  }

  isDown(button: Button): boolean {
    return (this.buttons & BITS[button]) !== 0;
  }

  /** Positive steps are to the right and down. */
  wheel(stepsX: number, stepsY: number): void {
    this.turn(stepsX < 0 ? WHEEL.left : WHEEL.right, Math.abs(stepsX));
    this.turn(stepsY < 0 ? WHEEL.up : WHEEL.down, Math.abs(stepsY));
  }

  releaseAll(): void {
    if (this.buttons === 0) return;
    this.buttons = 0;
    this.tell();
  }

  private turn(bit: number, steps: number) {
    for (let i = 0; i < Math.min(steps, STEPS_MAX); i++) {
      this.tell(this.buttons | bit);
      this.tell();
    }
  }

  private tell(buttons = this.buttons) {
    this.placePointer();
    if (this.isActive) {
      this.send(pointerEvent(Math.round(this.at.x), Math.round(this.at.y), buttons));
    } else this.buttons = 0;
  }
}
