// SPDX-License-Identifier: GPL-2.0-or-later
//
// The control socket: what is not a good request gets a clear 4xx or is closed, and the daemon goes
// on; events are not lost; windows and clipboard.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import http from 'node:http';
import { boxTest, followEvents, isSanitized, rawRequest, request, waitFor } from './harness.mjs';
import { openSession } from './websocket.mjs';
import { readPng } from './png.mjs';

const small = { width: 320, height: 240 };

boxTest('status has every member of its contract', async (box) => {
  const { daemon, server } = await box.startScreen(small);
  const status = await daemon.json('GET', '/v1/status');
  assert.equal(status.display, server.display);
  assert.deepEqual(status.screen, { state: 'ready', width: 320, height: 240, depth: 24 });
  assert.deepEqual([status.control.holder, status.control.locked], ['agent', false]);
  assert.equal(status.takeover, null);
  assert.deepEqual([status.recording, status.viewers], [[], []]);
  assert.equal(typeof status.replay, 'object');
  assert(Array.isArray(status.features) && status.features.length > 0);
  assert(status.uptime_s >= 0 && status.version && status.box_id);
});

boxTest('healthz, metrics and doctor', async (box) => {
  const { daemon } = await box.startScreen(small);
  await daemon.shot();
  assert.equal((await daemon.request('GET', '/healthz')).status, 200);
  const metrics = await daemon.request('GET', '/metrics');
  assert.match(metrics.headers['content-type'], /^text\/plain/);
  for (const line of metrics.body.toString().trim().split('\n')) {
    assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{[^}]*\})? [-+.eE\dInfNa]+)$/);
  }
  const connections = Number(/^boxscreen_connections (\d+)$/m.exec(metrics.body)[1]);
  assert(connections >= 1, 'its own at least');
  const { checks } = await daemon.json('GET', '/v1/doctor');
  assert(checks.length > 0);
  for (const check of checks) {
    assert(['ok', 'warn', 'fail'].includes(check.state) && check.name && typeof check.detail === 'string' &&
      typeof check.advice === 'string', JSON.stringify(check));
  }
});

boxTest('paths and methods that are not there', async (box) => {
  const { daemon } = await box.startScreen(small);
  for (const path of ['/', '/v1', '/v1/nosuch', '/v1/status/', '/V1/STATUS', `/${'x'.repeat(2000)}`]) {
    const reply = await daemon.request('GET', path);
    assert.equal(reply.status, 404, path);
    assert.equal(reply.json().error, 'not_found');
  }
  for (const path of ['/v1/status/../status', '/v1//status', '/v1/./status']) {
    assert([400, 404].includes((await daemon.request('GET', path)).status), path);
  }
  for (const [method, path] of [['POST', '/v1/status'], ['DELETE', '/v1/shot'], ['GET', '/v1/shots'], ['POST', '/v1/screen']]) {
    const reply = await daemon.request(method, path);
    assert([404, 405].includes(reply.status), `${method} ${path}: ${reply.status}`);
  }
  assert.equal((await daemon.request('GET', '/v1/status?nosuch=1')).status, 400);
  assert.equal((await daemon.request('GET', '/v1/status')).status, 200);
});

const BAD_BODIES = {
  'half an object': '{',
  'no object': '[]',
  'a string': '"x"',
  'a comma too many': '{"width":640,}',
  'a bare word': '{"width":nul}',
  'a number past all bounds': '{"width":1e400,"height":480}',
  'a number of 100,000 digits': `{"width":${'9'.repeat(100000)},"height":480}`,
  'a fraction': '{"width":640.5,"height":480}',
  'a duplicate member': '{"width":640,"width":641,"height":480}',
  'an unknown member': '{"width":640,"height":480,"colour":1}',
  'a lone surrogate': '{"path":"/tmp/\\ud800.png"}',
  'a NUL': '{"path":"/tmp/a\\u0000b.png"}',
  'bad UTF-8': Buffer.from([...Buffer.from('{"path":"/tmp/'), 0xff, 0xc0, 0x80, ...Buffer.from('.png"}')]),
  'overlong UTF-8': Buffer.from([...Buffer.from('{"path":"/tmp/'), 0xc0, 0xaf, ...Buffer.from('.png"}')]),
  'deep nesting': `{"width":${'['.repeat(100000)}${']'.repeat(100000)}}`,
  'deep objects': '{"a":'.repeat(50000),
  'two values': '{"width":640,"height":480}{}',
  'text behind it': '{"width":640,"height":480} x',
  'only blanks': '   ',
  'a raw NUL': '{"width":640,"height":480}\0',
};

