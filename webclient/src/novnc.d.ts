// SPDX-License-Identifier: GPL-2.0-or-later
declare module '@novnc/novnc' {
  import type { RfbChannel } from './rfb_channel';

  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, channel: RfbChannel, options?: { shared?: boolean });
    viewOnly: boolean;
    scaleViewport: boolean;
    resizeSession: boolean;
    clipViewport: boolean;
    focusOnClick: boolean;
    showDotCursor: boolean;
    background: string;
    qualityLevel: number;
    compressionLevel: number;
    disconnect(): void;
    focus(): void;
    clipboardPasteFrom(text: string): void;
  }
}
