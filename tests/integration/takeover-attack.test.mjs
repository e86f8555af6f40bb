// SPDX-License-Identifier: GPL-2.0-or-later
//
// What an attack by people who knew only the documents came to, as kinds: who stalls, floods or sends
// nonsense costs themselves, never the person who has the screen.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { boxTest, waitFor } from './harness.mjs';
import { makeLink } from './browsers.mjs';
import { Rfb } from './rfb.mjs';
import { startTerminal } from './desk.mjs';
import { control, openTakeover, Person, startBox } from './takeovers.mjs';
import { startRecording } from './video.mjs';
import { openSession, post, takeApart, WebSocketClient } from './websocket.mjs';

boxTest('connections that never finish a request keep nobody out', async (box) => {
  const { daemon } = await startBox(box);
  const { url } = await openTakeover(daemon);
  const { base, token } = takeApart(url);
  for (const start of ['POST /x HTTP/1.1\r\nHost: 127', 'POST /box/x/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\nxx', '']) {
    const stalled = Array.from({ length: 300 }, () => {
      const socket = net.connect(Number(new URL(base).port), '127.0.0.1');
      socket.on('error', () => {});
      if (start) socket.write(start);
      return socket;
    });
    box.onClose(() => stalled.forEach((socket) => socket.destroy()));
    await Promise.all(stalled.map((socket) => socket.connecting && new Promise((resolve) => { socket.on('connect', resolve); socket.on('close', resolve); })));
    for (let i = 0; i < 5; i++) assert.equal((await post(`${base}/session`, { token })).status, 200);
  }
  const person = await Person.holding(box, url);
  assert.equal((await person.call('hand_back', {})).status, 200);
});

boxTest('requests on the control socket that never end, and answers that nobody reads, keep nobody out', async (box) => {
  const { daemon } = await startBox(box, { width: 320, height: 240 });
  const { id } = await openTakeover(daemon);
  for (const start of ['POST /v1/say HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{', 'GET /healthz HTTP/1.1\r\nHost: x\r\n',
    'POST /v1/say HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{', 'GET /v1/openapi HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(30), '']) {
    const sockets = Array.from({ length: 500 }, () => {
      const socket = net.connect(daemon.socket).pause();
      socket.on('error', () => {});
      socket.write(start);
      return socket;
    });
    box.onClose(() => sockets.forEach((socket) => socket.destroy()));
    await Promise.all(sockets.map((socket) => socket.connecting && new Promise((resolve) => { socket.on('connect', resolve); socket.on('close', resolve); })));
    for (let i = 0; i < 10; i++) assert.equal((await daemon.request('GET', '/v1/status')).status, 200, start);
    assert.equal((await daemon.request('GET', `/v1/takeovers/${id}`)).status, 200, start);
    sockets.forEach((socket) => socket.destroy());
  }
  // One that costs much is refused before it is taken apart, and answered like any other.
  const many = `{"text":[${Array(2e6).fill(1)}]}`;
  const reply = await daemon.request('POST', '/v1/say', { body: many, headers: { 'Content-Type': 'application/json' } });
  assert.deepEqual([reply.status, reply.json().error], [400, 'bad_request']);
  assert.match(reply.json().message, /more than 100000 values/);
});

boxTest('a watcher\'s link cannot use up the places of those who control, nor a session those of others', async (box) => {
  const { daemon } = await startBox(box, { width: 320, height: 240 });
  const { url } = await openTakeover(daemon);
  const session = await openSession(await makeLink(daemon, 'view'));
  const own = [];
  for (let i = 0; i < 5; i++) {
    const socket = await WebSocketClient.ofSession(session);
    own.push(socket);
    await socket.rfb().open();
  }
  assert.deepEqual([await own[0].closed, await own[1].closed], [4409, 4409]);
  assert.equal((await daemon.json('GET', '/v1/status')).viewers.length, 3);
  const link = await makeLink(daemon, 'view');
  const sockets = [];
  box.onClose(() => [...own, ...sockets].forEach((socket) => socket.destroy()));
  for (let i = 0; i < 55; i++) {
    const each = await openSession(link);
    for (let k = 0; k < 3; k++) sockets.push(await WebSocketClient.ofSession(each));
  }
  const areOpen = () => sockets.filter(({ isClosed }) => !isClosed).length;
  await waitFor('as many as may watch by one link to be left', () => areOpen() === 32);
  const person = await Person.holding(box, url);
  assert.equal((await person.call('hand_back', {})).status, 200);
}, { timeout: 240000 });

boxTest('floods of sessions, notes, texts and nonsense cost the one who sends them', async (box) => {
  const { daemon } = await startBox(box);
  const { url } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  const told = person.socket.texts.length;
  for (let i = 0; i < 4; i++) await Promise.all(Array.from({ length: 50 }, () => openSession(url)));
  assert(person.socket.texts.length - told < 5, 'nobody is told of each session');
  const statuses = [];
  for (let i = 0; i < 25; i++) statuses.push((await person.call('note', { text: 'x' })).status);
  assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.at(-1)], [20, 429]);
  for (let i = 0; i < 40; i++) person.socket.tell({ t: 'text', id: `${i}`, s: '你'.repeat(4000) });
  await waitFor('texts to be refused', () => person.socket.texts.some(({ t, message }) => t === 'text-failed' && /too many/.test(message)), 20000);
  const other = await Person.at(box, url);
  await other.connect();
  for (const nonsense of ['['.repeat(60000), '{"t":"text","id":{}}', '{"t":"text","id":"a"}', '{"t":"note","text":null}', '{"t":"hand_back","outcome":5}',
    '{"t":"nope"}', '{"t":"watchers"}', '"x"', '{"t":1}', '{"t":"clipboard","text":5}', '{"t":"extend","x":1}', '', '\0'])
    other.socket.frame(1, Buffer.from(nonsense));
  other.socket.tell({ t: 'ping', id: 'end' });
  await other.told('pong');
  other.socket.frame(1, Buffer.alloc(70000, 'x'));
  await other.socket.closed;
  assert.equal(other.socket.closeCode, 1009, 'a message that is too big');
  assert.equal((await control(daemon)).locked, true);
  assert(!daemon.end);
  assert.equal((await person.call('hand_back', {})).status, 200);
});

