// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which part of the box's screen the stage shows, and how large. Pure values: a view maps a screen point
// p to the stage point offset + p × scale. Pinch and pan change the view and nothing on the box.

export interface Size {
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

export interface View {
  scale: number;
  x: number; // stage pixels, of the screen's left upper corner
  y: number;
}

export const SCALE_MAX = 4;

/** The scale at which the whole screen is seen. A screen smaller than the stage is not blown up past 1. */
export function fitScale(screen: Size, stage: Size): number {
  if (screen.width <= 0 || screen.height <= 0 || stage.width <= 0 || stage.height <= 0) return 1;
  return Math.min(stage.width / screen.width, stage.height / screen.height, 1);
}

/** On one axis: centred while it all fits, else without a gap at either edge. */
function settle(offset: number, length: number, room: number): number {
  if (length <= room) return (room - length) / 2;
  return Math.min(0, Math.max(room - length, offset));
}

/** The view nearest to the given one that is allowed. */
export function clamp(view: View, screen: Size, stage: Size): View {
  const fit = fitScale(screen, stage);
  const scale = Math.min(Math.max(view.scale, fit), Math.max(SCALE_MAX, fit));
  return {
    scale,
    x: settle(view.x, screen.width * scale, stage.width),
    y: settle(view.y, screen.height * scale, stage.height),
  };
}

export function fit(screen: Size, stage: Size): View {
  return clamp({ scale: fitScale(screen, stage), x: 0, y: 0 }, screen, stage);
}

/** Whether the whole screen is seen, give or take rounding. */
export function isAtFit(view: View, screen: Size, stage: Size): boolean {
  return view.scale <= fitScale(screen, stage) * 1.001;
}

/** Another scale, with the stage point `at` staying over the same spot of the screen. */
export function zoomTo(view: View, scale: number, at: Point, screen: Size, stage: Size): View {
  const limited = clamp({ ...view, scale }, screen, stage).scale;
  const ratio = limited / view.scale;
  const moved = {
    scale: limited,
    x: at.x - (at.x - view.x) * ratio,
    y: at.y - (at.y - view.y) * ratio,
  };
  return clamp(moved, screen, stage);
}

export function pan(view: View, dx: number, dy: number, screen: Size, stage: Size): View {
  return clamp({ ...view, x: view.x + dx, y: view.y + dy }, screen, stage);
}

/** The pixel of the screen under a stage point; outside of the screen its nearest pixel. */
export function toScreen(view: View, at: Point, screen: Size): Point {
  const inside = (value: number, length: number) =>
    Math.min(Math.max(Math.floor(value), 0), Math.max(length - 1, 0));
  return {
    x: inside((at.x - view.x) / view.scale, screen.width),
    y: inside((at.y - view.y) / view.scale, screen.height),
  };
}

/** Where on the stage the middle of a pixel of the screen is. */
export function toStage(view: View, pixel: Point): Point {
  return { x: view.x + (pixel.x + 0.5) * view.scale, y: view.y + (pixel.y + 0.5) * view.scale };
}

/** The view moved as little as possible so that the pixel is seen, `margin` stage pixels from any edge. */
export function reveal(view: View, pixel: Point, margin: number, screen: Size, stage: Size): View {
  const at = toStage(view, pixel);
  const nudge = (value: number, room: number) => {
    const edge = Math.min(margin, room / 2);
    if (value < edge) return edge - value;
    return value > room - edge ? room - edge - value : 0;
  };
  return pan(view, nudge(at.x, stage.width), nudge(at.y, stage.height), screen, stage);
}
