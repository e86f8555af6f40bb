// SPDX-License-Identifier: GPL-2.0-or-later
declare module '@novnc/novnc' {
  export default class RFB extends EventTarget {
    static messages: { extendedClipboardRequest: (...args: unknown[]) => void };
    constructor(target: HTMLElement, channel: object, options?: { shared?: boolean });
    viewOnly: boolean;
    scaleViewport: boolean;
    resizeSession: boolean;
    focusOnClick: boolean;
    background: string;
    qualityLevel: number;
    disconnect(): void;
  }
}

declare module '*/novnc/browser.js' {
  export function findH264(timeoutMs: number): Promise<boolean>;
  export function giveUpH264(): void;
}

declare module '*/novnc/h264.js' {
  export function whenH264Fails(handler: () => void): void;
}

declare module '*/novnc/pointer_pos.js' {
  export function whenPointerMoves(handler: (x: number, y: number) => void): void;
}
