// SPDX-License-Identifier: GPL-2.0-or-later
//
// In place of noVNC's decoders/h264.js, which throws from a callback when a frame cannot be decoded and
// then waits for ever for its picture. Here every frame comes to an end: decoded, failed or late, and
// what failed is told once (whenH264Fails). "Open H.264", RFB encoding 50: a rectangle is a header, a
// length, flags, and one frame in Annex B; a context goes with its x, y, width and height.

const CONTEXTS_MAX = 64;
const FRAME_MS = 1500; // no decoder in order takes that long
const RESET_THIS = 1;
const RESET_ALL = 2;

let onFailure = () => {};

/** handler is called when H.264 is of no more use. */
export function whenH264Fails(handler) {
  onFailure = handler;
}

/** What is drawn for a frame that could not be decoded: nothing. */
function noPicture(width, height) {
  const canvas = document.createElement('canvas');
  return Object.assign(canvas, { codedWidth: width, codedHeight: height, close() {} });
}

/** The codec string, from the sequence parameter set in the frame; null when there is none. */
export function codecOf(frame) {
  for (let i = 0; i + 6 < frame.length; i++) {
    if (frame[i] !== 0 || frame[i + 1] !== 0 || frame[i + 2] !== 1) continue;
    if ((frame[i + 3] & 0x1f) !== 7) continue;
    const hex = [...frame.subarray(i + 4, i + 7)].map((byte) => byte.toString(16).padStart(2, '0'));
    return `avc1.${hex.join('')}`;
  }
  return null;
}

class Context {
  constructor(width, height) {
    Object.assign(this, { width, height, decoder: null, waiting: [], hasFailed: false, time: 0 });
  }

  /** A frame as noVNC's display takes it: ready, or a promise of when it is. */
  decode(data) {
    const codec = codecOf(data);
    if (codec !== null && !this.hasFailed) this.configure(codec);
    if (!this.decoder || this.hasFailed) return null; // joined in the middle: a key frame will come
    const entry = { time: (this.time += 1), ready: false, frame: null };
    entry.promise = new Promise((resolve) => {
      entry.resolve = resolve;
    });
    entry.timer = setTimeout(() => this.fail(), FRAME_MS);
    this.waiting.push(entry);
    try {
      const type = codec === null ? 'delta' : 'key';
      this.decoder.decode(new EncodedVideoChunk({ timestamp: entry.time, type, data }));
    } catch {
      this.fail();
    }
    return entry;
  }

  configure(codec) {
    try {
      if (this.decoder === null || this.decoder.state === 'closed') {
        this.decoder = new VideoDecoder({
          output: (frame) => this.take(frame),
          error: () => this.fail(),
        });
      }
      if (this.codec === codec && this.decoder.state === 'configured') return;
      this.codec = codec;
      this.decoder.configure({
        codec,
        codedWidth: this.width,
        codedHeight: this.height,
        optimizeForLatency: true,
      });
    } catch {
      this.fail();
    }
  }

  take(frame) {
    const index = this.waiting.findIndex((entry) => entry.time === frame.timestamp);
    if (index < 0) {
      frame.close();
      return;
    }
    const [entry] = this.waiting.splice(index, 1);
    this.settle(entry, frame);
  }

  settle(entry, frame) {
    clearTimeout(entry.timer);
    Object.assign(entry, { frame, ready: true });
    entry.resolve();
  }

  /** Everything that waits is settled, so that the picture goes on. */
  fail() {
    const isFirst = !this.hasFailed;
    this.hasFailed = true;
    for (const entry of this.waiting.splice(0)) {
      this.settle(entry, noPicture(this.width, this.height));
    }
    this.close();
    if (isFirst) onFailure();
  }

  close() {
    if (this.decoder && this.decoder.state !== 'closed') this.decoder.close();
    this.decoder = null;
  }

  /** No more frames come; those on their way are still shown. */
  retire() {
    const { decoder } = this;
    if (!decoder || decoder.state !== 'configured') return;
    decoder
      .flush()
      .catch(() => {})
      .then(() => this.close());
  }
}

export default class H264Decoder {
  constructor() {
    this.contexts = new Map(); // the least recently used first
  }

  reset(key) {
    this.contexts.get(key)?.retire();
    this.contexts.delete(key);
  }

  contextOf(key, width, height) {
    const context = this.contexts.get(key) ?? new Context(width, height);
    this.contexts.delete(key);
    this.contexts.set(key, context);
    if (this.contexts.size > CONTEXTS_MAX) this.reset(this.contexts.keys().next().value);
    return context;
  }

  /** noVNC's interface: false when the rectangle is not all there yet. */
  decodeRect(x, y, width, height, sock, display) {
    if (sock.rQwait('h264 header', 8)) return false;
    const length = sock.rQshift32();
    const flags = sock.rQshift32();
    if (sock.rQwait('h264 payload', length, 8)) return false;
    const key = [x, y, width, height].join();
    if (flags & RESET_ALL) for (const each of [...this.contexts.keys()]) this.reset(each);
    else if (flags & RESET_THIS) this.reset(key);
    if (length === 0) return true;
    const frame = this.contextOf(key, width, height).decode(sock.rQshiftBytes(length, true));
    if (frame !== null) display.videoFrame(x, y, width, height, frame);
    return true;
  }
}

// One black key frame of 16×16, constrained baseline: what a browser says that it can decode
// (isConfigSupported) is not what it can on all systems. Made with
// ffmpeg -f lavfi -i color=black:s=16x16 -frames:v 1 -c:v libx264 -profile:v baseline -bsf:v
// filter_units=remove_types=6 -f h264.
const TEST_FRAME = 'AAAAAWdCwArZHsBEAAADAAQAAAMAyDxImSAAAAABaMuDyyAAAAFliIQK8mKAAKe+';

/** Whether a test frame is decoded. May never resolve. */
export async function probe() {
  if (!('VideoDecoder' in globalThis)) return false;
  const data = Uint8Array.from(atob(TEST_FRAME), (character) => character.charCodeAt(0));
  const config = {
    codec: codecOf(data),
    codedWidth: 16,
    codedHeight: 16,
    optimizeForLatency: true,
  };
  const { supported } = await VideoDecoder.isConfigSupported(config);
  if (!supported) return false;
  return new Promise((resolve) => {
    const decoder = new VideoDecoder({
      output: (frame) => {
        frame.close();
        decoder.close();
        resolve(true);
      },
      error: () => resolve(false),
    });
    decoder.configure(config);
    decoder.decode(new EncodedVideoChunk({ timestamp: 0, type: 'key', data }));
    decoder.flush().catch(() => {});
  });
}
