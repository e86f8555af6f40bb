// SPDX-License-Identifier: GPL-2.0-or-later
//
// boxscreen mcp line by line: both eras of the protocol, messages that are wrong, and ends at any moment.
import assert from 'node:assert/strict';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { boxTest, isAlive, patience, programs, waitFor } from './harness.mjs';
import { startRaw, textOf } from './mcp.mjs';

const V = 'io.modelcontextprotocol/';
const modern = (more = {}) => ({ [`${V}protocolVersion`]: '2026-07-28', [`${V}clientCapabilities`]: {}, [`${V}clientInfo`]: { name: 'raw', version: '1' }, ...more });
const WAIT = { name: 'screen_takeover', arguments: { note: 'x' } };
const STATUS = { name: 'screen_status' };

boxTest('the handshake: each revision is spoken, for others the newest is offered', async (box) => {
  for (const [asked, given] of [['2025-11-25', '2025-11-25'], ['2025-06-18', '2025-06-18'], ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2024-11-05'], ['2026-07-28', '2025-11-25'], ['1999-01-01', '2025-11-25']]) {
    const server = startRaw(box);
    const { result } = await server.initialize(asked);
    assert.equal(result.protocolVersion, given);
    assert.deepEqual([result.capabilities, result.serverInfo.name], [{ tools: {} }, 'boxscreen']);
    assert.equal(result.resultType, undefined);
    assert.equal((await server.finish()).code, 0);
  }
});

boxTest('before the handshake only pings are answered', async (box) => {
  const server = startRaw(box);
  assert.deepEqual((await server.ask({ id: 1, method: 'ping' })).result, {});
  const { error } = await server.ask({ id: 2, method: 'tools/list' });
  assert.equal(error.code, -32602);
  assert.match(error.message, /initialize/);
  assert.equal((await server.ask({ id: 3, method: 'initialize', params: {} })).error.code, -32602);
  assert.equal((await server.ask({ id: 4, method: 'initialize' })).error.code, -32602);
});

boxTest('2026-07-28: no handshake, each request by itself, also beside the older era', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 200 });
  const server = startRaw(box, daemon);
  const found = (await server.ask({ id: 1, method: 'server/discover', params: { _meta: modern() } })).result;
  assert.deepEqual(found.supportedVersions, ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']);
  assert.deepEqual([found.resultType, found.cacheScope, found.capabilities], ['complete', 'public', { tools: {} }]);
  assert(found.ttlMs > 0 && found.instructions.length > 50);
  const listed = (await server.ask({ id: 2, method: 'tools/list', params: { _meta: modern() } })).result;
  assert.equal(listed._meta[`${V}serverInfo`].name, 'boxscreen');
  assert.equal(listed.resultType, 'complete');
  assert.equal(typeof listed.ttlMs, 'number');
  const called = (await server.ask({ id: 3, method: 'tools/call', params: { ...STATUS, _meta: modern() } })).result;
  assert.deepEqual([called.resultType, called.structuredContent.screen.width], ['complete', 320]);
  const old = (await server.ask({ id: 4, method: 'tools/list', params: { _meta: modern({ [`${V}protocolVersion`]: '2025-11-25' }) } })).error;
  assert.equal(old.code, -32022);
  assert.deepEqual([old.data.requested, old.data.supported[0]], ['2025-11-25', '2026-07-28']);
  const without = modern();
  delete without[`${V}clientCapabilities`];
  assert.equal((await server.ask({ id: 5, method: 'tools/list', params: { _meta: without } })).error.code, -32602);
  for (const method of ['ping', 'initialize', 'logging/setLevel'])
    assert.equal((await server.ask({ id: method, method, params: { _meta: modern() } })).error.code, -32601, method);
  // A subscription is acknowledged with nothing in it, and ended by its cancellation or the server's end.
  server.send({ jsonrpc: '2.0', id: 's', method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true }, _meta: modern() } });
  const ack = await server.next(({ method }) => method === 'notifications/subscriptions/acknowledged');
  assert.deepEqual(ack.params, { _meta: { [`${V}subscriptionId`]: 's' }, notifications: {} });
  server.send({ jsonrpc: '2.0', id: 's2', method: 'subscriptions/listen', params: { notifications: {}, _meta: modern() } });
  await server.next(({ method }) => method === 'notifications/subscriptions/acknowledged');
  server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 's' } });
  assert.equal((await server.initialize()).result.protocolVersion, '2025-11-25');
  assert.equal((await server.ask({ id: 6, method: 'tools/list' })).result.resultType, undefined);
  assert.equal((await server.finish()).code, 0);
  const ends = server.messages.filter(({ id }) => id === 's' || id === 's2');
  assert.deepEqual(ends.map(({ id, result }) => [id, result._meta[`${V}subscriptionId`]]), [['s2', 's2']]);
});

