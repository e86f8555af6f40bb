// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tells the app around the page (a frame's parent, a WebView's host) how far things are; nothing secret.
// Who may put the page into a frame is the daemon's word (frame-ancestors), which the browser keeps;
// so the parent is one of the configured origins. docs/embedding.md has the protocol.

export type EmbedEvent =
  | { type: 'ready' }
  | { type: 'connected' }
  | { type: 'handed_back'; outcome: string | null }
  | { type: 'expired' };

interface Host {
  postMessage: (message: unknown) => void;
}

interface Hosts {
  boxscreenHost?: Host; // Android: addWebMessageListener, addJavascriptInterface
  webkit?: { messageHandlers?: { boxscreen?: Host } }; // iOS
}

export function tellHost(event: EmbedEvent): void {
  const message = { source: 'boxscreen', version: 1, ...event };
  if (window.parent !== window) {
    // Firefox has no ancestorOrigins.
    window.parent.postMessage(message, location.ancestorOrigins?.[0] ?? '*');
  }
  const hosts = window as unknown as Hosts;
  hosts.boxscreenHost?.postMessage(JSON.stringify(message));
  hosts.webkit?.messageHandlers?.boxscreen?.postMessage(message);
}