boxTest('a text in fragments without end is closed with 1009, also when the Close is not heard', async (box) => {
  const { daemon } = await startBox(box);
  const { url } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  const other = await Person.at(box, url);
  for (const client of [person, other]) {
    if (client === other) {
      await other.take({ confirm: true });
      await other.connect();
      other.socket.socket.removeAllListeners('data'); // deaf: goes on whatever it is told
      other.socket.socket.resume();
    }
    const { socket } = client;
    client.screen.answersFences = false; // no other message may stand between fragments
    socket.frame(1, Buffer.alloc(1000, 'x'), false);
    let sent = 1000;
    const timer = setInterval(() => {
      if (sent < 5e6) socket.frame(0, Buffer.alloc(1000, 'x'), false);
      sent += 1000;
    }, 1);
    box.onClose(() => clearInterval(timer));
    await socket.closed;
    clearInterval(timer);
    if (client === person) assert.equal(socket.closeCode, 1009);
    assert(sent < 5e6, `${sent} bytes were taken`);
  }
  // One of several fragments that is not too long is a message like any other.
  await person.take({ confirm: true });
  await person.connect();
  person.screen.answersFences = false;
  const ping = Buffer.from(JSON.stringify({ t: 'ping', id: 'x'.repeat(60000) }));
  for (let at = 0; at < ping.length; at += 1000)
    person.socket.frame(at ? 0 : 1, ping.subarray(at, at + 1000), at + 1000 >= ping.length);
  assert.equal((await person.told('pong')).id.length, 60000);
});

boxTest('what was shared ends with the link it came from; shares and buttons are bounded', async (box) => {
  const { daemon, events } = await startBox(box);
  const made = (await daemon.request('POST', '/v1/links', { body: { role: 'control' } })).json();
  const person = await Person.at(box, made.url);
  const shares = [];
  for (let i = 0; i < 20; i++) shares.push(await person.call('share'));
  assert.deepEqual(shares.map(({ status }) => status), [...Array(16).fill(201), ...Array(4).fill(429)]);
  const watcher = await Person.at(box, shares[0].json.url);
  await watcher.connect();
  const grandchild = await watcher.call('share');
  assert.equal(grandchild.status, 403);
  assert.equal((await daemon.request('DELETE', `/v1/links/${made.id}`)).status, 204);
  assert.equal(await watcher.socket.closed, 4401);
  await assert.rejects(openSession(shares[1].json.url), /401/);
  // A page that presses its buttons without end empties no ring of events, and others can still act.
  const link = await makeLink(daemon, 'control');
  const [busy, calm] = [await Person.at(box, link), await Person.at(box, link)];
  const statuses = [];
  for (let i = 0; i < 40; i++) statuses.push((await busy.call(i % 2 ? 'hand_back' : 'takeover')).status);
  assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.at(-1)], [30, 429]);
  assert.equal((await calm.call('takeover', { confirm: true })).status, 200);
  assert.equal((await calm.call('hand_back')).status, 200);
  assert(events.events.length < 200);
});

