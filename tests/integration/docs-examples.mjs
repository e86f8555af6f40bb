// SPDX-License-Identifier: GPL-2.0-or-later
//
// The examples of docs/control-api.md: {method, target, body, status, shown}.
import fs from 'node:fs';
import path from 'node:path';
import { root } from './harness.mjs';

/** All of them in their order; `folder` stands for $DIR. */
export function readExamples(folder = '$DIR') {
  const page = fs.readFileSync(path.join(root, 'docs/control-api.md'), 'utf8');
  return [...page.matchAll(/^```example\n([^]*?)^```/gm)].map(([, text]) => {
    const lines = text.replaceAll('$DIR', folder).trim().split('\n');
    const [method, target] = lines[0].split(' ');
    const arrow = lines.find((line) => line.startsWith('→'));
    const [, status, shown] = arrow.match(/^→ (\d+) ?(.*)$/);
    return {
      method, target, name: lines[0],
      body: lines.find((line) => line.startsWith('{')),
      status: Number(status),
      shown: shown ? JSON.parse(shown) : undefined,
    };
  });
}
