// SPDX-License-Identifier: GPL-2.0-or-later
//
// Pictures for tests: a strict PNG reader and an xwd reader, both to {width, height, pixel(x, y)}
// with [red, green, blue] of 0..255, so that the product's pictures are judged by other code.
import assert from 'node:assert/strict';
import zlib from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

const CRC_TABLE = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

function crc32(data) {
  let c = 0xffffffff;
  for (const byte of data) c = CRC_TABLE[(c ^ byte) & 255] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

function readChunks(data) {
  assert(data.subarray(0, 8).equals(SIGNATURE), 'PNG signature');
  const chunks = [];
  let at = 8;
  while (at < data.length) {
    const length = data.readUInt32BE(at);
    const end = at + 8 + length;
    assert.equal(data.readUInt32BE(end), crc32(data.subarray(at + 4, end)), 'CRC of a PNG chunk');
    chunks.push({ type: data.toString('latin1', at + 4, at + 8), data: data.subarray(at + 8, end) });
    at = end + 4;
  }
  assert.equal(at, data.length, 'nothing behind the last PNG chunk');
  assert.equal(chunks.at(-1).type, 'IEND');
  return chunks;
}

function paeth(a, b, c) {
  const p = a + b - c, pa = Math.abs(p - a), pb = Math.abs(p - b), pc = Math.abs(p - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/** Undoes the filters of PNG; returns the rows without their filter bytes. */
function unfilter(data, height, stride, step) {
  assert.equal(data.length, height * (stride + 1), 'length of the PNG data');
  const out = Buffer.alloc(height * stride);
  for (let y = 0; y < height; y++) {
    const kind = data[y * (stride + 1)];
    assert(kind <= 4, 'PNG filter');
    const from = y * (stride + 1) + 1, to = y * stride;
    for (let x = 0; x < stride; x++) {
      const a = x >= step ? out[to + x - step] : 0;
      const b = y > 0 ? out[to + x - stride] : 0;
      const c = x >= step && y > 0 ? out[to + x - stride - step] : 0;
      const add = [0, a, b, (a + b) >> 1, kind === 4 ? paeth(a, b, c) : 0][kind];
      out[to + x] = data[from + x] + add;
    }
  }
  return out;
}

/** Decodes a PNG of colour type 0, 2, 3 or 6, at most 8 bits deep, not interlaced. */
export function readPng(data) {
  const chunks = readChunks(data);
  const find = (type) => chunks.find((chunk) => chunk.type === type)?.data;
  const header = find('IHDR');
  const width = header.readUInt32BE(0), height = header.readUInt32BE(4);
  const [depth, colorType, , , interlace] = header.subarray(8);
  assert.equal(interlace, 0);
  const channels = { 0: 1, 2: 3, 3: 1, 6: 4 }[colorType];
  assert(channels && depth <= 8, `PNG of colour type ${colorType}, ${depth} bits`);
  const stride = Math.ceil((width * channels * depth) / 8);
  const idat = Buffer.concat(chunks.filter((chunk) => chunk.type === 'IDAT').map((c) => c.data));
  const rows = unfilter(zlib.inflateSync(idat), height, stride, Math.max(1, (channels * depth) >> 3));
  const palette = find('PLTE');
  const sample = (x, y) => {
    const bit = x * depth;
    return (rows[y * stride + (bit >> 3)] >> (8 - depth - (bit & 7))) & ((1 << depth) - 1);
  };
  const pixel = (x, y) => {
    assert(x >= 0 && y >= 0 && x < width && y < height, `pixel ${x},${y} of ${width}x${height}`);
    if (colorType === 3) {
      const index = sample(x, y) * 3;
      return [palette[index], palette[index + 1], palette[index + 2]];
    }
    if (colorType === 0) {
      const grey = Math.round((sample(x, y) * 255) / ((1 << depth) - 1));
      return [grey, grey, grey];
    }
    const at = y * stride + x * channels;
    return [rows[at], rows[at + 1], rows[at + 2]];
  };
  const text = chunks.filter((chunk) => /^[ti]..t$/i.test(chunk.type))
    .map((chunk) => chunk.data.toString('latin1').replace(/\0+/g, ' '));
  const isOpaque = !find('tRNS') && (colorType !== 6 ||
    Array.from({ length: width * height }, (_, i) => rows[i * 4 + 3]).every((a) => a === 255));
  return { width, height, depth, colorType, isOpaque, text, pixel, bytes: data.length,
    chunkTypes: chunks.map((chunk) => chunk.type) };
}

function lowestBit(mask) { return 31 - Math.clz32(mask & -mask); }

/** A channel of a pixel, scaled to 0..255 and rounded. */
function channel(pixel, mask) {
  const max = mask >>> lowestBit(mask);
  return Math.round((((pixel & mask) >>> lowestBit(mask)) * 255) / max);
}

/** Reads the output of xwd(1) (X11/XWDFile.h): TrueColor, or 8 bits with a colormap. */
export function readXwd(data) {
  const names = ['headerSize', 'version', 'format', 'depth', 'width', 'height', 'xOffset',
    'byteOrder', 'bitmapUnit', 'bitOrder', 'bitmapPad', 'bitsPerPixel', 'stride', 'visualClass',
    'red', 'green', 'blue', 'bitsPerRgb', 'mapEntries', 'colours'];
  const head = Object.fromEntries(names.map((name, i) => [name, data.readUInt32BE(i * 4)]));
  assert.equal(head.version, 7);
  assert.equal(head.format, 2, 'ZPixmap');
  const mapAt = head.headerSize, pixelsAt = mapAt + head.colours * 12;
  const map = new Map();
  for (let i = 0; i < head.colours; i++) {
    const at = mapAt + i * 12;
    const rgb = [4, 6, 8].map((offset) => data.readUInt16BE(at + offset) >> 8);
    map.set(data.readUInt32BE(at), rgb);
  }
  const bytes = head.bitsPerPixel >> 3;
  const value = (x, y) => {
    const at = pixelsAt + y * head.stride + x * bytes;
    return head.byteOrder === 0 ? data.readUIntLE(at, bytes) : data.readUIntBE(at, bytes);
  };
  const isTrueColor = head.visualClass === 4;
  const pixel = (x, y) => {
    const raw = value(x, y);
    return isTrueColor ? [head.red, head.green, head.blue].map((mask) => channel(raw, mask)) : map.get(raw);
  };
  return { width: head.width, height: head.height, depth: head.depth, pixel };
}

/** Fails, naming the first few pixels, unless both pictures agree to `tolerance` per channel. */
export function assertSamePixels(actual, expected, tolerance = 0) {
  assert.deepEqual([actual.width, actual.height], [expected.width, expected.height]);
  const wrong = [];
  let count = 0;
  for (let y = 0; y < actual.height; y++) {
    for (let x = 0; x < actual.width; x++) {
      const a = actual.pixel(x, y), e = expected.pixel(x, y);
      if (a.every((value, i) => Math.abs(value - e[i]) <= tolerance)) continue;
      count++;
      if (wrong.length < 5) wrong.push(`${x},${y}: ${a} instead of ${e}`);
    }
  }
  assert.equal(count, 0, `${count} pixels differ: ${wrong.join('; ')}`);
}

/** Fails unless the pixel is the colour, to `tolerance` per channel. */
export function assertPixel(picture, x, y, rgb, tolerance = 0) {
  const actual = picture.pixel(x, y);
  assert(actual.every((value, i) => Math.abs(value - rgb[i]) <= tolerance),
    `pixel ${x},${y} is ${actual}, not ${rgb} ± ${tolerance}`);
}
