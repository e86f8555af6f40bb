// SPDX-License-Identifier: GPL-2.0-or-later
//
// What strangers, previews, proxies and other people's pages do to the links and the page: the T cases
// of the collected reports that concern the web, headers, TLS, guesses, and what the log tells.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import { boxTest, patience, programs, waitFor } from './harness.mjs';
import { makeLink } from './browsers.mjs';
import { control, openTakeover, Person, startBox } from './takeovers.mjs';
import { openSession, post, takeApart, WebSocketClient } from './websocket.mjs';

const HEADERS = {
  'content-security-policy': "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    + "connect-src 'self'; manifest-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'permissions-policy': 'clipboard-read=(self), clipboard-write=(self), fullscreen=(self), screen-wake-lock=(self)',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-robots-tag': 'noindex, nofollow, noarchive',
  'cache-control': 'no-store',
};

/** Any request; {status, headers, text}. */
function ask(url, { method = 'GET', headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const call = http.request(url, { method, headers, agent: false }, (reply) => {
      let text = '';
      reply.on('data', (data) => { text += data; });
      reply.on('end', () => resolve({ status: reply.statusCode, headers: reply.headers, text }));
    });
    call.on('error', reject);
    call.end(body);
  });
}

const AGENTS = ['Slackbot-LinkExpanding 1.0', 'facebookexternalhit/1.1', 'WhatsApp/2.23', 'Mozilla/5.0 (prefetch)'];

boxTest('T01: previews, prefetches and HEADs spend nothing, start no clock, lock nobody', async (box) => {
  const { daemon } = await startBox(box);
  const { url, id } = await openTakeover(daemon, { timeout_s: 300 });
  const before = await daemon.json('GET', `/v1/takeovers/${id}`);
  const bodies = new Set();
  for (let i = 0; i < 20; i++) {
    const reply = await ask(url, { method: i % 4 === 3 ? 'HEAD' : 'GET',
      headers: { 'User-Agent': AGENTS[i % 4], ...(i % 2 ? { Cookie: 'a=b', Purpose: 'prefetch' } : {}) } });
    assert.equal(reply.status, 200);
    assert.equal(reply.headers['set-cookie'], undefined);
    if (reply.text) bodies.add(reply.text);
  }
  for (const other of [url.replace(/t=.*/, 't=wrong'), url.split('?')[0], `${url.split('?')[0]}?t=${'x'.repeat(3000)}`])
    bodies.add((await ask(other)).text);
  assert.equal(bodies.size, 1, 'one shell for every token');
  // A preview that runs scripts goes as far as the session, the state and a look.
  for (let i = 0; i < 10; i++) await openSession(url);
  const robot = await Person.at(box, url);
  await robot.connect();
  const after = await daemon.json('GET', `/v1/takeovers/${id}`);
  for (const name of ['state', 'opened_at', 'expires_at', 'version']) assert.equal(after[name], before[name], name);
  assert.equal((await control(daemon)).locked, false);
  const person = await Person.holding(box, url);
  assert.equal((await person.call('hand_back', {})).status, 200);
});

