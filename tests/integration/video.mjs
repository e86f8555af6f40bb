// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the tests of recordings share: starting and stopping through the socket, and looking at videos
// with ffmpeg, ffprobe and by the bytes of their boxes.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { waitFor } from './harness.mjs';

/** Decodes all of it, strictly; fails on the slightest complaint. */
export async function decode(box, file) {
  const result = await box.run('ffmpeg', ['-v', 'error', '-xerror', '-i', file, '-f', 'null', '-'], { timeoutMs: 60000 });
  assert.deepEqual([result.status, result.stderr], [0, ''], `strict decode of ${file}`);
}

/** {stream, duration, packets: [{pts, duration, isKey, size}], chapters: [{at, title}], subtitles: [text]} */
export async function probe(box, file) {
  const json = JSON.parse(await box.ok('ffprobe', ['-v', 'error', '-of', 'json', '-show_streams', '-show_format',
    '-show_chapters', '-show_packets', '-select_streams', 'v', file]));
  const stream = json.streams.find((one) => one.codec_type === 'video');
  return {
    stream, duration: Number(json.format.duration),
    packets: json.packets.map((packet) => ({ pts: Number(packet.pts_time), duration: Number(packet.duration_time),
      isKey: packet.flags.startsWith('K'), size: Number(packet.size) })),
    chapters: json.chapters.map((chapter) => ({ at: Number(chapter.start_time), title: chapter.tags.title })),
  };
}

export async function readSubtitles(box, file) {
  return box.ok('ffmpeg', ['-v', 'error', '-i', file, '-map', '0:s', '-f', 'srt', '-']);
}

/** What every finished video must be: strict, plain H.264 for all players, index first, a finite length. */
export async function assertGood(box, file, { profile = /^(High|Main)$/, pixelFormat = 'yuv420p' } = {}) {
  await decode(box, file);
  const video = await probe(box, file);
  assert.match(video.stream.profile, profile);
  assert.equal(video.stream.pix_fmt, pixelFormat);
  assert.equal(video.stream.codec_tag_string, 'avc1');
  assert.equal(video.stream.color_range, 'tv');
  assert.equal(video.stream.color_space, 'smpte170m');
  assert(video.packets[0].isKey, 'it begins with a key');
  const boxes = readBoxes(fs.readFileSync(file));
  const order = boxes.map((one) => one.type).filter((type) => type === 'moov' || type === 'mdat');
  assert.deepEqual(order, ['moov', 'mdat'], 'the index comes before the pictures');
  assert(Math.abs(readMovieDuration(fs.readFileSync(file)) - video.duration) < 0.1, 'the header tells the length');
  return video;
}

/** The boxes of the top level: {type, offset, size}. */
export function readBoxes(data) {
  const boxes = [];
  for (let offset = 0; offset + 8 <= data.length;) {
    let size = data.readUInt32BE(offset);
    if (size === 1) size = Number(data.readBigUInt64BE(offset + 8));
    boxes.push({ type: data.toString('latin1', offset + 4, offset + 8), offset, size });
    if (size < 8) break;
    offset += size;
  }
  return boxes;
}

/** Seconds, by the movie header (mvhd). */
export function readMovieDuration(data) {
  const at = data.indexOf('mvhd') + 4;
  const isLong = data[at] === 1;
  const scale = data.readUInt32BE(at + (isLong ? 20 : 12));
  return (isLong ? Number(data.readBigUInt64BE(at + 24)) : data.readUInt32BE(at + 16)) / scale;
}

/** The colour of each picture a quarter in (the pointer begins in the middle): [{at, rgb: [r, g, b]}]. */
export async function readColours(box, file, { x = 'iw/4', y = 'ih/4' } = {}) {
  const video = await probe(box, file);
  const { stdout } = await box.run('ffmpeg', ['-v', 'error', '-i', file, '-vsync', 'passthrough', '-vf',
    `crop=4:4:${x}:${y}`, '-pix_fmt', 'rgb24', '-f', 'rawvideo', '-']);
  const times = video.packets.map((packet) => packet.pts).sort((a, b) => a - b);
  assert.equal(stdout.length, times.length * 48, 'each sample is one picture');
  return times.map((at, i) => ({ at, rgb: [...stdout.subarray(i * 48, i * 48 + 3)] }));
}

/** Whether two colours are the same but for what YUV costs. */
export function isNear(a, b, tolerance = 3) {
  return a.every((value, i) => Math.abs(value - b[i]) <= tolerance);
}

export async function startRecording(daemon, body = {}) {
  const reply = await daemon.request('POST', '/v1/recordings', { body });
  assert.equal(reply.status, 201, reply.body.toString());
  const recording = reply.json();
  assert.equal(recording.state, 'recording');
  return recording;
}

/** Stops it and waits until the file is finished. */
export async function stopRecording(daemon, id) {
  const reply = await daemon.request('POST', `/v1/recordings/${id}/stop`);
  assert.equal(reply.status, 200, reply.body.toString());
  return waitEnd(daemon, id);
}

export async function waitEnd(daemon, id, deadlineMs = 15000) {
  return waitFor(`the end of ${id}`, async () => {
    const recording = (await daemon.request('GET', `/v1/recordings/${id}`)).json();
    return !['recording', 'paused', 'finishing'].includes(recording.state) && recording;
  }, deadlineMs, 50);
}

export const seconds = (number) => new Promise((resolve) => setTimeout(resolve, number * 1000));

/** A window that takes colours: resolves to paint(rgb), which resolves once it is on the screen. */
export async function startColours(box, env, { x = 0, y = 0, width = 4000, height = 4000 } = {}) {
  const { programs } = await import('./harness.mjs');
  const child = box.spawn(programs.xhelper, ['colours', x, y, width, height].map(String),
    { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const lines = () => child.output().split('\n').length - 1;
  await waitFor('the window', () => lines() === 1);
  return async (rgb) => {
    const before = lines();
    child.process.stdin.write(`${rgb.toString(16).padStart(6, '0')}\n`);
    await waitFor('the colour', () => lines() > before, 20000, 1);
  };
}
