// SPDX-License-Identifier: GPL-2.0-or-later
//
// A raw RFB client for the tests: speaks over any duplex stream (a Unix or TCP socket, a WebSocket),
// decodes Raw and Tight into a picture (lossy rectangles are kept apart), keeps everything else that
// comes for the test to look at, and sends whatever the test wants, in pieces of any size.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import net from 'node:net';
import zlib from 'node:zlib';
import { patience, waitFor } from './harness.mjs';

export const ENC = {
  raw: 0, hextile: 5, tight: 7, zrle: 16, h264: 50, quality6: -26, compress2: -254,
  desktopSize: -223, lastRect: -224, pointerPos: -232, cursor: -239, qemuKey: -258, led: -261,
  desktopName: -307, extendedDesktopSize: -308, fence: -312, continuous: -313, cursorAlpha: -314,
  extendedMouse: -316, vmwareCursor: 0x574d5664, clipboard: 0xc0a1e5ce | 0,
};
export const TIGHT = [ENC.tight, ENC.lastRect];
/** What noVNC 1.7 asks for, H.264 aside. */
export const LIKE_NOVNC = [ENC.tight, ENC.raw, ENC.quality6, ENC.compress2, ENC.desktopSize, ENC.lastRect,
  ENC.qemuKey, ENC.led, ENC.extendedDesktopSize, ENC.fence, ENC.continuous, ENC.desktopName,
  ENC.clipboard, ENC.vmwareCursor, ENC.cursor, ENC.extendedMouse];

/** Bytes that come, to be awaited by number. */
class Input {
  constructor() { this.chunks = []; this.length = 0; this.total = 0; this.waiting = null; }

  push(data) {
    this.chunks.push(data);
    this.length += data.length;
    this.total += data.length;
    this.wake();
  }

  end(error) { this.error = error ?? new Error('the peer closed'); this.wake(); }

  wake() {
    if (this.waiting && (this.length >= this.waiting.count || this.error)) {
      const { resolve, reject, count } = this.waiting;
      this.waiting = null;
      if (this.length >= count) resolve(this.take(count)); else reject(this.error);
    }
  }

  take(count) {
    const all = this.chunks.length === 1 ? this.chunks[0] : Buffer.concat(this.chunks);
    this.chunks = all.length > count ? [all.subarray(count)] : [];
    this.length -= count;
    return all.subarray(0, count);
  }

  read(count) {
    if (this.length >= count) return Promise.resolve(this.take(count));
    if (this.error) return Promise.reject(this.error);
    return new Promise((resolve, reject) => { this.waiting = { count, resolve, reject }; });
  }

  async u8() { return (await this.read(1))[0]; }

  async u16() { return (await this.read(2)).readUInt16BE(); }

  async u32() { return (await this.read(4)).readUInt32BE(); }

  async s32() { return (await this.read(4)).readInt32BE(); }
}

/** One of Tight's four zlib streams, which go on from rectangle to rectangle. */
class Stream {
  constructor() {
    this.inflate = zlib.createInflate({ flush: zlib.constants.Z_SYNC_FLUSH });
    this.inflate.on('error', (error) => { this.error = error; });
  }

  run(data, size) {
    return new Promise((resolve, reject) => {
      const parts = [];
      let length = 0;
      const onData = (part) => {
        parts.push(part);
        length += part.length;
        if (length >= size) done();
      };
      const done = () => {
        this.inflate.off('data', onData);
        if (length === size) resolve(Buffer.concat(parts));
        else reject(new Error(`a Tight stream gave ${length} bytes instead of ${size}`));
      };
      this.inflate.on('data', onData);
      this.inflate.write(data, () => {
        setTimeout(() => { if (length < size) done(); }, 2000 * patience).unref();
      });
    });
  }
}

export class Rfb {
  /** duplex: { write(buffer), destroy(), onData(fn), onClose(fn) } */
  constructor(duplex) {
    this.duplex = duplex;
    this.input = new Input();
    duplex.onData((data) => this.input.push(data));
    duplex.onClose((error) => { this.isClosed = true; this.input.end(error); });
    Object.assign(this, {
      rects: [], updates: 0, fences: [], cutTexts: [], clipboards: [], pointers: [], lossy: [],
      streams: [0, 1, 2, 3].map(() => new Stream()), h264: [], sizes: [], answersFences: true,
    });
  }

  static async unix(path) {
    const socket = net.connect(path);
    await new Promise((resolve, reject) => { socket.on('connect', resolve).on('error', reject); });
    return new Rfb(socketDuplex(socket));
  }