boxTest('T03: foreign, null and missing origins, and foreign hosts, reach nothing', async (box) => {
  const { daemon } = await startBox(box, { args: ['--allow-origin', 'https://app.example.org'] });
  const { url } = await openTakeover(daemon);
  const { base, token } = takeApart(url);
  const session = await openSession(url);
  const protocols = async () => ['binary', `ticket.${(await session.call('ticket')).json.ticket}`];
  const own = new URL(base).origin;
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1', `${own}.evil.example`, `${own}/`, 'https://app.example.org.evil',
    'https://app.example.org:444', 'http://app.example.org', '', 'file://', `${own} https://app.example.org`]) {
    const socket = await WebSocketClient.connect(`${base}/live`, { protocols: await protocols(), headers: { Origin: origin, Cookie: 'session=1' } });
    assert.equal(socket.status, 403, `socket from ${origin}`);
    const reply = await post(`${base}/session`, { token }, { Origin: origin });
    assert.equal(reply.status, 403, `session from ${origin}`);
    assert.equal((await post(`${base}/takeover`, {}, { ...session.headers, Origin: origin })).status, 403, `takeover from ${origin}`);
  }
  for (const origin of [own, 'https://app.example.org']) {
    const socket = await WebSocketClient.connect(`${base}/live`, { protocols: await protocols(), headers: { Origin: origin } });
    assert.equal(socket.status, 101, origin);
    socket.destroy();
  }
  // A page of the allowed origin may call, preflight and all; nobody else is told anything.
  for (const [origin, allowed] of [['https://app.example.org', true], ['https://evil.example', false], [own, false]]) {
    const preflight = await ask(`${base}/state`, { method: 'OPTIONS', headers: { Origin: origin, 'Access-Control-Request-Headers': 'authorization' } });
    assert.deepEqual([preflight.status, preflight.headers['access-control-allow-origin']], allowed ? [204, origin] : [405, undefined]);
    const reply = await ask(`${base}/state`, { headers: { ...session.headers, Origin: origin } });
    assert.equal(reply.headers['access-control-allow-origin'], allowed ? origin : undefined);
    assert.equal(reply.headers['access-control-allow-credentials'], undefined);
  }
  const missing = await WebSocketClient.connect(`${base}/live`, { protocols: await protocols(), headers: { Origin: undefined } });
  assert.equal(missing.status, 403);
  const native = await WebSocketClient.connect(`${base}/live`, { headers: { Origin: undefined, ...session.headers } });
  assert.equal(native.status, 101, 'a native tool shows its session');
  native.destroy();
  for (const host of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil:80', '192.0.2.1', '127.0.0.1:x', '127.0.0.1:112111']) {
    for (const target of [base, `${base}/session`, `${base}/live`]) {
      const reply = await ask(target, { headers: { Host: host } }).catch(() => ({ status: 400 }));
      assert(reply.status === 403 || reply.status === 400, `${host} ${target}: ${reply.status}`);
    }
  }
  assert.equal((await control(daemon)).locked, false);
});

boxTest('T05 redaction: no token, text, key, clipboard or note in any log at debug level, nor on a command line', async (box) => {
  const secrets = { typed: 'S3kretTyped', note: 'NoteWithPin4711', said: 'SaidPin4712', message: 'MessagePin4713',
    clip: 'ClipPin4714', noted: 'NotedPin4715' };
  const { daemon } = await startBox(box, { args: ['--log-level', 'debug'] });
  const { url } = await openTakeover(daemon, { note: secrets.note, instructions: [secrets.note] });
  const { base, token } = takeApart(url);
  const person = await Person.holding(box, url);
  const { ticket } = (await person.call('ticket')).json;
  const share = (await person.call('share')).json.url;
  person.socket.tell({ t: 'text', id: '1', s: secrets.typed, enter: true });
  person.socket.tell({ t: 'clipboard', text: secrets.clip });
  person.socket.tell({ t: 'clipboard' });
  await person.told('clipboard');
  for (const letter of secrets.typed) person.screen.tap(letter.codePointAt(0));
  await daemon.request('POST', '/v1/say', { body: { text: secrets.said } });
  await person.call('note', { text: secrets.noted });
  await post(`${base}/session`, { token: `${token}x` });
  await ask(`${base}/nothing?t=${token}`);
  await ask(url, { headers: { Authorization: `Bearer ${person.session.key}`, 'Bad Header': 'x' } }).catch(() => {});
  for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    let line = '';
    try { line = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8'); } catch { continue; }
    assert(!line.includes(token) && !line.includes(person.session.key), `the command line of ${pid}`);
  }
  await person.call('hand_back', { outcome: 'done', message: secrets.message });
  await person.socket.closed;
  await daemon.stop();
  const log = daemon.log();
  assert.match(log, /takeover: t-[0-9a-f]+ is handed_back/, 'there is a log to look at');
  const words = [...Object.values(secrets), token, person.session.key, ticket, takeApart(share).token];
  for (const word of words) assert(!log.includes(word), `the log holds ${word}`);
  assert(!/keysym|0x53\b/i.test(log), 'keysyms');
  const state = fs.readFileSync(box.file('state0/takeover.json'), 'utf8');
  for (const word of [token, person.session.key, ticket, secrets.typed, secrets.clip]) assert(!state.includes(word), `the file holds ${word}`);
  assert.equal(fs.statSync(box.file('state0/takeover.json')).mode & 0o777, 0o600);
});