boxTest('bodies that are no good request are refused, and nothing happens', async (box) => {
  const { daemon } = await box.startScreen({ width: 640, height: 480 });
  for (const [what, body] of Object.entries(BAD_BODIES)) {
    for (const [method, path] of [['PUT', '/v1/screen'], ['POST', '/v1/shots']]) {
      const reply = await daemon.request(method, path, { body });
      assert.equal(reply.status, 400, `${method} ${path} with ${what}: ${reply.status}`);
      const { error, message } = reply.json();
      assert.equal(error, 'bad_request');
      assert(message.length > 5, what);
    }
  }
  assert.match((await daemon.request('PUT', '/v1/screen', { body: BAD_BODIES['an unknown member'] })).json().message, /colour/);
  const status = await daemon.json('GET', '/v1/status');
  assert.deepEqual([status.screen.width, status.screen.height], [640, 480]);
});

boxTest('bodies and headers that are too large', async (box) => {
  const { daemon } = await box.startScreen(small);
  const told = await rawRequest(daemon.socket,
    'PUT /v1/screen HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n', { until: /HTTP\/1.1 \d+/ });
  assert(told.isClosed || /^HTTP\/1.1 413/.test(told.text), told.text.slice(0, 200));
  const sent = await daemon.request('PUT', '/v1/screen', { body: Buffer.alloc(80 << 20, 'x') }).catch((error) => error);
  assert(sent instanceof Error || sent.status === 413, `${sent.status}`);
  const header = await rawRequest(daemon.socket,
    `GET /v1/status HTTP/1.1\r\nHost: x\r\nX-Long: ${'y'.repeat(300000)}\r\n\r\n`, { until: /HTTP\/1.1 \d+/ });
  assert(header.isClosed || /^HTTP\/1.1 4\d\d/.test(header.text), header.text.slice(0, 200));
  const many = await rawRequest(daemon.socket,
    `GET /v1/status HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(100000)}\r\n`, { until: /HTTP\/1.1 \d+/ });
  assert(many.isClosed || /^HTTP\/1.1 4\d\d/.test(many.text), many.text.slice(0, 200));
  const endless = await rawRequest(daemon.socket, `GET /${'z'.repeat(500000)}`, { until: /HTTP\/1.1 \d+/, timeoutMs: 20000 });
  assert(endless.isClosed || /^HTTP\/1.1 4\d\d/.test(endless.text), endless.text.slice(0, 200));
  await daemon.shot();
});

