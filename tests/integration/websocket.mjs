// SPDX-License-Identifier: GPL-2.0-or-later
//
// A hand-made WebSocket client: the tests shape its handshake, frames and fragments as they like.
import crypto from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
import { once } from 'node:events';
import { Rfb } from './rfb.mjs';

/** POSTs JSON to the page's address; {status, json}. */
export function post(url, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const call = http.request(url, { method: 'POST', agent: false,
      headers: { 'Content-Type': 'application/json', ...headers } }, (reply) => {
      let text = '';
      reply.on('data', (data) => { text += data; });
      reply.on('end', () => resolve({ status: reply.statusCode, text,
        json: text.startsWith('{') ? JSON.parse(text) : undefined }));
    });
    call.on('error', reject);
    call.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

/** A link's address, taken apart: {base: "http://host:port/box/id", token}. */
export function takeApart(link) {
  const url = new URL(link);
  const token = url.searchParams.get('t') ?? new URLSearchParams(url.hash.slice(1)).get('t');
  return { base: `${url.origin}${url.pathname}`, token };
}

/** Exchanges a link for a session: {base, headers, state, call(name, body)}. */
export async function openSession(link) {
  const { base, token } = takeApart(link);
  const reply = await post(`${base}/session`, { token });
  if (reply.status !== 200) throw new Error(`session: ${reply.status} ${reply.text}`);
  const headers = { Authorization: `Bearer ${reply.json.session}` };
  return { base, headers, key: reply.json.session, state: reply.json.state,
    call: (name, body = {}) => post(`${base}/${name}`, body, headers) };
}

/** A ticket for one WebSocket; with `takes`, after pressing the button. */
export async function getTicket(link, { takes = false, confirm } = {}) {
  const session = await openSession(link);
  if (takes) await session.call('takeover', { confirm });
  return (await session.call('ticket')).json.ticket;
}

export class WebSocketClient {
  /** Connects; resolves when the server has answered the handshake, whatever it said. */
  static async connect(address, { protocols, headers, key } = {}) {
    const url = new URL(address);
    const line = net.connect(Number(url.port), url.hostname);
    line.on('error', () => {});
    await once(line, 'connect');
    return WebSocketClient.over(line, url, { protocols, headers, key });
  }

  /** The same over a connection that is there. */
  static async over(line, url, { protocols = [], headers = {}, key = crypto.randomBytes(16).toString('base64') } = {}) {
    const client = new WebSocketClient();
    client.socket = line;
    client.socket.setNoDelay(true);
    client.socket.on('error', () => {});
    const lines = [`GET ${url.pathname} HTTP/1.1`, ...Object.entries({ Host: url.host, Upgrade: 'websocket',
      Connection: 'Upgrade', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': key, Origin: url.origin,
      ...(protocols.length ? { 'Sec-WebSocket-Protocol': protocols.join(', ') } : {}), ...headers })
      .filter(([, value]) => value !== undefined).map(([name, value]) => `${name}: ${value}`), '', ''];
    client.socket.write(lines.join('\r\n'));
    await client.readHead();
    client.acceptIsRight = client.headers['sec-websocket-accept'] === crypto.createHash('sha1')
      .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    return client;
  }

  constructor() {
    Object.assign(this, { buffer: Buffer.alloc(0), pings: [], pongs: [], texts: [], early: [],
      answersPings: true, pieceSize: 0 });
    this.closed = new Promise((resolve) => { this.resolveClosed = resolve; });
  }

  async readHead() {
    let head = '';
    this.socket.on('close', () => { this.isClosed = true; this.resolveClosed(this.closeCode); this.onEnd?.(); });
    await new Promise((resolve) => {
      const onData = (data) => {
        this.buffer = Buffer.concat([this.buffer, data]);
        const end = this.buffer.indexOf('\r\n\r\n');
        if (end < 0) return;
        head = this.buffer.subarray(0, end).toString('latin1');
        this.buffer = this.buffer.subarray(end + 4);
        this.socket.off('data', onData);
        resolve();
      };
      this.socket.on('data', onData);
      this.socket.on('close', resolve);
    });
    const [first, ...rest] = head.split('\r\n');
    this.status = Number(first?.split(' ')[1]);
    this.headers = Object.fromEntries(rest.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }));
    this.socket.on('data', (data) => {
      this.buffer = this.buffer.length ? Buffer.concat([this.buffer, data]) : data;
      this.readFrames();
    });
    this.readFrames();
  }

  readFrames() {
    for (;;) {
      if (this.buffer.length < 2) return;
      const opcode = this.buffer[0] & 15;
      let length = this.buffer[1] & 127, at = 2;
      if (length === 126) { if (this.buffer.length < 4) return; length = this.buffer.readUInt16BE(2); at = 4; }
      else if (length === 127) { if (this.buffer.length < 10) return; length = Number(this.buffer.readBigUInt64BE(2)); at = 10; }
      if (this.buffer.length < at + length) return;
      const payload = this.buffer.subarray(at, at + length);
      this.buffer = this.buffer.subarray(at + length);
      if (opcode === 2 || opcode === 0) { if (this.onBinary) this.onBinary(payload); else this.early.push(Buffer.from(payload)); }
      else if (opcode === 1) this.texts.push(JSON.parse(payload.toString()));
      else if (opcode === 9) { this.pings.push(performance.now()); if (this.answersPings) this.frame(10, payload); }
      else if (opcode === 10) this.pongs.push(Buffer.from(payload));
      else if (opcode === 8) { this.closeCode = payload.length >= 2 ? payload.readUInt16BE(0) : 1005; this.socket.end(); }
    }
  }

  /** One frame, masked as clients must; `fin` false for a fragment. */
  frame(opcode, payload = Buffer.alloc(0), fin = true) {
    const mask = crypto.randomBytes(4);
    const head = [opcode | (fin ? 0x80 : 0)];
    const { length } = payload;
    if (length < 126) head.push(0x80 | length);
    else if (length < 65536) head.push(0x80 | 126, length >> 8, length & 255);
    else head.push(0x80 | 127, 0, 0, 0, 0, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255);
    const masked = Buffer.from(payload);
    for (let i = 0; i < length; i++) masked[i] ^= mask[i & 3];
    const bytes = Buffer.concat([Buffer.from(head), mask, masked]);
    if (!this.pieceSize) { this.socket.write(bytes); return; }
    for (let i = 0; i < bytes.length; i += this.pieceSize) this.socket.write(bytes.subarray(i, i + this.pieceSize));
  }

  tell(message) { this.frame(1, Buffer.from(JSON.stringify(message))); }

  destroy() { this.socket.destroy(); }

  /** The RFB client on top. */
  rfb() {
    return new Rfb({
      write: (data) => this.frame(2, data),
      destroy: () => this.destroy(),
      onData: (fn) => { this.onBinary = fn; this.early.splice(0).forEach(fn); },
      onClose: (fn) => { this.onEnd = fn; if (this.isClosed) fn(); },
    });
  }

  /** A live connection of a session. */
  static async ofSession(session, options = {}) {
    const { ticket } = (await session.call('ticket')).json;
    return WebSocketClient.connect(`${session.base}/live`, { protocols: ['binary', `ticket.${ticket}`], ...options });
  }

  /** A live connection by a link; with `takes`, one that may act. */
  static async live(link, { takes, confirm, ...options } = {}) {
    const { base } = takeApart(link);
    const ticket = await getTicket(link, { takes, confirm });
    return WebSocketClient.connect(`${base}/live`, { protocols: ['binary', `ticket.${ticket}`], ...options });
  }
}
