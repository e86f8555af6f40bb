// SPDX-License-Identifier: GPL-2.0-or-later
//
// node esbuild.mjs OUT.c: bundles the page and writes its files, also compressed, as a C table
// (takeover/page_assets.h). Names of scripts and styles hold a hash of their contents.
import { build } from 'esbuild';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import zlib from 'node:zlib';

const folder = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2]);
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8' };

const result = await build({
  absWorkingDir: folder,
  entryPoints: ['src/page.ts', 'src/page.css'],
  outdir: '.',
  write: false,
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2022'],
  legalComments: 'none',
  logLevel: 'warning',
});

const assets = [];
let html = fs.readFileSync(path.join(folder, 'index.html'), 'utf8');
for (const { path: file, contents } of result.outputFiles) {
  const { name, ext } = path.parse(file);
  const hash = crypto.createHash('sha256').update(contents).digest('hex').slice(0, 12);
  const hashed = `${name}-${hash}${ext}`;
  html = html.replaceAll(`{{${name}${ext}}}`, hashed);
  assets.push({ name: hashed, data: Buffer.from(contents) });
}
if (html.includes('{{')) throw new Error('index.html names a file that was not built');
assets.push({ name: 'index.html', data: Buffer.from(html) });

const bytes = (data) => {
  const lines = [];
  for (let i = 0; i < data.length; i += 24) lines.push([...data.subarray(i, i + 24)].join(','));
  return `{\n${lines.join(',\n')}}`;
};
const parts = ['/* Made by webclient/esbuild.mjs. */', '#include "takeover/page_assets.h"'];
const rows = assets.map(({ name, data }, i) => {
  const brotli = zlib.brotliCompressSync(data, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 11 } });
  const gzip = zlib.gzipSync(data, { level: 9 });
  parts.push(`static const uint8_t data${i}[] = ${bytes(data)};`,
    `static const uint8_t brotli${i}[] = ${bytes(brotli)};`,
    `static const uint8_t gzip${i}[] = ${bytes(gzip)};`);
  return `\t{"${name}", "${TYPES[path.extname(name)]}", data${i}, ${data.length}, brotli${i}, `
    + `${brotli.length}, gzip${i}, ${gzip.length}},`;
});
parts.push(`const struct page_asset page_assets[] = {\n${rows.join('\n')}\n};`,
  `const size_t page_asset_count = ${assets.length};`, '');
fs.writeFileSync(out, parts.join('\n'));
