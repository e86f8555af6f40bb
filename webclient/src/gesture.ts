// SPDX-License-Identifier: GPL-2.0-or-later
//
// Fingers → what the pointer does. Pure: it is fed with touches and the time, and says through a
// sink what is to happen; points are the stage's. The owner asks `deadline` when to call tick().
//
//   tap                        move, press, release
//   move of 6 px or more       press where the finger came down, moves, release: sliders follow, and
//                              a slow drag is never taken for a right click
//   hold of 250 ms             stays pressed until the finger is lifted; then a right click is offered
//   two-finger tap             right click
//   two-finger drag            pan when zoomed, else the wheel
//   pinch                      zoom; nothing goes to the box
//   a second finger during a press    release, then as two fingers
//
// In touchpad mode one finger moves the pointer by as much as it moves itself, and taps and holds act
// where the pointer is.
import type { Point } from './view';

export interface GestureSink {
  moveTo(at: Point): void;
  moveBy(dx: number, dy: number): void; // touchpad mode
  press(button: Button): void;
  release(button: Button): void;
  wheel(stepsX: number, stepsY: number): void;
  pan(dx: number, dy: number): void;
  zoom(factor: number, at: Point): void;
  offerRightClick(at: Point): void;
  isZoomed(): boolean;
}

export type Button = 'left' | 'middle' | 'right';

export const HOLD_MS = 250;
export const SLOP_PX = 6;
export const WHEEL_PX = 20;
const DOUBLE_TAP_MS = 400;
const DOUBLE_TAP_PX = 24;
const TWO_TAP_MS = 350;
const PINCH_PX = 16; // fingers that mean to drag in parallel drift apart by less

type State =
  | 'idle'
  | 'touched' // one finger is down, and may become anything
  | 'pressed' // the button is down
  | 'gliding' // touchpad mode: the pointer follows without a button
  | 'paired' // two fingers, nothing decided
  | 'panning'
  | 'wheeling'
  | 'pinching'
  | 'spent'; // waits until all fingers are gone

interface Finger {
  start: Point;
  at: Point;
}

const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);
const middle = (a: Point, b: Point) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });

export class Gestures {
  /** One finger moves the pointer relatively. */
  isTouchpad = false;
  /** When tick() is to be called, or null. */
  deadline: number | null = null;

  private state: State = 'idle';
  private readonly fingers = new Map<number, Finger>();
  private startedAt = 0;
  private hasMoved = false;
  private lastTap: { at: Point; time: number } | null = null;
  private last: Point = { x: 0, y: 0 }; // what pan, wheel and glide were last told about
  private lastSpread = 0;
  private wheelRest: Point = { x: 0, y: 0 };

  constructor(private readonly sink: GestureSink) {}

  down(id: number, at: Point, time: number): void {
    this.fingers.set(id, { start: at, at });
    if (this.fingers.size === 1) {
      this.state = 'touched';
      this.startedAt = time;
      this.hasMoved = false;
      this.last = at;
      this.deadline = time + HOLD_MS;
    } else if (this.fingers.size === 2) {
      this.beginPair(time);
    }
  }

  move(id: number, at: Point, time: number): void {
    const finger = this.fingers.get(id);
    if (!finger) return;
    this.tick(time); // a timer that is late must not turn a hold into a drag
    finger.at = at;
    if (this.state === 'touched') this.moveTouched(finger);
    else if (this.state === 'pressed') this.movePressed(finger);
    else if (this.state === 'gliding') this.glide(at);
    else if (this.fingers.size === 2) this.movePair();
  }

  up(id: number, time: number): void {
    const finger = this.fingers.get(id);
    if (!finger) return;
    this.tick(time);
    const wasLast = this.fingers.size === 1;
    if (this.state === 'touched') this.tap(finger, time);
    else if (this.state === 'pressed') this.endPress(finger);
    else if (this.state === 'paired' && time - this.startedAt < TWO_TAP_MS) this.tapPair();
    this.fingers.delete(id);
    this.deadline = null;
    this.state = wasLast ? 'idle' : 'spent';
  }

  /** The browser took the touches away, or the page is left: nothing stays pressed. */
  cancel(): void {
    if (this.state === 'pressed') this.sink.release('left');
    this.fingers.clear();
    this.deadline = null;
    this.lastTap = null;
    this.state = 'idle';
  }

  tick(time: number): void {
    if (this.deadline === null || time < this.deadline) return;
    this.deadline = null;
    const [finger] = this.fingers.values();
    if (this.state === 'touched' && finger) this.beginPress(finger.start);
  }

  // One finger

