// SPDX-License-Identifier: GPL-2.0-or-later
//
// docs/openapi.json: that it is what the daemon prints, that it is OpenAPI 3.1, and that the daemon does what
// it says.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { readExamples } from './docs-examples.mjs';
import { boxTest, programs, root, waitFor } from './harness.mjs';
import { Contract } from './openapi.mjs';
import { openTakeover, Person } from './takeovers.mjs';

const committed = fs.readFileSync(path.join(root, 'docs/openapi.json'), 'utf8');
const document = JSON.parse(committed);
const METHODS = ['get', 'post', 'put', 'delete'];
const operations = Object.entries(document.paths).flatMap(([target, item]) =>
  METHODS.filter((method) => item[method]).map((method) => ({ target, method, operation: item[method] })));

boxTest('docs/openapi.json is what boxscreend --openapi prints', async (box) => {
  const printed = await box.ok(programs.boxscreend, ['--openapi']);
  assert.equal(printed, committed,
    'docs/openapi.json is out of date: write it anew with boxscreend --openapi >docs/openapi.json');
});

boxTest('it is OpenAPI 3.1, and its schemas are without misspelt words', async () => {
  const result = await new Validator().validate(structuredClone(document));
  assert.equal(result.valid, true, JSON.stringify(result.errors));
  assert.match(document.openapi, /^3\.1\./);

  const text = JSON.stringify({ $id: 'all', $defs: document.components.schemas })
    .replaceAll('#/components/schemas/', '#/$defs/');
  const strict = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allowUnionTypes: true });
  addFormats.default(strict);
  strict.addSchema(JSON.parse(text));
  for (const name of Object.keys(document.components.schemas))
    assert(strict.getSchema(`all#/$defs/${name}`), name);

  const ids = operations.map(({ operation }) => operation.operationId);
  assert.equal(new Set(ids).size, ids.length, 'each operation has a name of its own');
  const used = new Set([...committed.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map((match) => match[1]));
  assert.deepEqual(Object.keys(document.components.schemas).filter((name) => !used.has(name)), [],
    'every schema is used');
});

/** All members of a request's schema with where they are. */
function* membersOf(schema, where) {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    yield [`${where}.${name}`, property];
    yield* membersOf(property, `${where}.${name}`);
  }
  for (const form of schema.anyOf ?? []) yield* membersOf(form, where);
}

boxTest('each member of a request is explained, by words that are all used', async () => {
  const bodies = operations.filter(({ operation }) => operation.requestBody?.content['application/json'])
    .map(({ operation }) => [operation.requestBody.content['application/json'].schema, operation.operationId]);
  const actions = document.components.schemas.Action.oneOf.map((schema) => [schema, schema.title]);
  const members = [...bodies, ...actions].flatMap(([schema, where]) => [...membersOf(schema, where)]);
  assert.deepEqual(members.filter(([, property]) => !property.description).map(([where]) => where), [],
    'service/members.json explains them');
  const said = new Set(members.map(([, property]) => property.description));
  const words = JSON.parse(fs.readFileSync(path.join(root, 'service/members.json'), 'utf8'));
  assert.deepEqual(Object.values(words).flatMap((group) => Object.values(group)).filter((text) => !said.has(text)), []);
});

boxTest('every route is in it, with its query and its body, and nothing else', async (box) => {
  const { daemon } = await box.startScreen();
  const { routes } = await daemon.json('GET', '/v1/routes');
  const names = ({ parameters = [] }) => parameters.filter((one) => one.in === 'query').map((one) => one.name);
  assert.deepEqual(
    operations.map(({ target, method, operation }) => [method.toUpperCase(), target, names(operation),
      'requestBody' in operation]).sort(),
    routes.map((route) => [route.method, route.path, route.query, route.body]).sort());
  assert.deepEqual(await daemon.json('GET', '/v1/openapi'), document);
});

boxTest('the examples of docs/control-api.md are requests and answers that it describes', async (box) => {
  const { daemon } = await box.startScreen();
  const contract = new Contract(document);
  let checked = 0;
  for (const { method, target, body, status } of readExamples(box.folder)) {
    const found = contract.find(method, target);
    const reply = await daemon.request(method, target, { body });
    if (!found) {
      assert(reply.status === 404 || reply.status === 405, `${method} ${target} is not described`);
      continue;
    }
    if (body && status < 300)
      assert.equal(contract.bodyFaults(method, target, JSON.parse(body)), undefined, `${target} ${body}`);
    contract.check(method, target, reply);
    checked++;
  }
  assert(checked > 40, `${checked} examples`);
});

