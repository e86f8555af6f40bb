// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loads a module of the page in node: bundled by the same esbuild that makes the page.
import { build } from 'esbuild';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

export async function load(name) {
  const { outputFiles } = await build({ absWorkingDir: folder, entryPoints: [`src/${name}`], bundle: true,
    write: false, format: 'esm', target: ['es2022'] });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
