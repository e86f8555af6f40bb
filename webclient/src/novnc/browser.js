// SPDX-License-Identifier: GPL-2.0-or-later
//
// In place of noVNC's util/browser.js. Its own holds up the whole program until a decoder has shown a
// test frame, which on some phones never happens. Here nothing waits: H.264 is announced once a probe
// has succeeded, and not any more once it has failed.
import { probe } from './h264.js';

/** Read by noVNC each time it lists what it understands. */
export let supportsWebCodecsH264Decode = false;

/** Resolves to whether H.264 can be decoded; within the time in any case. */
export async function findH264(timeoutMs) {
  const late = new Promise((resolve) => setTimeout(resolve, timeoutMs, false));
  supportsWebCodecsH264Decode = await Promise.race([probe().catch(() => false), late]);
  return supportsWebCodecsH264Decode;
}

export function giveUpH264() {
  supportsWebCodecsH264Decode = false;
}

export const isTouchDevice = false;
export const dragThreshold = 10;
export const supportsCursorURIs = true;
export const hasScrollbarGutter = false;
export const isMac = () => false;
export const isWindows = () => false;
export const isIOS = () => false;
export const isAndroid = () => false;
export const isChromeOS = () => false;