  private beginPress(at: Point): void {
    this.deadline = null;
    this.lastTap = null;
    if (!this.isTouchpad) this.sink.moveTo(at);
    this.sink.press('left');
    this.state = 'pressed';
  }

  private moveTouched(finger: Finger): void {
    if (distance(finger.start, finger.at) < SLOP_PX) return;
    if (this.isTouchpad) {
      this.deadline = null;
      this.lastTap = null;
      this.state = 'gliding';
      this.glide(finger.at);
    } else {
      this.beginPress(finger.start);
      this.movePressed(finger);
    }
  }

  private movePressed(finger: Finger): void {
    if (!this.hasMoved && distance(finger.start, finger.at) < SLOP_PX) return;
    this.hasMoved = true;
    if (this.isTouchpad) this.glide(finger.at);
    else this.sink.moveTo(finger.at);
  }

  private glide(at: Point): void {
    this.sink.moveBy(at.x - this.last.x, at.y - this.last.y);
    this.last = at;
  }

  private endPress(finger: Finger): void {
    this.sink.release('left');
    if (!this.hasMoved) this.sink.offerRightClick(finger.start);
  }

  private tap(finger: Finger, time: number): void {
    const { lastTap } = this;
    const isSecond =
      lastTap !== null &&
      time - lastTap.time < DOUBLE_TAP_MS &&
      distance(lastTap.at, finger.start) <= DOUBLE_TAP_PX;
    // Programs take two clicks for a double click only when they are on one spot.
    const at = isSecond ? lastTap.at : finger.start;
    if (!this.isTouchpad) this.sink.moveTo(at);
    this.sink.press('left');
    this.sink.release('left');
    this.lastTap = isSecond ? null : { at, time };
  }

  // Two fingers

  private pair(): [Point, Point] {
    const [a, b] = [...this.fingers.values()];
    return [a!.at, b!.at];
  }

  private beginPair(time: number): void {
    if (this.state === 'spent') return;
    const wasPressed = this.state === 'pressed';
    if (wasPressed) this.sink.release('left');
    this.deadline = null;
    this.lastTap = null;
    // From a press on, a tap of the second finger is no right click any more.
    this.startedAt = wasPressed ? -Infinity : time;
    for (const finger of this.fingers.values()) finger.start = finger.at;
    const [a, b] = this.pair();
    this.last = middle(a, b);
    this.lastSpread = distance(a, b);
    this.wheelRest = { x: 0, y: 0 };
    this.state = 'paired';
  }

  private movePair(): void {
    const [a, b] = this.pair();
    const at = middle(a, b);
    const spread = distance(a, b);
    if (this.state === 'paired') this.decidePair(at, spread);
    if (this.state === 'wheeling') this.turnWheel(at);
    else if (this.state === 'panning' || this.state === 'pinching') {
      this.sink.pan(at.x - this.last.x, at.y - this.last.y);
      if (this.state === 'pinching') this.sink.zoom(spread / this.lastSpread, at);
      this.last = at;
      this.lastSpread = spread;
      // Somebody who pans a zoomed picture may pinch in the same go.
      if (this.state === 'panning' && this.isSpreading(spread)) this.state = 'pinching';
    }
  }

  private startSpread(): number {
    const [a, b] = [...this.fingers.values()];
    return distance(a!.start, b!.start);
  }

  private isSpreading(spread: number): boolean {
    return Math.abs(spread - this.startSpread()) >= PINCH_PX;
  }

  private decidePair(at: Point, spread: number): void {
    if (this.isSpreading(spread)) this.state = 'pinching';
    else if (distance(at, this.last) < SLOP_PX) return;
    else this.state = this.sink.isZoomed() ? 'panning' : 'wheeling';
    if (this.state !== 'wheeling') this.last = at;
  }

  private turnWheel(at: Point): void {
    this.wheelRest.x += at.x - this.last.x;
    this.wheelRest.y += at.y - this.last.y;
    this.last = at;
    const x = Math.trunc(this.wheelRest.x / WHEEL_PX);
    const y = Math.trunc(this.wheelRest.y / WHEEL_PX);
    this.wheelRest.x -= x * WHEEL_PX;
    this.wheelRest.y -= y * WHEEL_PX;
    // The page under the fingers moves with them: fingers up is scrolling down.
    if (x !== 0 || y !== 0) this.sink.wheel(-x || 0, -y || 0);
  }

  private tapPair(): void {
    const [a, b] = [...this.fingers.values()];
    if (!this.isTouchpad) this.sink.moveTo(middle(a!.start, b!.start));
    this.sink.press('right');
    this.sink.release('right');
  }
}
