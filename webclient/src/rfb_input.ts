// SPDX-License-Identifier: GPL-2.0-or-later
//
// The RFB messages that the page itself sends (RFC 6143, 7.5.3 to 7.5.5). Pure.

/** FramebufferUpdateRequest for all of it, whether it has changed or not. */
export function fullUpdateRequest(width: number, height: number): Uint8Array<ArrayBuffer> {
  const message = new DataView(new ArrayBuffer(10));
  message.setUint8(0, 3);
  message.setUint16(6, width);
  message.setUint16(8, height);
  return new Uint8Array(message.buffer);
}

export function keyEvent(keysym: number, isDown: boolean): Uint8Array<ArrayBuffer> {
  const message = new DataView(new ArrayBuffer(8));
  message.setUint8(0, 4);
  message.setUint8(1, isDown ? 1 : 0);
  message.setUint32(4, keysym);
  return new Uint8Array(message.buffer);
}

/** buttons: bit n is button n + 1; wheel steps are presses of buttons 4 to 7. */
export function pointerEvent(x: number, y: number, buttons: number): Uint8Array<ArrayBuffer> {
  const message = new DataView(new ArrayBuffer(6));
  message.setUint8(0, 5);
  message.setUint8(1, buttons);
  message.setUint16(2, x);
  message.setUint16(4, y);
  return new Uint8Array(message.buffer);
}