boxTest('T05 T14: the exact headers on every status', async (box) => {
  const { daemon } = await startBox(box);
  const { url } = await openTakeover(daemon);
  const { base } = takeApart(url);
  const person = await Person.at(box, url);
  const { port } = new URL(base);
  const seen = {};
  const check = (what, status, headers) => {
    seen[status] = true;
    for (const [name, value] of Object.entries(HEADERS)) assert.equal(headers[name], value, `${what} (${status}): ${name}`);
    assert.equal(headers['set-cookie'], undefined);
    assert.equal(headers.server, undefined);
  };
  for (const [what, options] of [[url, {}], [url, { method: 'HEAD' }], [`${base}/state`, {}], [`${base}/state`, { method: 'DELETE' }],
    [`${base}/session`, { method: 'POST', body: '{"token":"x"}' }], [`${base}/session`, { method: 'POST', body: 'nonsense' }],
    [`${base}/takeover`, { method: 'POST', headers: { Origin: 'null' } }], [`${base}/live`, { headers: { Origin: new URL(base).origin } }],
    [`${base}/hand_back`, { method: 'POST', headers: person.session.headers, body: '{"outcome":"x"}' }],
    [`${base}/hand_back`, { method: 'POST', headers: person.session.headers }],
    [`${base}/share`, { method: 'POST', headers: person.session.headers }], [`${base}/files/x?s=1`, {}],
    [new URL('/', base), {}], [new URL('/assets/no.js', base), {}], [`${base}/session`, { method: 'POST', body: 'x'.repeat(70000) }]]) {
    const reply = await ask(what, options);
    check(`${options.method ?? 'GET'} ${what}`, reply.status, reply.headers);
  }
  const socket = await WebSocketClient.ofSession(person.session);
  check('the handshake', socket.status, socket.headers);
  socket.destroy();
  for (const bytes of ['nonsense\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20000)}\r\n\r\n`, 'GET / HTTP/9.9\r\nHost: x\r\n\r\n']) {
    const { text } = await rawTcp(port, bytes);
    const [head] = text.split('\r\n\r\n');
    const [first, ...lines] = head.split('\r\n');
    check(bytes.slice(0, 20), Number(first.split(' ')[1]),
      Object.fromEntries(lines.map((line) => [line.split(': ')[0].toLowerCase(), line.slice(line.indexOf(': ') + 2)])));
  }
  for (const status of [101, 200, 201, 400, 401, 403, 404, 405, 409, 413, 431]) assert(seen[status], `status ${status} was seen`);
  const page = (await ask(url)).text;
  for (const [, name] of page.matchAll(/assets\/([^"]+)/g)) {
    const asset = await ask(new URL(`/assets/${name}`, base));
    assert.match(asset.headers['cache-control'], /immutable/);
    assert.equal(asset.headers['content-security-policy'], HEADERS['content-security-policy']);
  }
  assert(!/https?:\/\/(?!127\.0\.0\.1)/.test(page), 'no third party in the page');
  const framed = await startBox(box, { args: ['--frame-ancestors', 'https://app.example.org', '--frame-ancestors', 'https://b.example'] });
  const other = await openTakeover(framed.daemon);
  assert.match((await ask(other.url)).headers['content-security-policy'],
    /frame-ancestors 'self' https:\/\/app\.example\.org https:\/\/b\.example$/);
});

/** Bytes to a TCP port, all that comes back until it closes. */
function rawTcp(port, bytes, timeoutMs = 5000) {
  return new Promise((resolve) => {
    const socket = net.connect(Number(port), '127.0.0.1');
    let text = '';
    const timer = setTimeout(() => socket.destroy(), timeoutMs);
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', (data) => { text += data.toString('latin1'); });
    socket.on('error', () => {});
    socket.on('close', () => { clearTimeout(timer); resolve({ text }); });
  });
}

boxTest('T07: files come from the manifest, never from a path', async (box) => {
  const { daemon } = await startBox(box);
  const { url } = await openTakeover(daemon);
  const { port, pathname } = new URL(url);
  for (const path of ['/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd', '/assets/%2e%2e/%2e%2e/etc/passwd', '/assets/..%2f..%2fetc%2fpasswd',
    '//etc/passwd', '/assets//etc/passwd', `${pathname}/../../etc/passwd`, `${pathname}/files/..%2f..%2fetc/passwd`, '/assets/page.ts', '/assets/%00']) {
    const { text } = await rawTcp(port, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
    assert.match(text, /^HTTP\/1\.1 (400|403|404) /, path);
    assert(!text.includes('root:'), path);
  }
});

boxTest('T09: tokens are exact; wrong, expired, spent, revoked and unknown look the same', async (box) => {
  const { daemon } = await startBox(box);
  const { url } = await openTakeover(daemon);
  const { base, token } = takeApart(url);
  const done = await openTakeover(daemon);
  const expired = takeApart(await makeLink(daemon, 'view', 1)).token;
  const revoked = (await daemon.request('POST', '/v1/links', { body: {} })).json();
  await daemon.request('DELETE', `/v1/links/${revoked.id}`);
  await sleep(1100);
  const flipped = token.replace(/[a-zA-Z]/, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()));
  const session = await openSession(done.url);
  const kinds = { longer: `${token}12345`, shorter: token.slice(0, -1), 'other case': flipped, expired, revoked: takeApart(revoked.url).token,
    unknown: crypto.randomBytes(32).toString('base64url'), empty: '', 'a session': session.key };
  const answers = new Set();
  for (const [kind, wrong] of Object.entries(kinds)) {
    const reply = await post(`${base}/session`, { token: wrong });
    assert.equal(reply.status, 401, kind);
    answers.add(reply.text);
  }
  for (const body of ['', '[]', '{}', '{"token":1}', `{"token":"${token}","x":1}`]) answers.add((await post(`${base}/session`, body)).text);
  assert.equal(answers.size, 1, [...answers].join('\n'));
  // Spent: the session of a takeover that was handed back.
  await session.call('takeover');
  await session.call('hand_back', {});
  answers.add((await session.call('takeover')).text);
  assert.equal(answers.size, 1);
});

boxTest('guesses are slowed down; the owner at the same address is not', async (box) => {
  const { daemon } = await startBox(box);
  const { url } = await openTakeover(daemon);
  const { base, token } = takeApart(url);
  const guess = () => post(`${base}/session`, { token: crypto.randomBytes(32).toString('base64url') });
  const start = performance.now();
  for (let i = 0; i < 10; i++) assert.equal((await guess()).status, 401);
  const free = performance.now() - start;
  const late = performance.now();
  assert.equal((await guess()).status, 401);
  assert(performance.now() - late >= 450, 'the eleventh is late');
  // A flood: what waits is bounded, and right tokens pass at once all the while.
  const flood = Array.from({ length: 100 }, guess);
  await sleep(300);
  for (let i = 0; i < 5; i++) {
    const begin = performance.now();
    assert.equal((await post(`${base}/session`, { token })).status, 200);
    assert(performance.now() - begin < Math.max(400, free * 3) * patience, 'a right token waits for nothing');
  }
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  assert(statuses.filter((status) => status === 401).length >= 1 && statuses.includes(429));
  assert(statuses.every((status) => status === 401 || status === 429));
  const person = await Person.holding(box, url);
  assert.equal((await person.call('hand_back', {})).status, 200);
});

boxTest('T11: ten rapid visits that come to nothing, then ten valid sessions', async (box) => {
  const { daemon } = await startBox(box);
  const link = await makeLink(daemon, 'view');
  const { base } = takeApart(link);
  const { port } = new URL(base);
  for (let i = 0; i < 10; i++) {
    const socket = net.connect(Number(port), '127.0.0.1');
    await new Promise((resolve) => { socket.on('connect', resolve); });
    socket.destroy();
  }
  const sessions = await Promise.all(Array.from({ length: 10 }, () => openSession(link)));
  for (const session of sessions) {
    const socket = await WebSocketClient.ofSession(session);
    const screen = await socket.rfb().open();
    assert.equal(screen.width, 1280);
    socket.destroy();
  }
});

boxTest('tickets are good once and for their session only; nobody\'s close is another\'s', async (box) => {
  const { daemon } = await startBox(box);
  const { url } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  const { base } = person.session;
  const { ticket } = (await person.call('ticket')).json;
  const protocols = ['binary', `ticket.${ticket}`];
  const first = await WebSocketClient.connect(`${base}/live`, { protocols });
  assert.deepEqual([first.status, first.headers['sec-websocket-protocol']], [101, 'binary']);
  const second = await WebSocketClient.connect(`${base}/live`, { protocols });
  assert.equal(await second.closed, 4401);
  for (const wrong of [person.session.key, takeApart(url).token, '']) {
    const socket = await WebSocketClient.connect(`${base}/live`, { protocols: ['binary', `ticket.${wrong}`] });
    assert.equal(await socket.closed, 4401);
  }
  first.destroy();
  // A ticket is no session, a session no token.
  assert.equal((await post(`${base}/takeover`, {}, { Authorization: `Bearer ${ticket}` })).status, 401);
  assert.equal((await post(`${base}/session`, { token: person.session.key })).status, 401);
  // One link's sessions are bounded, and the holder's is never pushed out.
  for (let i = 0; i < 100; i++) await openSession(url);
  assert.equal((await person.call('note', { text: 'still here' })).status, 200);
});

boxTest('--link-token fragment, --public-url and its names', async (box) => {
  const { daemon } = await startBox(box, { args: ['--link-token', 'fragment', '--public-url', 'https://box.example.org:8443/', '--box-id', 'b1'] });
  const { url, push } = await openTakeover(daemon);
  assert.match(url, /^https:\/\/box\.example\.org:8443\/box\/b1#t=[\w-]{43}$/);
  assert.equal(push.url, url);
  const { port } = new URL(daemon.url.startsWith('https') ? 'http://x:1' : daemon.url);
  assert(port !== undefined);
  const listen = (await box.ok('ss', ['-ltnpH'])).split('\n').find((line) => line.includes(`pid=${daemon.pid},`)).match(/:(\d+)\s/)[1];
  const { token } = takeApart(url);
  const at = `http://127.0.0.1:${listen}/box/b1`;
  for (const [Host, Origin, status] of [['box.example.org:8443', 'https://box.example.org:8443', 200], ['box.example.org:8443', 'http://evil', 403],
    ['box.example.org', 'https://box.example.org:8443', 403], [`127.0.0.1:${listen}`, undefined, 200]])
    assert.equal((await post(`${at}/session`, { token }, { Host, ...(Origin ? { Origin } : {}) })).status, status, `${Host} ${Origin}`);
});

boxTest('the port that a scheme leaves out may be written, in the Host, the Origin and --public-url', async (box) => {
  const server = await box.startXvfb({ width: 320, height: 240 });
  for (const [publicUrl, right, wrong] of [
    ['https://example.org', [['example.org:443'], ['example.org'], ['EXAMPLE.org:443', 'https://example.org'], ['example.org', 'https://example.org:443'], ['example.org:443', 'https://example.org:443']],
      [['example.org:80'], ['example.org:4430'], ['example.org:'], ['example.org:443:443'], ['example.org', 'https://example.org:80'], ['example.org:443', 'http://example.org'], ['example.org', 'http://example.org'], ['example.org', 'http://example.org:443']]],
    ['http://example.org/', [['example.org:80'], ['example.org', 'http://example.org'], ['example.org:80', 'http://example.org']],
      [['example.org:443'], ['example.org:80', 'https://example.org'], ['example.org', 'https://example.org'], ['example.org', 'https://example.org:80']]],
    ['https://example.org:443/sub', [['example.org', 'https://example.org'], ['example.org:443', 'https://example.org']], [['example.org:80']]],
    ['https://[2001:db8::1]', [['[2001:db8::1]:443', 'https://[2001:db8::1]'], ['[2001:db8::1]']], [['[2001:db8::1]:80'], ['2001:db8::1']]],
  ]) {
    const daemon = await box.startDaemon({ display: server.display, args: ['--public-url', publicUrl, '--box-id', 'b1'] });
    const listen = (await box.ok('ss', ['-ltnpH'])).split('\n').find((line) => line.includes(`pid=${daemon.pid},`)).match(/:(\d+)\s/)[1];
    const { token } = takeApart((await openTakeover(daemon)).url);
    // The listener itself, by its own names: no TLS there, so no page of https:// came from it.
    right.push([`localhost:${listen}`, `http://localhost:${listen}`], [`127.0.0.1:${listen}`, `http://127.0.0.1:${listen}`], ['localhost:65535'], ['[::1]:1']);
    wrong.push([`localhost:${listen}`, `https://localhost:${listen}`], ['localhost', 'https://localhost'], [`localhost:${listen}`, `http://127.0.0.1:${listen}`],
      ['localhost:65536'], [`127.0.0.1:1${listen}1`], ['127.0.0.1:00000000000000080'], ['[::1'], ['[::1]x'], ['[::1]x:80']);
    for (const [cases, status] of [[right, 200], [wrong, 403]]) {
      for (const [Host, Origin] of cases) {
        const reply = await post(`http://127.0.0.1:${listen}/box/b1/session`, { token }, { Host, ...(Origin ? { Origin } : {}) });
        assert.equal(reply.status, status, `${publicUrl}: ${Host} ${Origin}`);
      }
    }
    await daemon.stop();
  }
});

boxTest('what is called by a wrong method says which are right', async (box) => {
  const { daemon } = await startBox(box);
  const { base } = takeApart((await openTakeover(daemon)).url);
  const saved = (await daemon.request('POST', '/v1/shots', { body: { path: box.file('x.png') } })).json();
  const shell = (await ask(base)).text;
  const asset = new URL(shell.match(/\/assets\/[\w.-]+/)[0], base).href;
  for (const [url, allowed] of [[base, 'GET, HEAD'], [asset, 'GET, HEAD'], [saved.url, 'GET, HEAD'], [`${base}/state`, 'GET'], [`${base}/live`, 'GET'],
    ...['session', 'ticket', 'takeover', 'hand_back', 'extend', 'note', 'watchers', 'share'].map((name) => [`${base}/${name}`, 'POST'])]) {
    for (const method of ['PUT', 'OPTIONS', 'DELETE', 'PATCH', 'TRACE', 'NONSENSE', allowed === 'POST' ? 'GET' : 'POST']) {
      const reply = await ask(url, { method }).catch((error) => error);
      assert.deepEqual([reply.status, reply.headers?.allow], [405, allowed], `${method} ${url}`);
      assert.equal(JSON.parse(reply.text).error, 'method_not_allowed');
    }
  }
  for (const method of ['GET', 'PUT', 'OPTIONS']) assert.equal((await ask(`${base}/nothing`, { method })).status, 404);
  assert.equal((await control(daemon)).locked, false);
});

/** A certificate for 127.0.0.1, made here. */
async function makeCertificate(box, name = 'tls') {
  const [key, cert] = [box.file(`${name}.key`), box.file(`${name}.crt`)];
  await box.ok('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', cert,
    '-days', '2', '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'], { stdio: ['ignore', 'pipe', 'ignore'] });
  return { key, cert, ca: fs.readFileSync(cert) };
}

boxTest('--tls-cert: the whole takeover over https and wss; stalls and plain HTTP are dropped', async (box) => {
  const { key, cert, ca } = await makeCertificate(box);
  const { daemon } = await startBox(box, { args: ['--tls-cert', cert, '--tls-key', key] });
  const { url } = await openTakeover(daemon);
  assert.match(url, /^https:\/\/127\.0\.0\.1:/);
  const { port, origin, pathname } = new URL(url);
  const call = (method, path, body, headers = {}) => new Promise((resolve, reject) => {
    const request = https.request(`${origin}${path}`, { method, ca, agent: false, headers }, (reply) => {
      const parts = [];
      reply.on('data', (data) => parts.push(data));
      reply.on('end', () => resolve({ status: reply.statusCode, headers: reply.headers, body: Buffer.concat(parts) }));
    });
    request.on('error', reject);
    request.end(body);
  });
  const page = await call('GET', pathname);
  assert.equal(page.status, 200);
  for (const [, name] of page.body.toString().matchAll(/assets\/([^"]+)/g)) {
    const asset = await call('GET', `/assets/${name}`);
    assert.equal(asset.body.length, Number(asset.headers['content-length']));
  }
  const saved = (await daemon.request('POST', '/v1/shots', { body: { path: box.file('x.png') } })).json();
  const { pathname: file, search } = new URL(saved.url);
  assert.deepEqual((await call('GET', file + search)).body, fs.readFileSync(box.file('x.png')));
  const { token } = takeApart(url);
  // A body of 60 kB in one record and more: what TLS has decoded must not lie there.
  assert.equal((await call('POST', `${pathname}/session`, JSON.stringify({ token: 'x'.repeat(60000) }))).status, 401);
  const session = JSON.parse((await call('POST', `${pathname}/session`, JSON.stringify({ token }))).body);
  const headers = { Authorization: `Bearer ${session.session}` };
  assert.equal((await call('POST', `${pathname}/takeover`, '{}', headers)).status, 200);
  const { ticket } = JSON.parse((await call('POST', `${pathname}/ticket`, '{}', headers)).body);
  const line = tls.connect({ port: Number(port), host: '127.0.0.1', ca });
  await new Promise((resolve) => { line.on('secureConnect', resolve); });
  const client = await WebSocketClient.over(line, new URL(`${origin}${pathname}/live`), { protocols: ['binary', `ticket.${ticket}`] });
  assert.equal(client.status, 101);
  const screen = await client.rfb().open();
  screen.setEncodings([0]);
  screen.provideText('x'.repeat(1 << 20)); // larger than one turn of the reader
  screen.request(false);
  await waitFor('a whole picture', () => screen.updates > 0, 10000);
  assert.equal((await call('POST', `${pathname}/hand_back`, '{}', headers)).status, 200);
  assert.equal(await client.closed, 4410);
  const plain = await rawTcp(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  assert(!plain.text.startsWith('HTTP'), 'no plain HTTP');
  for (const bytes of [Buffer.from('16030100', 'hex'), crypto.randomBytes(300)]) await rawTcp(port, bytes, 300);
  assert.equal((await call('GET', pathname)).status, 200);
});

boxTest('--tls-cert says what is wrong with its files', async (box) => {
  const one = await makeCertificate(box, 'one'), other = await makeCertificate(box, 'other');
  for (const [args, says] of [[['--tls-cert', one.cert], /--tls-key is missing/], [['--tls-cert', one.cert, '--tls-key', other.key], /private key|belong/],
    [['--tls-cert', '/nowhere', '--tls-key', one.key], /\/nowhere holds no certificate/]]) {
    const result = await box.run(programs.boxscreend, ['--display', ':99', '--socket', box.file('s.sock'), '--state-dir', box.file('st'), '--listen', '127.0.0.1:0', ...args]);
    assert.notEqual(result.status, 0);
    assert.match(result.stderr, says);
  }
});

boxTest('options that are wrong are refused with what they must be', async (box) => {
  for (const [args, says] of [[['--allow-origin', 'https://a/b'], /origin/], [['--allow-origin', '*'], /origin/], [['--frame-ancestors', "'none'"], /origin/],
    [['--frame-ancestors', 'https://a; script-src *'], /origin/], [['--notify', 'http://a/'], /https:/], [['--notify', 'unix:relative:/x'], /unix:/],
    ...['--public-url', '--allow-origin', '--frame-ancestors', '--notify'].flatMap((name) =>
      ['https://a\r\nX: y', 'https://a b', 'https://a\tb', 'https://a\x7f', 'https://a\x1b[2J', 'https://a\n'].map((value) => [[name, value], /must be/])),
    ...['https://', 'https:///x', 'ftp://a', 'https://a:b', 'https://a:', 'https://a:123456', 'https://a?b', 'https://a#b', 'https://u@a', 'https://[::1', 'https://bücher.example', 'https://a"b']
      .map((value) => [['--public-url', value], /must be http\(s\):\/\/HOST/]),
    [['--allow-origin', 'https://bücher.example'], /origin/], [['--frame-ancestors', 'https://a:b'], /origin/],
    [['--takeover-grace', '0'], /seconds/], [['--takeover-privacy', 'maybe'], /on or off/], [['--link-token', 'cookie'], /fragment/],
    [['--notify-secret-file', '/nowhere'], /readable file/]]) {
    const result = await box.run(programs.boxscreend, args);
    assert.equal(result.status, 2, args.join(' '));
    assert.match(result.stderr, says);
  }
});
