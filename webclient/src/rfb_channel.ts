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
  onclose: ((event: CloseEvent) => void) | null = null;
  onerror: ((event: Event) => void) | null = null;

  onServerMessage: (message: ServerMessage) => void = () => {};
  onAnything: () => void = () => {};
  onEnd: (code: number) => void = () => {};

  private readonly socket: WebSocket;
  private hasEnded = false;
  private receive: ((event: { data: ArrayBuffer }) => void) | null = null;
  private early: ArrayBuffer[] = []; // what came before noVNC was there

  constructor(url: string, ticket: string) {
    this.socket = new WebSocket(url, ['binary', `ticket.${ticket}`]);
    this.socket.binaryType = 'arraybuffer';
    this.socket.onopen = (event) => this.onopen?.(event);
    this.socket.onerror = (event) => this.onerror?.(event);
    this.socket.onclose = (event) => this.end(event);
    this.socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (this.hasEnded) return;
      this.onAnything();
      if (typeof event.data === 'string') {
        this.onServerMessage(JSON.parse(event.data) as ServerMessage);
      } else {
        if (this.receive) this.receive({ data: event.data });
        else this.early.push(event.data);
      }
    };
  }

  get onmessage() {
    return this.receive;
  }

  set onmessage(receive) {
    this.receive = receive;
    // Not from inside of noVNC's constructor, which assigns this.
    const early = this.early.splice(0);
    if (early.length > 0) queueMicrotask(() => early.forEach((data) => this.receive?.({ data })));
  }

  get protocol() {
    return this.socket.protocol;
  }

  get readyState() {
    return this.socket.readyState;
  }

  get binaryType() {
    return this.socket.binaryType;
  }

  // noVNC sets it; it is an ArrayBuffer's in any case.
  set binaryType(_type: BinaryType) {
    // see above
  }

  get isOver() {
    return this.hasEnded || this.socket.readyState >= WebSocket.CLOSING;
  }

  get isOpen() {
    return !this.hasEnded && this.socket.readyState === WebSocket.OPEN;
  }

  send(data: ArrayBufferView<ArrayBuffer>) {
    if (this.isOpen) this.socket.send(data);
  }

  tell(message: ServerMessage) {
    if (this.isOpen) this.socket.send(JSON.stringify(message));
  }

  close() {
    this.socket.close();
  }

  /** Does not wait for the peer, which may be gone: the end is told at once. */
  drop() {
    this.socket.close();
    this.end(new CloseEvent('close', { code: 1006 }));
  }

  private end(event: CloseEvent) {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.onclose?.(event);
    this.onEnd(event.code);
  }
}