const NOT_HTTP = {
  garbage: '\x00\x01\x02\xff\xfe\r\n\r\n',
  'a TLS hello': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'another protocol': 'SSH-2.0-OpenSSH_9.2\r\n',
  'no version': 'GET /v1/status\r\n\r\n',
  'a strange version': 'GET /v1/status HTTP/9.9\r\nHost: x\r\n\r\n',
  'a NUL in the path': 'GET /v1/sta\0tus HTTP/1.1\r\nHost: x\r\n\r\n',
  'an encoded NUL': 'GET /v1/status%00 HTTP/1.1\r\nHost: x\r\n\r\n',
  'a broken escape': 'GET /v1/shot?region=%zz HTTP/1.1\r\nHost: x\r\n\r\n',
  'half an escape': 'GET /v1/status% HTTP/1.1\r\nHost: x\r\n\r\n',
  'no path': 'GET  HTTP/1.1\r\nHost: x\r\n\r\n',
  'a path without slash': 'GET v1/status HTTP/1.1\r\nHost: x\r\n\r\n',
  'a negative length': 'PUT /v1/screen HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n',
  'a length that is no number': 'PUT /v1/screen HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n',
  'two lengths': 'PUT /v1/screen HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}}',
  'length and chunks': 'PUT /v1/screen HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'a header without colon': 'GET /v1/status HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n',
  'a header with a NUL': 'GET /v1/status HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n',
  'a folded header': 'GET /v1/status HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n',
  'a blank before the colon': 'GET /v1/status HTTP/1.1\r\nHost : x\r\n\r\n',
  'an unknown method': 'BREW /v1/status HTTP/1.1\r\nHost: x\r\n\r\n',
  'a WebSocket upgrade': 'GET /v1/status HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  'an h2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'an endless path of escapes': `GET /${'%41'.repeat(20000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
};

boxTest('bytes that are no good HTTP: an answer or a close, never silence, never the end', async (box) => {
  const { daemon } = await box.startScreen(small);
  for (const [what, bytes] of Object.entries(NOT_HTTP)) {
    const reply = await rawRequest(daemon.socket, bytes, { until: /^HTTP\/1\.[01] \d+[^]*\r\n\r\n/, ends: true, timeoutMs: 15000 });
    assert(!reply.timedOut, `${what}: silence`);
    const status = Number(reply.text.match(/^HTTP\/1\.[01] (\d+)/)?.[1]);
    // Being lenient is allowed where nothing can be mistaken: 200 for the harmless ones.
    assert(reply.isClosed || status, `${what}: ${reply.text.slice(0, 100)}`);
    assert(!(status >= 500) || status === 501 || status === 505, `${what}: ${status}`);
    assert.equal((await daemon.request('GET', '/v1/status')).status, 200, what);
  }
});

boxTest('chunked bodies are read, or refused clearly', async (box) => {
  const { daemon } = await box.startScreen({ width: 640, height: 480 });
  const reply = await rawRequest(daemon.socket,
    'PUT /v1/screen HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"wid\r\n17\r\nth":320,"height":240}  \r\n0\r\n\r\n',
    { until: /^HTTP\/1\.1 \d+[^]*\r\n\r\n/ });
  assert.match(reply.text, /^HTTP\/1.1 (200|400|411|501)/);
  await daemon.shot();
});

boxTest('pipelined requests are answered in order', async (box) => {
  const { daemon } = await box.startScreen(small);
  const one = (path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const reply = await rawRequest(daemon.socket, one('/v1/status') + one('/v1/nosuch') + one('/healthz') + one('/v1/windows'),
    { until: /([^]*HTTP\/1\.1 \d+){4}[^]*windows/, timeoutMs: 8000 });
  const codes = [...reply.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
  assert.deepEqual(codes, ['200', '404', '200', '200'].slice(0, codes.length));
  assert(codes.length === 4 || reply.isClosed, `${codes}`);
  assert.equal((await daemon.request('GET', '/v1/status')).status, 200);
});

boxTest('one connection is good for many requests', async (box) => {
  const { daemon } = await box.startScreen(small);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = 0; i < 200; i++) {
    assert.equal((await daemon.request('GET', i % 2 ? '/v1/status' : '/v1/shot', { agent })).status, 200);
  }
  agent.destroy();
});

boxTest('requests that come in drops are answered; half ones do not stay for ever', async (box) => {
  const { daemon } = await box.startScreen(small);
  const bytes = 'PUT /v1/screen HTTP/1.1\r\nHost: x\r\nContent-Length: 29\r\n\r\n{"width":320,"height":"small"}';
  const reply = await new Promise((resolve) => {
    const socket = net.connect(daemon.socket);
    let at = 0, text = '';
    const drip = setInterval(() => {
      if (at >= bytes.length) clearInterval(drip);
      else socket.write(bytes.slice(at, at += 3));
    }, 5);
    socket.on('data', (data) => { text += data; clearInterval(drip); socket.destroy(); resolve(text); });
    socket.on('error', () => {});
    socket.on('close', () => { clearInterval(drip); resolve(text); });
  });
  assert.match(reply, /^HTTP\/1.1 400/);
  const half = await Promise.all(['GET /v1/st', 'GET /v1/status HTTP/1.1\r\nHost: x\r\n',
    'PUT /v1/screen HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"width"'].map((text) =>
    rawRequest(daemon.socket, text, { timeoutMs: 60000 })));
  for (const answer of half) assert(answer.isClosed, 'a half request is closed in the end');
  await daemon.shot();
});

boxTest('peers that go away in the middle of anything', async (box) => {
  const { daemon, env } = await box.startScreen();
  await box.paint(env, 'pattern');
  await daemon.shot();
  const before = daemon.usage();
  const targets = ['/v1/shot', '/v1/shot?wait=change&timeout_ms=60000', '/v1/events', '/v1/shot?wait=stable&quiet_ms=5000'];
  for (let i = 0; i < 200; i++) {
    await new Promise((resolve) => {
      const socket = net.connect(daemon.socket, () => {
        socket.write(`GET ${targets[i % targets.length]} HTTP/1.1\r\nHost: x\r\n\r\n`);
        setTimeout(() => socket.destroy(), i % 7);
      });
      socket.on('error', () => {});
      socket.on('close', resolve);
    });
  }
  await waitFor('descriptors as before', () => daemon.usage().fds <= before.fds + 2, 10000);
  await daemon.shot();
});

boxTest('10,000 idle connections: the daemon still answers, and lets go of them', async (box, t) => {
  const { daemon } = await box.startScreen(small);
  const before = daemon.usage();
  const sockets = [];
  let refused = 0, slowest = 0;
  const open = () => new Promise((resolve) => {
    const socket = net.connect(daemon.socket);
    sockets.push(socket);
    socket.on('connect', resolve);
    socket.on('error', () => { refused++; resolve(); });
  });
  for (let batch = 0; batch < 100; batch++) {
    await Promise.all(Array.from({ length: 100 }, open));
    if (batch % 10 !== 9) continue;
    const start = performance.now();
    const reply = await waitFor('an answer', () => request(daemon.socket, 'GET', '/v1/status').catch(() => null), 5000);
    slowest = Math.max(slowest, performance.now() - start);
    assert.equal(reply.status, 200);
  }
  t.diagnostic(`${refused} of 10,000 refused; slowest status ${Math.round(slowest)} ms; ${daemon.usage().fds} descriptors`);
  await daemon.shot();
  for (const socket of sockets) socket.destroy();
  await waitFor('descriptors as before', () => daemon.usage().fds <= before.fds + 2, 10000);
  if (!isSanitized) assert(daemon.usage().rssKb - before.rssKb < 30 * 1024, JSON.stringify([before, daemon.usage()]));
});

boxTest('300 calls in wait: further ones are told so, and what ends them still gets through', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 240 });
  const opened = (await daemon.request('POST', '/v1/takeovers', { body: { note: 'Please log in' } })).json();
  const wait = () => daemon.request('GET', `/v1/takeovers/${opened.id}?wait_s=100`);
  const ends = [];
  const calls = Array.from({ length: 300 }, () => wait().then((reply) => { ends.push(reply); return reply; }));
  await waitFor('all places to be taken', () => ends.length >= 44 && ends, 20000);
  for (const reply of ends) {
    assert.deepEqual([reply.status, reply.json().error, reply.headers['retry-after']], [429, 'too_many', '1']);
  }
  assert.equal(ends.length, 44, 'as many wait as there are places');
  for (const [method, target, body] of [['GET', '/v1/shot'], ['GET', '/v1/events'], ['POST', '/v1/act', { actions: [] }],
    ['POST', '/v1/xdotool', { args: ['sleep', '1'] }], ['GET', `/v1/takeovers/${opened.id}?wait_s=1`]]) {
    const reply = await daemon.request(method, target, { body });
    assert.deepEqual([reply.status, reply.json().error], [429, 'too_many'], target);
  }
  // One after the other and several at once, with a half request beside them.
  const half = rawRequest(daemon.socket, 'GET /v1/status HT', { timeoutMs: 2000 });
  const brief = await Promise.all(Array.from({ length: 8 }, () => daemon.json('GET', '/v1/status')));
  assert.equal(brief[7].takeover.id, opened.id);
  assert.equal((await daemon.json('GET', `/v1/takeovers/${opened.id}`)).state, 'open');
  assert.equal((await daemon.request('GET', '/healthz')).status, 200);
  // The person hands back: all who waited are answered, and there is room again.
  const session = await openSession(opened.url);
  assert.equal((await session.call('takeover', {})).status, 200);
  assert.equal((await session.call('hand_back', { message: 'done so' })).status, 200);
  const replies = await Promise.all(calls);
  assert.equal(replies.filter(({ status }) => status === 200).length, 256);
  assert(replies.every((reply) => reply.status === 429 || reply.json().message === 'done so'));
  assert.equal((await daemon.request('GET', '/v1/shot')).status, 200);
  await half;
  // The same with cancelling.
  const next = (await daemon.request('POST', '/v1/takeovers', { body: { note: 'Once more' } })).json();
  const again = Array.from({ length: 270 }, () => daemon.request('GET', `/v1/takeovers/${next.id}?wait_s=100`));
  await Promise.race(again);
  assert.equal((await daemon.request('POST', `/v1/takeovers/${next.id}/cancel`, { body: {} })).status, 200);
  assert((await Promise.all(again)).filter(({ status }) => status === 200).length >= 256);
});

boxTest('events: ids, resuming without loss, and a gap that is told', async (box) => {
  const { daemon } = await box.startScreen(small);
  const first = followEvents(daemon.socket);
  await first.connected;
  assert.equal(first.status, 200);
  const cause = (n) => daemon.json('POST', '/v1/shots', { body: { path: box.file(`${n}.png`) } });
  for (let i = 0; i < 5; i++) await cause(i);
  await waitFor('five events', () => first.events.filter((e) => e.type === 'shot').length >= 5);
  const seen = first.events.filter((e) => e.type === 'shot');
  assert.equal(new Set(first.events.map((e) => e.id)).size, first.events.length, 'ids are unique');
  first.close();
  for (let i = 5; i < 8; i++) await cause(i);
  const second = followEvents(daemon.socket, { lastId: seen[1].id });
  await second.connected;
  await waitFor('the missed events', () => second.events.filter((e) => e.type === 'shot').length >= 6);
  assert.deepEqual(second.events.filter((e) => e.type === 'shot').slice(0, 3).map((e) => e.id),
    seen.slice(2, 5).map((e) => e.id));
  assert(!second.events.some((e) => e.type === 'gap'));
  second.close();
  const stranger = followEvents(daemon.socket, { lastId: 'from-another-life-5' });
  await stranger.next('gap');
  stranger.close();
});

boxTest('events: a reader that does not read holds nobody up', async (box) => {
  const { daemon } = await box.startScreen(small);
  const socket = net.connect(daemon.socket);
  await new Promise((resolve) => socket.on('connect', resolve));
  socket.write('GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n');
  socket.pause();
  socket.on('error', () => {});
  const reader = followEvents(daemon.socket);
  await reader.connected;
  const before = daemon.usage();
  for (let i = 0; i < 500; i++) await daemon.json('POST', '/v1/shots', { body: { path: box.file('x.png') } });
  await waitFor('all events', () => reader.events.filter((e) => e.type === 'shot').length >= 500);
  if (!isSanitized) assert(daemon.usage().rssKb - before.rssKb < 20 * 1024);
  socket.destroy();
  reader.close();
});

boxTest('windows: ids, titles, places, the one that is gone', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 800, height: 600 });
  assert.deepEqual((await daemon.json('GET', '/v1/windows')).windows, []);
  box.spawn('xterm', ['-title', 'Grüße – 你好', '-geometry', '40x10+30+40'], { env });
  const window = await waitFor('the window', async () =>
    (await daemon.json('GET', '/v1/windows')).windows.find((w) => w.title === 'Grüße – 你好'));
  assert.equal(window.class, 'XTerm');
  assert(window.width > 100 && window.height > 50 && Math.abs(window.x - 30) < 5 && Math.abs(window.y - 40) < 5,
    JSON.stringify(window));
  const shot = await daemon.shot(`?window=${window.id}`);
  assert.deepEqual([shot.width, shot.height], [window.width, window.height]);
});

boxTest('clipboard: text as it is, primary, picture, none, long, an owner that hangs', async (box) => {
  const { daemon, env } = await box.startScreen(small);
  const none = await daemon.request('GET', '/v1/clipboard');
  assert([204, 404].includes(none.status) || (none.status === 200 && none.body.length === 0), `${none.status}`);
  const put = (text, args = []) => box.run('sh', ['-c', 'xclip "$@" >/dev/null 2>&1', 'sh', ...args], { env, input: text });
  for (const text of ['Grüße 你好 😀\nline 2\n', 'x'.repeat(3 << 20), ' ', '\u0001\u001b[31m']) {
    await put(text, ['-selection', 'clipboard']);
    // xclip returns before the server has its request.
    const reply = await waitFor(`${text.length} bytes of text`, async () => {
      const now = await daemon.request('GET', '/v1/clipboard');
      return now.status === 200 && now.body.equals(Buffer.from(text)) && now;
    });
    assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8');
  }
  await put('selected', ['-selection', 'primary']);
  await waitFor('the selection', async () =>
    (await daemon.request('GET', '/v1/clipboard?selection=primary')).body.toString() === 'selected');
  const png = (await daemon.request('GET', '/v1/shot')).body;
  fs.writeFileSync(box.file('clip.png'), png);
  await box.ok('sh', ['-c', 'xclip -selection clipboard -t image/png clip.png >/dev/null 2>&1'], { env });
  const picture = await waitFor('the picture', async () => {
    const now = await daemon.request('GET', '/v1/clipboard?type=image/png');
    return now.status === 200 && now.body.equals(png) && now; // the xclip before serves text as any type
  });
  assert.equal(picture.headers['content-type'], 'image/png', `${picture.status}`);
  assert.equal(readPng(picture.body).width, 320);
  const owner = box.spawn('xclip', ['-selection', 'clipboard', '-quiet', '-in', 'clip.png'], { env });
  // It has the selection, and the daemon has asked it for what it copied.
  await waitFor('the owner', () => /request number 2/.test(owner.log()));
  process.kill(owner.pid, 'SIGSTOP');
  const hung = await daemon.request('GET', '/v1/clipboard');
  process.kill(owner.pid, 'SIGCONT');
  assert.equal(hung.status, 504);
  assert.equal((await daemon.request('GET', '/v1/status')).status, 200);
  assert.equal((await daemon.request('GET', '/v1/clipboard?selection=third')).status, 400);
});