boxTest('sockets with wrong tickets do not pile up', async (box) => {
  const { daemon } = await startBox(box);
  const { url } = await openTakeover(daemon);
  const { base } = takeApart(url);
  const before = daemon.usage().fds;
  const sockets = [];
  for (let i = 0; i < 15; i++) sockets.push(await WebSocketClient.connect(`${base}/live`, { protocols: ['binary', 'ticket.x'] }));
  assert.deepEqual(sockets.map(({ status }) => status).slice(0, 10), Array(10).fill(101));
  assert(sockets.slice(10).every(({ status }) => status === 401 || status === 429), 'then they are no sockets any more');
  sockets.slice(10).forEach((socket) => socket.destroy());
  await waitFor('all of them to be gone', () => daemon.usage().fds <= before + 2, 8000, 100);
  const person = await Person.holding(box, url);
  await sleep(10);
  assert.equal((await person.call('hand_back', {})).status, 200);
});

boxTest('waiting while the state changes: the clock\'s warnings come in the midst of an answer', async (box) => {
  const { daemon } = await startBox(box);
  for (const timeout of [60, 300]) {
    const { id, url, version } = await openTakeover(daemon, { timeout_s: timeout });
    const waits = [version, version, undefined].map((since) => daemon.json('GET',
      `/v1/takeovers/${id}?wait_s=20${since === undefined ? '' : `&since=${since}`}`));
    const person = await Person.at(box, url);
    await person.take(); // its half hour begins: 300 s and 60 s are just when a warning is due
    assert.equal((await waits[0]).state, 'connected');
    assert.equal((await waits[1]).state, 'connected');
    assert.equal((await person.call('hand_back', { outcome: 'done' })).status, 200);
    assert.equal((await waits[2]).state, 'handed_back');
  }
});

boxTest('idle control sockets of one link do not keep the person out who has pressed the button', async (box) => {
  const { daemon } = await startBox(box, { width: 320, height: 240 });
  const idle = await makeLink(daemon, 'control');
  const sockets = [];
  box.onClose(() => sockets.forEach((socket) => socket.destroy()));
  for (let i = 0; i < 21; i++) {
    const each = await openSession(idle);
    for (let k = 0; k < 3; k++) {
      const socket = await WebSocketClient.ofSession(each);
      sockets.push(socket);
      await socket.rfb().open().catch(() => {}); // the last ones are refused
    }
  }
  const { url } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  assert.equal((await person.call('hand_back', {})).status, 200);
}, { timeout: 120000 });

boxTest('a person\'s notes are not for watchers, nor for the next person', async (box) => {
  const { daemon } = await startBox(box);
  const messages = async ({ base, headers }) => (await (await fetch(`${base}/state`, { headers })).json()).messages.map(({ text }) => text);
  const { url } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  assert.equal((await person.call('note', { text: 'my PIN is 4711' })).status, 200);
  assert((await messages(person.session)).includes('my PIN is 4711'));
  const watcher = await openSession(await makeLink(daemon, 'view'));
  assert(!(await messages(watcher)).includes('my PIN is 4711'));
  await person.call('hand_back', {});
  const next = await Person.at(box, (await openTakeover(daemon)).url);
  assert(!(await messages(next.session)).includes('my PIN is 4711'));
  const { notes } = await daemon.json('GET', '/v1/notes');
  assert(notes.some(({ text }) => text === 'my PIN is 4711'), 'the agent reads it still');
});

boxTest('a text that a hand back cuts off is answered before the close', async (box) => {
  const { daemon, env } = await startBox(box);
  box.spawn('xterm', ['-e', 'cat'], { env });
  const { url } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  person.socket.tell({ t: 'text', id: 'k', s: 'p'.repeat(3000) });
  person.socket.tell({ t: 'hand_back' });
  assert.equal(await person.socket.closed, 4410);
  const answer = person.socket.texts.find(({ t, id }) => /^text-/.test(t) && id === 'k');
  assert(answer, JSON.stringify(person.socket.texts.map(({ t }) => t)));
});

boxTest('many sessions of one link press little more often than a few', async (box) => {
  const { daemon } = await startBox(box);
  const { url } = await openTakeover(daemon);
  const people = await Promise.all(Array.from({ length: 20 }, () => Person.at(box, url)));
  let taken = 0;
  for (let i = 0; i < 200; i++)
    if ((await people[i % 20].call('takeover', { confirm: true })).status === 200) taken++;
  assert(taken >= 60 && taken <= 20 * 4 + 60, `${taken} of 200`);
  const late = await Person.at(box, url);
  assert.equal((await late.call('takeover', { confirm: true })).status, 200);
  assert.equal((await late.call('hand_back', {})).status, 200);
});

