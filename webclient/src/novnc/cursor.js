// SPDX-License-Identifier: GPL-2.0-or-later
//
// In place of noVNC's util/cursor.js: the stage draws the box's pointer itself, so this only passes its
// shape on, as an event of the canvas.

export default class Cursor {
  attach(target) {
    this.target = target;
  }

  detach() {
    this.target = null;
  }

  move() {}

  clear() {}

  change(rgba, hotX, hotY, width, height) {
    const detail = { rgba, hotX, hotY, width, height };
    this.target?.dispatchEvent(new CustomEvent('cursorshape', { detail }));
  }
}
