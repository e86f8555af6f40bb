// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the benches share: their arguments, the screen's size, a box, a process's CPU time.
import fs from 'node:fs';
import { Box } from '../integration/harness.mjs';

/** The word behind `name` on the command line. */
export const argument = (name) => { const i = process.argv.indexOf(name); return i < 0 ? undefined : process.argv[i + 1]; };
export const SIZE = { width: 1280, height: 800 };
const TICK_MS = 10;

/** CPU time of a process and its threads, ms. */
export const cpuMs = (pid) => {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
};

/** Runs `body(box)` with a box of its own, which is closed at the end. */
export async function inBox(body) {
  const box = new Box();
  try {
    return await body(box);
  } finally {
    await box.close();
  }
}