/** All that the agent can read while a person has the screen; without what only the clock and its own calls move. */
async function readAsAgent(daemon, recording) {
  const { uptime_s: _uptime, recording: running, replay, takeover: _takeover, ...status } = await daemon.json('GET', '/v1/status');
  const metrics = (await daemon.request('GET', '/metrics')).body.toString().split('\n')
    .filter((line) => !/^boxscreen_(requests_total|connections) /.test(line));
  const { duration_ms: _duration, ...film } = await daemon.json('GET', `/v1/recordings/${recording.id}`);
  return { status, count: running?.length, replay: replay.bytes, metrics, film, onDisk: fs.statSync(recording.path).size };
}

boxTest('while a person has the screen nothing that the agent reads moves with their keys', async (box) => {
  const { daemon, events } = await startBox(box, { width: 640, height: 400, args: ['--log-level', 'debug'] });
  await startTerminal(box, daemon, { args: ['-fs', '20', '-xrm', 'XTerm*cursorBlink: false'] });
  const recording = await startRecording(daemon);
  await daemon.json('PUT', '/v1/replay', { body: { seconds: 60 } });
  // An agent can make itself watchers of both kinds: one that asks for each picture, one that gets all that come.
  const watchers = [];
  for (const isContinuous of [false, true]) {
    const watcher = await (await Person.at(box, await makeLink(daemon, 'view'))).connect();
    watcher.screen.follow();
    if (isContinuous) watcher.screen.continuous(true);
    watchers.push(watcher);
  }
  const { url } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  person.screen.follow();
  const sees = (who, colour) => waitFor(`the picture to be ${colour}`, () => String(who.screen.at(630, 390)) === String(colour));
  for (const watcher of watchers) await sees(watcher, [32, 40, 48]);
  await box.paint(daemon.env, 'window', 600, 360, 40, 40, '0000ff');
  await sees(person, [0, 0, 255]);
  let before;
  await waitFor('the card\'s own pictures to be over', async () => {
    before = await readAsAgent(daemon, recording);
    await sleep(1500);
    return isDeepStrictEqual(await readAsAgent(daemon, recording), before);
  }, 30000, 0);
  const quiet = watchers.map(({ socket }) => socket.socket.bytesRead);
  const [told, logged] = [events.events.length, daemon.log()];
  for (const colour of ['ff0000', '00ff00', 'ff00ff', '00ffff']) {
    const bytes = person.socket.socket.bytesRead;
    person.screen.key(0x61, true);
    person.screen.key(0x61, false);
    person.screen.pointer(100 + bytes % 50, 100);
    await box.paint(daemon.env, 'window', 600, 360, 40, 40, colour);
    await waitFor('the person to see it', () => person.socket.socket.bytesRead > bytes);
    assert.deepEqual(await readAsAgent(daemon, recording), before);
  }
  assert.equal((await person.call('watchers', { allow: true })).status, 200);
  for (const watcher of watchers) await sees(watcher, [0, 255, 255]);
  assert.deepEqual((await readAsAgent(daemon, recording)).metrics, before.metrics, 'watchers are people; figures are not');
  assert.equal((await person.call('watchers', { allow: false })).status, 200);
  for (const watcher of watchers) await sees(watcher, [32, 40, 48]);
  assert.deepEqual([events.events.length, daemon.log()], [told, logged]);
  assert(watchers.every(({ socket }, i) => socket.socket.bytesRead > quiet[i]));
  const card = watchers.map(({ socket }) => socket.socket.bytesRead);
  await sleep(300);
  const settled = watchers.map(({ socket }) => socket.socket.bytesRead);
  await box.paint(daemon.env, 'window', 0, 0, 640, 400, 'ffffff');
  await sees(person, [255, 255, 255]);
  await sleep(300);
  assert.deepEqual(watchers.map(({ socket }) => socket.socket.bytesRead), settled, `a card is no clock (${card})`);
  assert.equal((await person.call('hand_back', {})).status, 200);
  for (const watcher of watchers) await sees(watcher, [255, 255, 255]);
  const after = await daemon.json('GET', '/v1/status');
  assert(after.viewers[0].bytes > before.status.viewers[0].bytes, 'figures are true again');
});

