// SPDX-License-Identifier: GPL-2.0-or-later
//
// The live screen over the page's address: the WebSocket, who gets one (origins, names, secrets, links that
// are revoked), and the page's files.
import assert from 'node:assert/strict';
import { boxTest, waitFor } from './harness.mjs';
import { getTicket, openSession, post, takeApart, WebSocketClient } from './websocket.mjs';
import { makeLink } from './browsers.mjs';
import { startLive } from './live.mjs';

boxTest('V07: subprotocols', async (box) => {
  const { daemon } = await startLive(box);
  const { base } = takeApart(await makeLink(daemon, 'view'));
  const { json: { session } } = await post(`${base}/session`, takeApart(await makeLink(daemon, 'view')));
  const headers = { Authorization: `Bearer ${session}` };
  for (const [protocols, answer] of [[['binary'], 'binary'], [['foo', 'binary'], 'binary'],
    [['binary', 'base64'], 'binary'], [[], undefined]]) {
    const socket = await WebSocketClient.connect(`${base}/live`, { protocols, headers });
    assert.equal(socket.status, 101);
    assert(socket.acceptIsRight);
    assert.equal(socket.headers['sec-websocket-protocol'], answer);
    assert.equal(socket.headers['sec-websocket-extensions'], undefined);
    socket.destroy();
  }
  const refused = await WebSocketClient.connect(`${base}/live`, { protocols: ['foo'], headers });
  assert.equal(refused.status, 400);
});

boxTest('V05: pongs, pings and closes; fragments; three bytes at a time', async (box) => {
  const { daemon } = await startLive(box);
  const socket = await WebSocketClient.live(await makeLink(daemon, 'control'));
  socket.pieceSize = 3;
  const client = await socket.rfb().open();
  socket.frame(10);                               // an unsolicited pong
  socket.frame(9, Buffer.alloc(125, 'p'));
  await waitFor('the pong', () => socket.pongs.some((pong) => pong.length === 125));
  // An update request in four fragments, with a ping between them.
  const request = Buffer.from([3, 0, 0, 0, 0, 0, 5, 0, 3, 32]);
  socket.frame(2, request.subarray(0, 3), false);
  socket.frame(0, request.subarray(3, 4), false);
  socket.frame(9, Buffer.from('between'));
  socket.frame(0, request.subarray(4, 9), false);
  socket.frame(0, request.subarray(9), true);
  await waitFor('the update', () => client.updates > 0);
  await waitFor('the other pong', () => socket.pongs.some((pong) => pong.toString() === 'between'));
  socket.tell({ t: 'ping', id: 5 });
  await waitFor('hello, state and pong', () => ['hello', 'state', 'pong'].every((t) => socket.texts.some((text) => text.t === t)));
  const code = Buffer.alloc(2);
  code.writeUInt16BE(1000);
  socket.frame(8, code);
  await socket.closed;
  assert.equal(socket.closeCode, 1000, 'Close is answered');
});

boxTest('T03 T09 V32: origins, names and secrets', async (box) => {
  const { daemon } = await startLive(box);
  const link = await makeLink(daemon, 'view');
  const { base, token } = takeApart(link);
  const protocolsOf = async () => ['binary', `ticket.${await getTicket(link)}`];
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1', `${new URL(base).origin}.evil.example`]) {
    const socket = await WebSocketClient.connect(`${base}/live`, { protocols: await protocolsOf(), headers: { Origin: origin } });
    assert.equal(socket.status, 403, origin);
  }
  const own = await WebSocketClient.connect(`${base}/live`, { protocols: await protocolsOf(), headers: { Origin: new URL(base).origin } });
  assert.equal(own.status, 101);
  own.destroy();
  const rebound = await WebSocketClient.connect(`${base}/live`, { protocols: await protocolsOf(), headers: { Host: 'evil.example' } });
  assert.equal(rebound.status, 403);
  // Wrong secrets all look the same; then the right one works.
  const answers = [];
  const otherCase = token.replace(/[a-zA-Z]/, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()));
  for (const wrong of [`${token}12345`, token.slice(0, -1), otherCase, '', 'x'.repeat(5000)])
    answers.push((({ status, text }) => `${status} ${text}`)(await post(`${base}/session`, { token: wrong })));
  assert.equal(new Set(answers).size, 1, answers.join('\n'));
  assert.match(answers[0], /^401 /);
  assert.equal((await post(`${base}/session`, { token })).status, 200);
  // A ticket is good once, and what is no ticket closes with 4401.
  const protocols = await protocolsOf();
  const once = await WebSocketClient.connect(`${base}/live`, { protocols });
  assert.equal((await once.rfb().open()).width, 1280);
  for (const bad of [protocols, ['binary', 'ticket.nonsense'], ['binary']]) {
    const socket = await WebSocketClient.connect(`${base}/live`, { protocols: bad });
    assert.equal(await socket.closed, 4401);
  }
  // Without an Origin only a native tool gets in, which shows its session.
  const { key } = await openSession(link);
  const bare = { Origin: undefined };
  assert.equal((await WebSocketClient.connect(`${base}/live`, { protocols: await protocolsOf(), headers: bare })).status, 403);
  const native = await WebSocketClient.connect(`${base}/live`,
    { protocols: ['binary'], headers: { ...bare, Authorization: `Bearer ${key}` } });
  assert.equal(native.status, 101);
  native.destroy();
  once.destroy();
});

boxTest('the page is one static shell, its files never change under their names', async (box) => {
  const { daemon } = await startLive(box);
  const url = takeApart(await makeLink(daemon, 'view')).base;
  const shell = await fetch(url);
  const text = await shell.text();
  assert.equal(shell.status, 200);
  assert.equal(text, await (await fetch(`${url}?t=whatever`)).text());
  assert.equal(shell.headers.get('cache-control'), 'no-store');
  assert.match(shell.headers.get('content-security-policy'), /default-src 'none'.*frame-ancestors 'self'/);
  const names = [...text.matchAll(/\.\.\/assets\/([^"]+)/g)].map((match) => match[1]);
  assert(names.length >= 2);
  let total = 0;
  for (const name of names) {
    const asset = await fetch(new URL(`/assets/${name}`, url));
    assert.match(asset.headers.get('cache-control'), /immutable/);
    assert.match(asset.headers.get('content-encoding'), /br|gzip/);
    total += Number(asset.headers.get('content-length'));
    await asset.arrayBuffer();
  }
  assert(total < 90000, `${total} bytes compressed`);
  for (const path of ['/assets/index.html', '/assets/../box/x', '/assets/%2e%2e/etc/passwd', '/assets/nothing.js'])
    assert.equal((await fetch(new URL(path, url))).status >= 400, true, path);
});

boxTest('a revoked link opens nothing more', async (box) => {
  const { daemon } = await startLive(box);
  const made = (await daemon.request('POST', '/v1/links', { body: { role: 'view' } })).json();
  const ticket = await getTicket(made.url);
  assert.equal((await daemon.request('DELETE', `/v1/links/${made.id}`)).status, 204);
  const { base, token } = takeApart(made.url);
  assert.equal((await post(`${base}/session`, { token })).status, 401);
  const socket = await WebSocketClient.connect(`${base}/live`, { protocols: ['binary', `ticket.${ticket}`] });
  assert.equal(await socket.closed, 4401);
});
