// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs the examples of docs/control-api.md: what it shows is what the daemon does.
import assert from 'node:assert/strict';
import { readExamples } from './docs-examples.mjs';
import { boxTest } from './harness.mjs';

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

const count = readExamples().length;
assert(count > 10, 'docs/control-api.md has examples');

boxTest(`the ${count} examples of docs/control-api.md hold`, async (box) => {
  const { daemon } = await box.startScreen();
  for (const { method, target, name, body, status, shown } of readExamples(box.folder)) {
    const reply = await daemon.request(method, target, { body });
    assert.equal(reply.status, status, `${name}: ${reply.body.toString('latin1', 0, 300)}`);
    if (shown) assertShape(reply.json(), shown, name);
  }
});