boxTest('keys without a pause and without end leave room for everybody, and end with their caller', async (box) => {
  const { daemon } = await startBox(box, { width: 640, height: 400 });
  await startTerminal(box, daemon);
  for (const args of [['key', '--delay', '0', '--repeat', '100000000', 'a'], ['key', '--delay', '0', ...Array(20000).fill('a')],
    ['keydown', '--delay', '0', '--repeat', '100000000', 'a'], ['click', '--delay', '0', '--repeat', '100000000', '1'], ['type', '--delay', '0', 'x'.repeat(1e6)]]) {
    const body = JSON.stringify({ args });
    const caller = net.connect(daemon.socket);
    caller.on('error', () => {});
    caller.write(`POST /v1/xdotool HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    await sleep(300);
    for (let i = 0; i < 3; i++) assert.equal((await daemon.request('GET', '/v1/shot', { timeoutMs: 5000 })).status, 200, args[0]);
    caller.destroy();
    await waitFor('the agent to act again', async () =>
      (await daemon.request('POST', '/v1/act', { body: { actions: [{ type: 'move', x: 300, y: 200 }] }, timeoutMs: 5000 })).status === 200, 5000);
  }
});

boxTest('a native viewer\'s password cannot be guessed fast, nor the log filled by trying', async (box) => {
  fs.writeFileSync(box.file('password'), 'secret12\n');
  const server = await box.startXvfb({ width: 320, height: 240 });
  const port = 20000 + Math.floor(Math.random() * 12000); // below those that the kernel gives out
  const daemon = await box.startDaemon({ display: server.display, args: ['--rfb', `127.0.0.1:${port}`, '--rfb-password-file', box.file('password')] });
  const guess = async (password) => {
    const start = performance.now();
    const end = await Rfb.tcp(port).then((client) => client.open({ password })).then((client) => { box.onClose(() => client.destroy()); return 'in'; }, ({ message }) => message);
    return { end, ms: performance.now() - start };
  };
  for (let i = 0; i < 10; i++) assert.match((await guess('wrong')).end, /the password is wrong/);
  const late = await guess('wrong');
  assert.match(late.end, /the password is wrong/);
  assert(late.ms > 450, 'the eleventh waits');
  const right = await guess('secret12');
  assert.equal(right.end, 'in');
  assert(right.ms > 450, 'the right one too: its haste would tell');
  const all = await Promise.all(Array.from({ length: 60 }, () => guess('wrong')));
  assert.equal(all.filter(({ end }) => /too many wrong passwords/.test(end)).length, 52);
  assert.equal(all.filter(({ end, ms }) => /the password is wrong/.test(end) && ms > 450).length, 8);
  assert(daemon.log().split('\n').filter((line) => /password/.test(line)).length <= 11);
  // Who goes while waiting gives the place back.
  const gone = await Promise.all(Array.from({ length: 8 }, () => Rfb.tcp(port)));
  gone.forEach((client) => client.open({ password: 'wrong' }).catch(() => {}));
  await sleep(200);
  gone.forEach((client) => client.destroy());
  await sleep(200);
  assert.equal((await guess('secret12')).end, 'in');
});

boxTest('what the agent asked for before a person came is not done after they have gone, however short it was', async (box) => {
  const { daemon, server } = await startBox(box, { width: 640, height: 400 });
  const terminal = await startTerminal(box, daemon);
  const calls = () => [['/v1/act', { actions: [{ type: 'type', text: 'AGENT1' }] }], ['/v1/act', { actions: [{ type: 'paste', text: 'AGENT2' }] }],
    ['/v1/xdotool', { args: ['type', 'AGENT3'] }], ['/v1/act', { actions: [{ type: 'key', keys: 'a' }] }]]
    .map(([target, body]) => daemon.request('POST', target, { body, timeoutMs: 60000 }));
  for (const isStalled of [true, false, false, false]) {
    const { url } = await openTakeover(daemon);
    const person = await Person.at(box, url);
    if (isStalled) process.kill(server.pid, 'SIGSTOP');
    const running = isStalled ? [] : [daemon.request('POST', '/v1/act', { body: { actions: [{ type: 'wait', ms: 3000 }] } })];
    await sleep(50);
    const waiting = calls();
    await sleep(200);
    assert.equal((await person.call('takeover', {})).status, 200);
    assert.equal((await person.call('hand_back', {})).status, 200);
    if (isStalled) process.kill(server.pid, 'SIGCONT');
    for (const reply of await Promise.all([...running, ...waiting])) assert.equal(reply.status, 423, reply.body.toString());
  }
  assert.equal((await daemon.request('POST', '/v1/act', { body: { actions: [{ type: 'type', text: 'new' }] } })).status, 200);
  await terminal.expect('new');
});
