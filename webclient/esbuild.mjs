// SPDX-License-Identifier: GPL-2.0-or-later
//
// node esbuild.mjs OUT.c: bundles the page and writes its files, also compressed, as a C table
// (takeover/page_assets.h). node esbuild.mjs --size: prints how large they are compressed, and fails
// when they are too large. Names of scripts and styles hold a hash of their contents.
import { build } from 'esbuild';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import zlib from 'node:zlib';

const SIZE_MAX = 90 * 1000; // bytes, all files, as brotli

const folder = path.dirname(fileURLToPath(import.meta.url));
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8' };

// Modules of noVNC that the page has files of its own for (src/novnc/), each of which says why.
const REPLACED = {
  'util/browser.js': 'browser.js',
  'util/cursor.js': 'cursor.js',
  'util/logging.js': 'absent.js',
  'encodings.js': 'encodings.js',
  'decoders/h264.js': 'h264.js',
  'decoders/rre.js': 'pointer_pos.js',
  'input/keyboard.js': 'absent.js',
  'input/gesturehandler.js': 'absent.js',
  'input/keysym.js': 'absent.js',
  'input/xtscancodes.js': 'absent.js',
  'deflator.js': 'absent.js',
  'ra2.js': 'absent.js',
  'crypto/crypto.js': 'absent.js',
};

const replaceModules = {
  name: 'replace-modules',
  setup({ onResolve }) {
    const core = path.join(folder, 'node_modules/@novnc/novnc/core');
    onResolve({ filter: /^\./ }, ({ path: name, resolveDir }) => {
      const wanted = path.relative(core, path.resolve(resolveDir, name));
      const own = REPLACED[wanted];
      return own ? { path: path.join(folder, 'src/novnc', own) } : undefined;
    });
  },
};

/** The output of an entry point, and what that imports statically. */
function filesOf({ outputs }, entry) {
  const [file, { imports }] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === entry);
  return [file, ...imports.filter(({ kind }) => kind === 'import-statement').map(({ path: name }) => name)];
}

async function makeAssets() {
  const { outputFiles, metafile } = await build({
    absWorkingDir: folder,
    entryPoints: ['src/page.ts', 'src/page.css'],
    outdir: 'out',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    write: false,
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    format: 'esm',
    target: ['es2022'],
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [replaceModules],
  });
  let html = fs.readFileSync(path.join(folder, 'index.html'), 'utf8');
  for (const [file, { entryPoint }] of Object.entries(metafile.outputs)) {
    if (entryPoint) html = html.replaceAll(`{{${entryPoint}}}`, path.basename(file));
  }
  // What the first module loads next is fetched beside it, not after it.
  const needed = ['src/page.ts', 'src/app.ts'].flatMap((entry) => filesOf(metafile, entry));
  html = html.replace('{{preload}}', [...new Set(needed)].map((file) => `<link rel="modulepreload" href="../assets/${path.basename(file)}">`).join('\n'));
  if (html.includes('{{')) throw new Error('index.html names a file that was not built');
  const assets = outputFiles.map(({ path: file, contents }) =>
    ({ name: path.basename(file), data: Buffer.from(contents) }));
  assets.push({ name: 'index.html', data: Buffer.from(html) });
  return assets.map((asset) => ({ ...asset, gzip: zlib.gzipSync(asset.data, { level: 9 }),
    brotli: zlib.brotliCompressSync(asset.data, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 11 } }) }));
}

function printSizes(assets) {
  let total = 0, gzipped = 0;
  for (const { name, data, brotli, gzip } of assets) {
    total += brotli.length;
    gzipped += gzip.length;
    console.log(`${String(data.length).padStart(8)} ${String(gzip.length).padStart(7)} ${String(brotli.length).padStart(7)}  ${name}`);
  }
  console.log(`${total} bytes as brotli, ${gzipped} as gzip; at most ${SIZE_MAX} are allowed`);
  if (gzipped > SIZE_MAX || total > SIZE_MAX) process.exitCode = 1;
}

const bytes = (data) => {
  const lines = [];
  for (let i = 0; i < data.length; i += 24) lines.push([...data.subarray(i, i + 24)].join(','));
  return `{\n${lines.join(',\n')}}`;
};

function writeTable(assets, out) {
  const parts = ['/* Made by webclient/esbuild.mjs. */', '#include "takeover/page_assets.h"'];
  const rows = assets.map(({ name, data, brotli, gzip }, i) => {
    parts.push(`static const uint8_t data${i}[] = ${bytes(data)};`,
      `static const uint8_t brotli${i}[] = ${bytes(brotli)};`,
      `static const uint8_t gzip${i}[] = ${bytes(gzip)};`);
    return `\t{"${name}", "${TYPES[path.extname(name)]}", data${i}, ${data.length}, brotli${i}, `
      + `${brotli.length}, gzip${i}, ${gzip.length}},`;
  });
  parts.push(`const struct page_asset page_assets[] = {\n${rows.join('\n')}\n};`,
    `const size_t page_asset_count = ${assets.length};`, '');
  fs.writeFileSync(path.resolve(out), parts.join('\n'));
}

const assets = await makeAssets();
if (process.argv[2] === '--size') printSizes(assets);
else writeTable(assets, process.argv[2]);