/** What each action looks like, in our words and in the vendors'. */
const batches = [
  [{ type: 'move', x: 5, y: 5 }, { action: 'mouse_move', coordinate: [6, 6] }, { type: 'cursor_position' }],
  [{ type: 'click', x: 20, y: 20, button: 'left', count: 2, modifiers: ['shift'] }],
  { type: 'tool_use', id: 'x', name: 'computer', input: { action: 'left_click', coordinate: [20, 20], text: 'shift' } },
  { type: 'computer_call', call_id: 'x', action: { type: 'double_click', x: 20, y: 20, button: 'left', keys: [] } },
  [{ type: 'drag', path: [[20, 20], { x: 40, y: 40 }] },
    { action: 'left_click_drag', start_coordinate: [20, 20], coordinate: [30, 30] }],
  [{ type: 'scroll', x: 20, y: 20, scroll_x: 0, scroll_y: 240 }, { type: 'scroll', dx: 1, dy: -1 },
    { action: 'scroll', coordinate: [20, 20], scroll_direction: 'down', scroll_amount: 2 }],
  [{ type: 'key', keys: 'ctrl+a' }, { type: 'keypress', keys: ['CTRL', 'A'] }, { action: 'hold_key', text: 'a', duration: 0.01 },
    { type: 'key_down', keys: 'shift' }, { type: 'key_up', keys: 'shift' }],
  [{ type: 'type', text: 'ä€😀\n', delay_ms: 1 }, { type: 'type', text: 'x', via: 'paste' }, { type: 'paste', text: 'y' }],
  [{ type: 'wait', ms: 1 }, { action: 'wait', duration: 0.01 }, { type: 'wait_stable', quiet_ms: 10, timeout_ms: 500 },
    { type: 'wait_change', timeout_ms: 10 }],
  [{ type: 'screenshot' }, { type: 'zoom', region: [0, 0, 40, 40] }],
  [{ action: 'left_mouse_down' }, { type: 'button_up' }],
];

boxTest('batches of every action, and what comes of them, are as described', async (box) => {
  const { daemon } = await box.startScreen();
  box.spawn('xterm', ['-geometry', '100x30+0+0', '-e', 'cat'], { env: daemon.env });
  await waitFor('the terminal', async () => (await daemon.json('GET', '/v1/windows')).windows.length > 0);
  await daemon.request('GET', '/v1/shot?wait=stable');
  const contract = new Contract(document);
  const call = async (body) => {
    assert.equal(contract.bodyFaults('POST', '/v1/act', body), undefined, JSON.stringify(body));
    const reply = await daemon.request('POST', '/v1/act', { body });
    contract.check('POST', '/v1/act', reply);
    return reply;
  };
  for (const batch of batches)
    assert.equal((await call(batch)).status, 200, JSON.stringify(batch));
  const seen = await call({ actions: [{ type: 'move', x: 200, y: 200 }, { type: 'type', text: 'seen\n' }], settle: { quiet_ms: 50 },
    shot: { max_side: 200, changed_only: true, format: 'jpeg', region: [0, 0, 400, 300] }, space: { width: 640, height: 400 } });
  assert.equal(seen.json().changed, true);
  assert.equal((await call([{ type: 'move', x: 1, y: 1 }, { type: 'key', keys: 'XF86LaunchF' }])).status, 409);

  // Every verb was among them, and what is no action is none for both.
  const verbs = document.components.schemas.Action.oneOf.map((schema) => schema.title);
  const text = JSON.stringify(batches);
  const types = document.components.schemas.Action.oneOf;
  assert.deepEqual(verbs.filter((verb, i) => !types[i].properties.type.enum.some((name) => text.includes(`"${name}"`))), []);
  for (const wrong of [[{ type: 'fly' }], [{ type: 'click', x: 1 , y: 1, z: 1 }], [{ type: 'move' }], [{ type: 'scroll', x: 1, y: 1 }],
    [{ type: 'hold_key', keys: 'a' }], [{ type: 'type' }], [{ type: 'drag' }], [], [{ x: 1, y: 1 }]]) {
    assert(contract.bodyFaults('POST', '/v1/act', wrong), JSON.stringify(wrong));
    const reply = await daemon.request('POST', '/v1/act', { body: wrong });
    assert.equal(reply.status, 400);
    contract.check('POST', '/v1/act', reply);
  }
});

