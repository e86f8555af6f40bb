// SPDX-License-Identifier: GPL-2.0-or-later
//
// In place of noVNC's decoders/rre.js: PointerPos (-232), a rectangle without contents whose corner is
// where the box's pointer is.

let onMove = () => {};

/** handler(x, y) is called when somebody else moves the box's pointer. */
export function whenPointerMoves(handler) {
  onMove = handler;
}

export default class PointerPosDecoder {
  decodeRect(x, y) {
    onMove(x, y);
    return true;
  }
}