boxTest('what is no good message is answered with why, and the next one is served', async (box) => {
  const server = startRaw(box);
  await server.initialize();
  const refused = async (line, code, pattern, id) => {
    server.send(line);
    const reply = await server.next();
    assert.equal(reply.error?.code, code, `${JSON.stringify(line).slice(0, 80)}: ${JSON.stringify(reply)}`);
    assert.match(reply.error.message, pattern);
    assert.equal(reply.id, id, 'the id, where it could be read');
    assert.deepEqual((await server.ask({ id: 'still', method: 'ping' })).result, {});
  };
  await refused('nonsense', -32700, /not a JSON message/);
  await refused('{"jsonrpc":"2.0","id":1,', -32700, /not a JSON/, 1);
  await refused('{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700, /duplicate/);
  await refused('{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32601, /no method/, 1); // written as UTF-8: ÿ
  // Good JSON to others: who sent it waits for an answer with its id.
  for (const text of ['"a\\u0000b"', '"\\ud800"', '12345678901234567890', '1e999', '['.repeat(3000) + ']'.repeat(3000)])
    await refused(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"screen_type","arguments":{"text":${text}}}}`, -32700, /not a JSON.*nothing was done/, 1);
  await refused('['.repeat(5000), -32700, /not a JSON/);
  for (const value of ['42', 'null', '"ping"', 'true']) await refused(value, -32600, /must be a JSON object/);
  await refused({ id: 1, method: 'ping' }, -32600, /jsonrpc must be "2.0"/, 1);
  await refused({ jsonrpc: '1.0', id: 1, method: 'ping' }, -32600, /jsonrpc/, 1);
  await refused({ jsonrpc: '2.0', id: 1 }, -32600, /method must be a string/, 1);
  await refused({ jsonrpc: '2.0', id: 1, method: 7 }, -32600, /method/, 1);
  for (const id of [null, 1.5, {}, [1], true]) await refused({ jsonrpc: '2.0', id, method: 'ping' }, -32600, /id must be/);
  await refused({ jsonrpc: '2.0', id: 'a', method: 'ping', params: [1] }, -32602, /params must be an object/, 'a');
  await refused({ jsonrpc: '2.0', id: 'a', method: 'resources/list' }, -32601, /no method "resources\/list"/, 'a');
  await refused({ jsonrpc: '2.0', id: 'a', method: 'tools/list', params: { cursor: 'x' } }, -32602, /cursor/, 'a');
  await refused({ jsonrpc: '2.0', id: 'a', method: 'tools/call', params: {} }, -32602, /params\.name/, 'a');
  await refused({ jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { name: 'screen_fly' } }, -32602, /Unknown tool: screen_fly; there are screen_shot, /, 'a');
  await refused({ jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { name: 'sandbox_shot' } }, -32602, /Unknown tool/, 'a');
  await refused({ jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { name: 'screen_say', arguments: [] } }, -32602, /params\.arguments/, 'a');
  await refused([], -32600, /2025-03-26/);
  await refused([{ jsonrpc: '2.0', id: 1, method: 'ping' }], -32600, /2025-03-26/);
  // Neither answered nor minded: notifications, answers to requests that were never made, empty lines.
  for (const line of ['', '  \r', { jsonrpc: '2.0', method: 'notifications/whatever' }, { jsonrpc: '2.0', method: 'x', params: [1] },
    { jsonrpc: '2.0', id: 9, result: {} }, { jsonrpc: '2.0', id: 9, error: { code: 1, message: 'x' } },
    { jsonrpc: '2.0', method: 'notifications/cancelled' }, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: {} } },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'nobody' } }]) server.send(line);
  assert.deepEqual((await server.ask({ id: 'end', method: 'ping' })).result, {});
  assert.deepEqual(server.messages, []);
});

boxTest('a line that is too long is refused once and skipped; one in pieces is whole', async (box) => {
  const server = startRaw(box);
  await server.initialize();
  server.write('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"');
  for (let i = 0; i < 18; i++) server.write('x'.repeat(1 << 20));
  server.write('"}}\n');
  const reply = await server.next(undefined, 20000);
  assert.equal(reply.error.code, -32600);
  assert.match(reply.error.message, /16 MiB/);
  assert.equal(reply.id, 1);
  for (const piece of ['{"jsonrpc":"2.0",', '"id":"p","meth', 'od":"ping"}', '\n{"jsonrpc"']) {
    server.write(piece);
    await sleep(20);
  }
  server.write(':"2.0","id":"q","method":"ping"}\n');
  await server.next(({ id }) => id === 'p');
  await server.next(({ id }) => id === 'q');
  assert.deepEqual(server.messages, []);
});

boxTest('batches of 2025-03-26: one list of answers, once all are there', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 200 });
  const server = startRaw(box, daemon);
  await server.initialize('2025-03-26');
  const request = (id, method, params) => ({ jsonrpc: '2.0', id, method, params });
  server.send([request(1, 'ping'), request(2, 'tools/call', STATUS), { jsonrpc: '2.0', method: 'notifications/x' }, request(3, 'nope'), 7,
    request(4, 'initialize', { protocolVersion: '2025-11-25' }), request(5, 'tools/call', { name: 'screen_shot', arguments: {} })]);
  const answers = await server.next();
  assert(Array.isArray(answers));
  const by = Object.fromEntries(answers.map((answer) => [answer.id, answer]));
  assert.deepEqual(Object.keys(by).sort(), ['1', '2', '3', '4', '5', 'undefined']);
  assert.deepEqual([by[1].result, by[3].error.code, by[4].error.code, by.undefined.error.code], [{}, -32601, -32600, -32600]);
  assert.equal(by[2].result.structuredContent.screen.width, 320);
  assert.equal(by[5].result.content.some(({ type }) => type === 'image'), true);
  server.send([{ jsonrpc: '2.0', method: 'notifications/x' }]);
  server.send([]);
  assert.equal((await server.next()).error.code, -32600);
  // One of a batch is cancelled: the others are answered all the same.
  server.send([request(6, 'tools/call', WAIT), request(7, 'ping')]);
  await waitFor('the takeover', async () => (await daemon.json('GET', '/v1/status')).takeover);
  assert.deepEqual((await server.ask({ id: 8, method: 'ping' })).result, {});
  server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 6 } });
  assert.deepEqual((await server.next()).map(({ id }) => id), [7]);
});

boxTest('cancellation: no answer, what it did is let go, its id may be used again; other calls go on', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 200 });
  const server = startRaw(box, daemon);
  await server.initialize();
  const act = (id, actions) => server.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'screen_act', arguments: { actions }, _meta: { progressToken: id } } });
  act('long', [{ type: 'move', x: 10, y: 10 }, { type: 'button_down' }, { type: 'wait', ms: 60000 }]);
  const twice = await server.ask({ id: 'long', method: 'tools/call', params: STATUS });
  assert.match(twice.error.message, /this id is under way/);
  await sleep(300 * patience);
  server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'long', reason: 'enough' } });
  // Batches of several callers run one after the other: this one runs, so the other has ended.
  act('next', [{ type: 'move', x: 20, y: 20 }, { type: 'cursor_position' }]);
  const next = await server.next(({ id }) => id === 'next', 20000);
  assert.equal(next.result.structuredContent.results[1].x, 20);
  act('long', [{ type: 'cursor_position' }]);
  assert.equal((await server.next(({ id }) => id === 'long')).result.structuredContent.done, 1);
  assert.deepEqual(server.messages, [], 'nothing else was said');
});

boxTest('many calls at once; more than can be are refused', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 200 });
  const server = startRaw(box, daemon);
  await server.initialize();
  for (let i = 0; i < 30; i++) server.send({ jsonrpc: '2.0', id: i, method: 'tools/call', params: i % 2 ? STATUS : { name: 'screen_shot' } });
  for (let i = 0; i < 30; i++) assert(!(await server.next(({ id }) => id === i)).result.isError);
  const late = { name: 'screen_shot', arguments: { wait: 'change', timeout_ms: 60000 } };
  for (let i = 100; i < 164; i++) server.send({ jsonrpc: '2.0', id: i, method: 'tools/call', params: late });
  const refused = await server.ask({ id: 'more', method: 'tools/call', params: STATUS });
  assert.match(refused.error.message, /64 calls are under way/);
  assert.deepEqual((await server.ask({ id: 'ping', method: 'ping' })).result, {});
  for (let i = 100; i < 164; i++) server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: i } });
  await waitFor('room', async () => (await server.ask({ id: `s${Math.random()}`, method: 'tools/call', params: STATUS })).result);
});

boxTest('the end at any moment: answers to what was piped in, takeovers left open, nothing left behind', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 200 });
  const init = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {} } };
  const call = (id, params) => ({ jsonrpc: '2.0', id, method: 'tools/call', params });
  // All at once, as from a file, the last line without its newline.
  const piped = await box.run(programs.boxscreen, ['mcp'], { env: daemon.env,
    input: [init, call(1, STATUS), call(2, { name: 'screen_shot' })].map((line) => JSON.stringify(line)).join('\n') });
  assert.equal(piped.status, 0);
  const answers = piped.stdout.toString().trim().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(answers.map(({ id }) => id).sort(), [0, 1, 2]);
  for (const input of ['', '\n', '{', JSON.stringify(init).slice(0, 40)])
    assert.equal((await box.run(programs.boxscreen, ['mcp'], { env: daemon.env, input })).status, 0);
  // In the midst of a takeover.
  const server = startRaw(box, daemon);
  await server.initialize();
  server.send(call('w', WAIT));
  const { id } = await waitFor('the takeover', async () => (await daemon.json('GET', '/v1/status')).takeover);
  assert.equal((await server.finish()).code, 0);
  assert.equal((await daemon.json('GET', '/v1/status')).takeover.id, id);
  assert.deepEqual(server.messages.filter((message) => message.id === 'w'), []);
  // The reader of stdout goes, while stdin stays open.
  const deaf = startRaw(box, daemon);
  await deaf.initialize();
  deaf.send(call('w', WAIT));
  await sleep(200 * patience);
  deaf.process.stdout.destroy();
  assert.equal((await deaf.exited).code, 0);
  // Killed.
  const killed = startRaw(box, daemon);
  await killed.initialize();
  killed.send(call('a', { name: 'screen_act', arguments: { actions: [{ type: 'key_down', keys: 'shift' }, { type: 'wait', ms: 60000 }] } }));
  await sleep(300 * patience);
  await killed.stop('SIGKILL');
  assert(!isAlive(killed.pid));
  const after = startRaw(box, daemon);
  await after.initialize();
  after.send(call('b', { name: 'screen_act', arguments: { actions: [{ type: 'cursor_position' }] } }));
  assert.match(textOf((await after.next(({ id: reply }) => reply === 'b', 20000)).result), /^1 action done/);
});

boxTest('what a daemon may answer: too many calls, half of an answer, no HTTP, nothing that is expected', async (box) => {
  const takeover = { id: 't-1', state: 'open', version: 1, url: 'http://x/', expires_at: '2026-11-30T00:00:00.000Z' };
  const http = (status, body) => `HTTP/1.1 ${status} x\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const json = (status, value) => http(status, JSON.stringify(value));
  const answers = [];
  const daemon = net.createServer((connection) => {
    connection.on('error', () => {});
    connection.once('data', () => connection.end(answers.shift()));
  });
  const socket = box.file('stand-in.sock');
  await new Promise((resolve) => daemon.listen(socket, resolve));
  box.onClose(() => daemon.close());
  const server = startRaw(box, { env: { BOXSCREEN_SOCKET: socket } });
  await server.initialize();
  const call = async (params, ...replies) => {
    answers.push(...replies);
    const { result } = await server.ask({ id: Math.random().toString(), method: 'tools/call', params });
    assert.equal(answers.length, 0);
    return result;
  };
  const told = await call(WAIT, json(200, { takeover: null }), json(200, { takeovers: [] }), json(201, takeover),
    json(429, { error: 'too_many', message: 'x' }), json(429, { error: 'too_many', message: 'x' }),
    json(200, { ...takeover, state: 'handed_back', ended_at: 'now', outcome: 'done', message: 'well' }));
  assert.match(textOf(told), /^Handed back: done\. The person writes: well/);
  for (const [reply, pattern] of [['HTTP/1.1 200 x\r\nContent-Length: 9\r\n\r\n{', /ended in the middle of the call/], ['220 smtp ready\r\n\r\n', /does not speak HTTP/],
    [http(200, 'x'), /not the JSON that was expected/], [http(500, 'x'), /HTTP status 500/], [json(503, { error: 'screen_unavailable', message: 'no Xvfb' }), /no Xvfb.*screen_status/]]) {
    const result = await call(STATUS, reply);
    assert.equal(result.isError, true);
    assert.match(textOf(result), pattern);
  }
  const shot = await call({ name: 'screen_shot' }, json(200, { screen: { state: 'ready', width: 9, height: 9 } }), http(200, 'no picture'));
  assert.match(textOf(shot), /reply is no picture/);
});

boxTest('bad options are refused before anything is read', async (box) => {
  for (const args of [['--max-side', '10'], ['--max-side', 'x'], ['--names', 'box'], ['--structured', 'perhaps'], ['now']]) {
    const result = await box.run(programs.boxscreen, ['mcp', ...args]);
    assert.equal(result.status, 2, args.join(' '));
    assert.equal(result.stdout.length, 0);
    assert.match(result.stderr, /^boxscreen: /);
  }
});