  static async tcp(port, host = '127.0.0.1') {
    const socket = net.connect(port, host);
    await new Promise((resolve, reject) => { socket.on('connect', resolve).on('error', reject); });
    return new Rfb(socketDuplex(socket));
  }

  write(bytes) { this.duplex.write(Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes)); }

  destroy() { this.duplex.destroy(); }

  /** Handshake without a password (or with one); then messages are read in the background. */
  async open({ version = 'RFB 003.008\n', password } = {}) {
    assert.equal((await this.input.read(12)).toString(), 'RFB 003.008\n');
    this.write(version);
    const minor = Number(version.slice(8, 11));
    if (minor >= 7) {
      const types = await this.input.read(await this.input.u8());
      this.securityTypes = [...types];
      this.write([password === undefined ? 1 : 2]);
    } else {
      this.securityTypes = [await this.input.u32()];
    }
    if (password !== undefined) this.write(vncResponse(password, await this.input.read(16)));
    if (password !== undefined || minor >= 8) {
      const result = await this.input.u32();
      if (result !== 0) throw new Error(`refused: ${await this.input.read(await this.input.u32())}`);
    }
    this.write([1]);
    const init = await this.input.read(24);
    this.width = init.readUInt16BE(0);
    this.height = init.readUInt16BE(2);
    this.name = (await this.input.read(init.readUInt32BE(20))).toString();
    this.pixels = Buffer.alloc(this.width * this.height * 4);
    this.done = this.readAll().catch((error) => { this.failure = error; });
    return this;
  }

  setEncodings(list) {
    const message = Buffer.alloc(4 + list.length * 4);
    message[0] = 2;
    message.writeUInt16BE(list.length, 2);
    list.forEach((number, i) => message.writeInt32BE(number, 4 + i * 4));
    this.write(message);
  }

  request(incremental, x = 0, y = 0, width = this.width, height = this.height) {
    const message = Buffer.from([3, incremental ? 1 : 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    [x, y, width, height].forEach((value, i) => message.writeUInt16BE(value, 2 + i * 2));
    this.write(message);
  }

  /** Asks for the whole picture, and for more after each update. */
  follow() {
    this.isFollowing = true;
    this.request(false);
  }

  continuous(isOn) {
    const message = Buffer.from([150, isOn ? 1 : 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    message.writeUInt16BE(this.width, 6);
    message.writeUInt16BE(this.height, 8);
    this.write(message);
  }

  key(keysym, isDown) {
    const message = Buffer.from([4, isDown ? 1 : 0, 0, 0, 0, 0, 0, 0]);
    message.writeUInt32BE(keysym, 4);
    this.write(message);
  }

  tap(keysym) { this.key(keysym, true); this.key(keysym, false); }

  pointer(x, y, buttons = 0) {
    const message = Buffer.from([5, buttons, 0, 0, 0, 0]);
    message.writeUInt16BE(x, 2);
    message.writeUInt16BE(y, 4);
    this.write(message);
  }

  cutText(bytes) {
    const head = Buffer.from([6, 0, 0, 0, 0, 0, 0, 0]);
    head.writeUInt32BE(bytes.length, 4);
    this.write(Buffer.concat([head, bytes]));
  }

  clipboard(flags, payload = Buffer.alloc(0)) {
    const head = Buffer.from([6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    head.writeInt32BE(-(4 + payload.length), 4);
    head.writeUInt32BE(flags >>> 0, 8);
    this.write(Buffer.concat([head, payload]));
  }

  provideText(text) {
    const bytes = Buffer.from(`${text.replace(/\n/g, '\r\n')}\0`);
    const size = Buffer.alloc(4);
    size.writeUInt32BE(bytes.length);
    this.clipboard(0x10000001, zlib.deflateSync(Buffer.concat([size, bytes])));
  }

  fence(flags, payload) {
    const head = Buffer.alloc(9);
    head[0] = 248;
    head.writeUInt32BE(flags >>> 0, 4);
    head[8] = payload.length;
    this.write(Buffer.concat([head, Buffer.from(payload)]));
  }

  setDesktopSize(width, height) {
    const message = Buffer.alloc(24);
    message[0] = 251;
    message.writeUInt16BE(width, 2);
    message.writeUInt16BE(height, 4);
    message[6] = 1;
    message.writeUInt16BE(width, 16);
    message.writeUInt16BE(height, 18);
    this.write(message);
  }

  async readAll() {
    for (;;) {
      const type = await this.input.u8();
      if (type === 0) await this.readUpdate();
      else if (type === 1) await this.input.read(6 * (await this.input.read(5)).readUInt16BE(3));
      else if (type === 2) this.bells = (this.bells ?? 0) + 1;
      else if (type === 3) await this.readCutText();
      else if (type === 150) this.endsOfContinuous = (this.endsOfContinuous ?? 0) + 1;
      else if (type === 248) await this.readFence();
      else throw new Error(`a server message of type ${type}`);
    }
  }

  async readFence() {
    const head = await this.input.read(8);
    const flags = head.readUInt32BE(3);
    const payload = Buffer.from(await this.input.read(head[7]));
    this.fences.push({ flags, payload });
    if (flags >>> 31 && this.answersFences) this.fence(flags & 0x7fffffff & 7, payload);
  }

  async readCutText() {
    const size = (await this.input.read(7)).readInt32BE(3);
    if (size >= 0) {
      this.cutTexts.push(Buffer.from(await this.input.read(size)));
      return;
    }
    const body = Buffer.from(await this.input.read(-size));
    const clipboard = { flags: body.readUInt32BE(0) };
    if ((clipboard.flags & 0x11000000) === 0x10000000) { // provide; caps name it too
      const plain = zlib.inflateSync(body.subarray(4), { finishFlush: zlib.constants.Z_SYNC_FLUSH });
      clipboard.text = plain.subarray(4, 4 + plain.readUInt32BE(0)).toString().replace(/\0$/, '');
    } else {
      clipboard.rest = body.subarray(4);
    }
    this.clipboards.push(clipboard);
  }

  async readUpdate() {
    const count = (await this.input.read(3)).readUInt16BE(1);
    for (let i = 0; i < count; i++) {
      const head = await this.input.read(12);
      const [x, y, width, height] = [0, 2, 4, 6].map((at) => head.readUInt16BE(at));
      const rect = { x, y, width, height, encoding: head.readInt32BE(8), at: performance.now() };
      if (rect.encoding === ENC.lastRect) break;
      await this.readRect(rect);
      this.rects.push(rect);
      this.onRect?.(rect);
      if (this.rects.length > 5000) this.rects.splice(0, 1000);
    }
    this.updates++;
    this.onUpdate?.();
    if (this.isFollowing) this.request(true);
  }

  async readRect(rect) {
    const { width, height } = rect;
    switch (rect.encoding) {
      case ENC.raw: {
        const data = await this.input.read(width * height * 4);
        for (let row = 0; row < height; row++) {
          data.copy(this.pixels, ((rect.y + row) * this.width + rect.x) * 4, row * width * 4,
            (row + 1) * width * 4);
        }
        break;
      }
      case ENC.tight: await this.readTight(rect); break;
      case ENC.h264: {
        const [length, flags] = [await this.input.u32(), await this.input.u32()];
        Object.assign(rect, { flags, data: Buffer.from(await this.input.read(length)) });
        this.h264.push(rect);
        break;
      }
      case ENC.desktopSize: this.resize(rect); break;
      case ENC.extendedDesktopSize: {
        const screens = (await this.input.read(4))[0];
        await this.input.read(16 * screens);
        this.sizes.push({ reason: rect.x, status: rect.y, width, height });
        if (width !== this.width || height !== this.height) this.resize(rect);
        break;
      }
      case ENC.cursor:
        rect.data = Buffer.from(await this.input.read(width * height * 4 + height * ((width + 7) >> 3)));
        break;
      case ENC.vmwareCursor:
        await this.input.read(2);
        rect.data = Buffer.from(await this.input.read(width * height * 4));
        break;
      case ENC.cursorAlpha:
        await this.input.read(4);
        rect.data = Buffer.from(await this.input.read(width * height * 4));
        break;
      case ENC.pointerPos: this.pointers.push([rect.x, rect.y]); break;
      case ENC.desktopName: this.name = (await this.input.read(await this.input.u32())).toString(); break;
      case ENC.led: this.lights = await this.input.u8(); break;
      case ENC.qemuKey: this.hasQemuKey = true; break;
      case ENC.extendedMouse: this.hasExtendedMouse = true; break;
      default: throw new Error(`a rectangle of encoding ${rect.encoding}`);
    }
    if (rect.encoding <= ENC.vmwareCursor && rect.data && rect.encoding !== ENC.h264) this.cursor = rect;
  }

  resize({ width, height }) {
    Object.assign(this, { width, height, pixels: Buffer.alloc(width * height * 4) });
    if (this.isFollowing) this.request(false);
    if (this.isContinuous) this.continuous(true);
  }

  async compactLength() {
    let length = 0;
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = await this.input.u8();
      length |= (shift === 14 ? byte : byte & 0x7f) << shift;
      if (!(byte & 0x80)) break;
    }
    return length;
  }

  async tightData(stream, size) {
    if (size < 12) return Buffer.from(await this.input.read(size));
    const data = Buffer.from(await this.input.read(await this.compactLength()));
    return this.streams[stream].run(data, size);
  }

  put(rect, at) {
    const { x, y, width, height } = rect;
    for (let row = 0, i = 0; row < height; row++) {
      let to = ((y + row) * this.width + x) * 4;
      for (let column = 0; column < width; column++, i++, to += 4) {
        const [r, g, b] = at(i);
        this.pixels[to] = b;
        this.pixels[to + 1] = g;
        this.pixels[to + 2] = r;
      }
    }
  }

  async readTight(rect) {
    assert(rect.width <= 2048, `a Tight rectangle is ${rect.width} wide`);
    const control = await this.input.u8();
    for (let i = 0; i < 4; i++) if (control >> i & 1) this.streams[i] = new Stream();
    const kind = control >> 4;
    const { width, height } = rect;
    if (kind === 8) {
      const [r, g, b] = await this.input.read(3);
      this.put(rect, () => [r, g, b]);
      return;
    }
    if (kind === 9) {
      rect.jpeg = Buffer.from(await this.input.read(await this.compactLength()));
      this.lossy.push(rect);
      return;
    }
    assert(kind < 8, `Tight compression ${kind}`);
    const filter = kind & 4 ? await this.input.u8() : 0;
    const stream = kind & 3;
    if (filter === 1) {
      const colours = await this.input.u8() + 1;
      const palette = Buffer.from(await this.input.read(colours * 3));
      const colour = (i) => palette.subarray(i * 3, i * 3 + 3);
      if (colours === 2) {
        const stride = (width + 7) >> 3;
        const bits = await this.tightData(stream, stride * height);
        this.put(rect, (i) => {
          const column = i % width;
          return colour(bits[Math.floor(i / width) * stride + (column >> 3)] >> (7 - (column & 7)) & 1);
        });
      } else {
        const indices = await this.tightData(stream, width * height);
        this.put(rect, (i) => colour(indices[i]));
      }
      return;
    }
    assert.equal(filter, 0, `Tight filter ${filter}`);
    const data = await this.tightData(stream, width * height * 3);
    this.put(rect, (i) => data.subarray(i * 3, i * 3 + 3));
  }

  /** [r, g, b] at x, y. */
  at(x, y) {
    const i = (y * this.width + x) * 4;
    return [this.pixels[i + 2], this.pixels[i + 1], this.pixels[i]];
  }

  /** Number of pixels that differ from a decoded PNG (png.mjs), inside an area of it. */
  differences(png, area = { x: 0, y: 0, width: png.width, height: png.height }) {
    let count = 0;
    for (let y = area.y; y < area.y + area.height; y++) {
      for (let x = area.x; x < area.x + area.width; x++) {
        const [r, g, b] = png.pixel(x, y);
        const i = (y * this.width + x) * 4;
        if (this.pixels[i + 2] !== r || this.pixels[i + 1] !== g || this.pixels[i] !== b) count++;
      }
    }
    return count;
  }

  /** Waits until the picture is the daemon's, to the pixel. */
  waitExact(daemon, deadlineMs = 15000) {
    return waitFor('the viewer to show the screen exactly', async () => {
      if (this.failure) throw this.failure;
      const png = await daemon.shot();
      return png.width === this.width && png.height === this.height && this.differences(png) === 0;
    }, deadlineMs, 30);
  }
}

function socketDuplex(socket) {
  socket.setNoDelay?.(true);
  return {
    socket,
    write: (data) => socket.write(data),
    destroy: () => socket.destroy(),
    onData: (fn) => socket.on('data', fn),
    onClose: (fn) => { socket.on('error', fn); socket.on('close', () => fn()); },
  };
}

export function vncResponse(password, challenge) {
  const key = Buffer.alloc(8);
  Buffer.from(password).copy(key);
  for (let i = 0; i < 8; i++) {
    let reversed = 0;
    for (let bit = 0; bit < 8; bit++) reversed |= (key[i] >> bit & 1) << (7 - bit);
    key[i] = reversed;
  }
  // Three times the same key makes Triple DES a single one.
  const cipher = crypto.createCipheriv('des-ede3', Buffer.concat([key, key, key]), null);
  cipher.setAutoPadding(false);
  return Buffer.concat([cipher.update(challenge), cipher.final()]);
}