boxTest('takeovers, viewers, recordings and the desk answer as described', async (box) => {
  const { daemon, env } = await box.startScreen();
  const contract = new Contract(document);
  const call = async (method, target, options = {}) => {
    const reply = await daemon.request(method, target, options);
    contract.check(method, target, reply);
    return reply;
  };
  const json = async (...args) => (await call(...args)).json();
  const window = await box.paint(env, 'window', 0, 0, 200, 100, '2060a0');
  await json('GET', '/v1/windows');
  await call('POST', `/v1/windows/${window.window}/move`, { body: { x: 10, y: 10 } });
  await call('POST', `/v1/windows/${window.window}/resize`, { body: { width: 150, height: 120 } });
  await call('POST', `/v1/windows/${window.window}/activate`, { body: {} });
  await call('PUT', '/v1/clipboard', { body: 'text' });
  await call('GET', '/v1/clipboard');
  const etag = (await call('GET', '/v1/shot?window=active')).headers.etag;
  await call('GET', '/v1/shot?window=active', { headers: { 'If-None-Match': etag } });
  await call('POST', '/v1/shots', { body: { path: box.file('a.webp'), wait: 'stable', quiet_ms: 20, cursor: true } });

  const recording = await json('POST', '/v1/recordings', { body: { name: 'one', show_keys: true } });
  await call('POST', `/v1/recordings/${recording.id}/marks`, { body: { text: 'a chapter' } });
  await call('POST', `/v1/recordings/${recording.id}/pause`, { body: {} });
  await json('GET', '/v1/status');
  await call('POST', `/v1/recordings/${recording.id}/resume`, { body: {} });
  await call('DELETE', `/v1/recordings/${recording.id}`); // it still runs
  await call('POST', `/v1/recordings/${recording.id}/stop`, { body: {} });
  await waitFor('the recording to be finished', async () =>
    (await json('GET', `/v1/recordings/${recording.id}`)).state === 'done');
  await call('GET', `/v1/recordings/${recording.id}/video`);
  await call('GET', `/v1/recordings/${recording.id}/video`, { headers: { Range: 'bytes=0-9' } });
  await call('GET', `/v1/recordings/${recording.id}/thumbnail?max_side=64`);
  await call('DELETE', `/v1/recordings/${recording.id}`);
  await call('POST', '/v1/publish', { body: { url: box.file('live.m3u8') } });
  const [broadcast] = (await json('GET', '/v1/publish')).publish;
  await call('DELETE', `/v1/publish/${broadcast.id}`);

  const takeover = await openTakeover(daemon);
  await call('POST', '/v1/say', { body: { text: 'Hello' } });
  const person = await Person.holding(box, takeover.url);
  const status = await json('GET', '/v1/status');
  assert.equal(status.viewers.length, 1);
  assert.equal(status.control.holder, 'person');
  for (const target of ['/v1/shot', '/v1/windows', '/v1/clipboard'])
    assert.equal((await call('GET', target)).status, 423);
  assert.equal((await call('POST', '/v1/act', { body: [{ type: 'move', x: 1, y: 1 }] })).status, 423);
  assert.equal((await call('PUT', '/v1/screen', { body: { width: 640, height: 480 } })).status, 423);
  const waiting = call('GET', `/v1/takeovers/${takeover.id}?wait_s=20`);
  await person.call('hand_back', { outcome: 'done', message: 'logged in' });
  const outcome = (await waiting).json();
  assert.equal(outcome.message, 'logged in');
  assert(outcome.shot.base64, 'a picture comes with it');
  await call('POST', `/v1/takeovers/${takeover.id}/cancel`, { body: {} });
  assert(contract.seen.size >= 30, `${contract.seen.size} kinds of answers`);
});

/** A value that the schema does not take, or undefined when it takes all that is easily thought of. */
function wrongValue(schema) {
  if (schema.maximum !== undefined) return Math.floor(schema.maximum) * 2 + 1;
  if (schema.enum || schema.anyOf) return 'nonsense,1';
  if (schema.type === 'boolean') return 'yes';
  if (schema.type === 'string') return schema.pattern ? 'nonsense' : 5;
  return undefined;
}

boxTest('what the schemas refuse is refused, and the fault names it', async (box) => {
  const { daemon } = await box.startScreen();
  let checked = 0;
  for (const { target, method, operation } of operations) {
    const url = target.replace('{id}', target.includes('/windows/') ? '1' : 'x-0');
    for (const parameter of (operation.parameters ?? []).filter((one) => one.in === 'query')) {
      const value = wrongValue(parameter.schema);
      const query = `${parameter.name}=${encodeURIComponent(value)}`;
      const reply = await daemon.request(method.toUpperCase(), `${url}?${query}`);
      assert.equal(reply.status, 400, `${method} ${url}?${query}: ${reply.body.toString('latin1', 0, 200)}`);
      assert.match(reply.json().message, new RegExp(parameter.name));
      checked++;
    }
    const schema = operation.requestBody?.content['application/json']?.schema;
    const members = Object.entries(schema?.properties ?? schema?.anyOf?.[0].properties ?? {});
    if (target.includes('/recordings/')) continue; // an unknown recording is told first
    for (const [name, property] of members) {
      const value = wrongValue(property);
      if (value === undefined) continue;
      const body = { [name]: value };
      if (target === '/v1/act') body.actions = [{ type: 'cursor_position' }];
      const reply = await daemon.request(method.toUpperCase(), url, { body });
      assert.equal(reply.status, 400, `${method} ${url} ${JSON.stringify(body)}: ${reply.body}`);
      checked++;
    }
  }
  assert(checked > 60, `${checked} values`);
});
