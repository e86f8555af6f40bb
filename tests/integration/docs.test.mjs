// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs the examples of docs/control-api.md: what it shows is what the daemon does.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { boxTest, root } from './harness.mjs';

const page = fs.readFileSync(path.join(root, 'docs/control-api.md'), 'utf8');
const examples = [...page.matchAll(/^```example\n([^]*?)^```/gm)].map((match) => match[1]);

/** Empty values ("", 0, [], {}, null) stand for any value of their type; others must be equal. */
function assertShape(actual, shown, where) {
  if (shown === null) return;
  assert.notEqual(actual, undefined, `${where} is missing`);
  assert.equal(typeof actual, typeof shown, `${where} is ${JSON.stringify(actual)}`);
  if (Array.isArray(shown)) {
    assert(Array.isArray(actual), where);
    shown.forEach((item, i) => assertShape(actual[i], item, `${where}[${i}]`));
  } else if (typeof shown === 'object') {
    assert(actual !== null, `${where} is null`);
    for (const [name, value] of Object.entries(shown)) assertShape(actual[name], value, `${where}.${name}`);
  } else if (shown !== '' && shown !== 0) {
    assert.equal(actual, shown, where);
  }
}

assert(examples.length > 10, 'docs/control-api.md has examples');

boxTest(`the ${examples.length} examples of docs/control-api.md hold`, async (box) => {
  const { daemon } = await box.startScreen();
  for (const example of examples) {
    const lines = example.replaceAll('$DIR', box.folder).trim().split('\n');
    const [method, target] = lines[0].split(' ');
    const body = lines.find((line) => line.startsWith('{'));
    const arrow = lines.find((line) => line.startsWith('→'));
    const [, status, shown] = arrow.match(/^→ (\d+) ?(.*)$/);
    const reply = await daemon.request(method, target, { body });
    assert.equal(reply.status, Number(status), `${lines[0]}: ${reply.body.toString('latin1', 0, 300)}`);
    if (shown) assertShape(reply.json(), JSON.parse(shown), lines[0]);
  }
});
