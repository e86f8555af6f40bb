// SPDX-License-Identifier: GPL-2.0-or-later
//
// The live picture: noVNC as a decoder, nothing else. This and noVNC are loaded after the note shows.
import RFB from '@novnc/novnc';
import { findH264, giveUpH264 } from './novnc/browser.js';
import { whenH264Fails } from './novnc/h264.js';
import { whenPointerMoves } from './novnc/pointer_pos.js';
import { fullUpdateRequest } from './rfb_input';
import type { RfbChannel } from './rfb_channel';
import type { Size } from './view';

const PROBE_MS = 800;

export interface CursorShape {
  rgba: Uint8ClampedArray | number[];
  hotX: number;
  hotY: number;
  width: number;
  height: number;
}

export interface PictureEvents {
  onShown: () => void; // the first picture is there
  onSize: (size: Size) => void;
  onCursor: (shape: CursorShape) => void;
  onPointer: (x: number, y: number) => void;
}

// The box's clipboard comes when the person asks for it, not by itself.
RFB.messages.extendedClipboardRequest = () => {};

/** To be waited for before a picture is opened: what can be decoded is said at its beginning. */
export const decoderProbe = findH264(PROBE_MS);

export class Picture {
  readonly canvas: HTMLCanvasElement;
  private readonly rfb: RFB;
  private readonly sizes: ResizeObserver;
  private readonly frame = document.createElement('div');

  constructor(
    parent: HTMLElement,
    private readonly channel: RfbChannel,
    events: PictureEvents,
  ) {
    this.frame.className = 'picture';
    parent.append(this.frame);
    this.rfb = new RFB(this.frame, channel, { shared: true });
    this.rfb.viewOnly = true; // keys and pointer are the page's
    this.rfb.focusOnClick = false;
    this.rfb.scaleViewport = false;
    this.rfb.resizeSession = false;
    this.rfb.background = 'transparent';
    this.canvas = this.frame.querySelector('canvas')!;
    this.canvas.addEventListener('cursorshape', (event) =>
      events.onCursor((event as CustomEvent<CursorShape>).detail),
    );
    this.sizes = new ResizeObserver(() => {
      const { width, height } = this.canvas;
      if (width > 0) events.onSize({ width, height });
    });
    this.sizes.observe(this.canvas);
    whenPointerMoves(events.onPointer);
    whenH264Fails(() => this.goOnWithoutH264());
    this.rfb.addEventListener('connect', () => void this.waitForPicture(events.onShown));
  }

  /** noVNC does not tell when it has drawn something: the middle of its canvas is opaque then. */
  private async waitForPicture(onShown: () => void) {
    const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    while (this.channel.isOpen && probe) {
      await new Promise((resolve) => setTimeout(resolve, 30));
      const { width, height } = this.canvas;
      if (width === 0) continue;
      probe.drawImage(this.canvas, width >> 1, height >> 1, 1, 1, 0, 0, 1, 1);
      if (probe.getImageData(0, 0, 1, 1).data[3] !== 0) break;
    }
    if (this.channel.isOpen) onShown();
  }

  private goOnWithoutH264() {
    giveUpH264();
    // Makes noVNC say anew what it understands.
    this.rfb.qualityLevel = this.rfb.qualityLevel === 6 ? 7 : 6;
    this.channel.send(fullUpdateRequest(this.canvas.width, this.canvas.height));
  }

  /** What was shown last, for good: noVNC takes its canvas away when the line ends. */
  freeze() {
    this.sizes.disconnect();
    this.frame.replaceChildren(this.canvas);
  }

  remove() {
    this.sizes.disconnect();
    this.frame.remove();
    this.rfb.disconnect();
  }
}
