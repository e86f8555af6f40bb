// SPDX-License-Identifier: GPL-2.0-or-later
//
// What noVNC takes for its WebSocket: the same connection's binary messages. Its text messages are
// the page's own (JSON), and so is the close code, which noVNC would hide.

export interface ServerMessage {
  t: string;
  [name: string]: unknown;
}

export class RfbChannel {
  // noVNC assigns these and checks that all of them are there.
  onopen: ((event: Event) => void) | null = null;
  onmessage: ((event: { data: ArrayBuffer }) => void) | null = null;
  onclose: ((event: CloseEvent) => void) | null = null;
  onerror: ((event: Event) => void) | null = null;

  onServerMessage: (message: ServerMessage) => void = () => {};
  onEnd: (code: number) => void = () => {};

  private readonly socket: WebSocket;

  constructor(url: string, ticket: string) {
    this.socket = new WebSocket(url, ['binary', `ticket.${ticket}`]);
    this.socket.binaryType = 'arraybuffer';
    this.socket.onopen = (event) => this.onopen?.(event);
    this.socket.onerror = (event) => this.onerror?.(event);
    this.socket.onclose = (event) => {
      this.onclose?.(event);
      this.onEnd(event.code);
    };
    this.socket.onmessage = (event) => {
      if (typeof event.data !== 'string') this.onmessage?.(event);
      else this.onServerMessage(JSON.parse(event.data) as ServerMessage);
    };
  }

  get protocol() { return this.socket.protocol; }

  get readyState() { return this.socket.readyState; }

  get binaryType() { return this.socket.binaryType; }

  // noVNC sets it; it is an ArrayBuffer's in any case.
  set binaryType(_type: BinaryType) {}

  send(data: ArrayBufferView<ArrayBuffer>) { this.socket.send(data); }

  tell(message: ServerMessage) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  close() { this.socket.close(); }
}
