// SPDX-License-Identifier: GPL-2.0-or-later
//
// Takeovers as the agent, the person and the watcher see them: the lock, the lease, hand back, away and
// grace, privacy. What they tell each other is in takeover-talk.test.mjs, what strangers try in
// takeover-web.test.mjs, restarts and frozen boxes in takeover-life.test.mjs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectNoneHeld, heldDown, keymap, startTerminal } from './desk.mjs';
import { boxTest, waitFor } from './harness.mjs';
import { makeLink } from './browsers.mjs';
import { actAsAgent, control, openTakeover, Person, startBox } from './takeovers.mjs';
import { ENC, LIKE_NOVNC, Rfb } from './rfb.mjs';

boxTest('a whole takeover: note, push, lock, keys, hand back, message, shot', async (box) => {
  const { daemon, env, events } = await startBox(box);
  const terminal = await startTerminal(box, daemon);
  const made = await openTakeover(daemon, { note: 'Log in to the bank', instructions: ['open the site', 'log in'], timeout_s: 600 });
  assert.equal(made.httpStatus, 201);
  assert.deepEqual([made.state, made.note, made.instructions.length, made.extensions_left], ['open', 'Log in to the bank', 2, 3]);
  const opened = (await events.next('takeover.opened')).data;
  for (const { push, url } of [made, opened]) {
    assert.equal(push.url, url);
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/box\/[^/?]+\?t=[A-Za-z0-9_-]{43}$/);
    assert.match(push.title, /needs you/);
    assert.equal(push.body, 'Log in to the bank');
    assert(Math.abs(Date.parse(push.expires_at) - Date.now() - 600000) < 60000);
  }
  const waiting = daemon.request('GET', `/v1/takeovers/${made.id}?wait_s=55`);
  assert.equal((await daemon.json('GET', '/v1/status')).takeover.id, made.id);
  assert.equal(await actAsAgent(daemon), 200, 'an open takeover locks nobody');

  const person = await Person.at(box, made.url);
  assert.equal(person.state.takeover.note, 'Log in to the bank');
  assert.equal(person.state.takeover.opened_at, null);
  assert.equal((await control(daemon)).locked, false, 'nor does a look');
  // A batch that is under way ends, and what stands behind it is not kept for later.
  const batch = (key) => daemon.request('POST', '/v1/act', { body: { actions: [{ type: 'wait', duration: 20 }, { type: 'key', keys: key }] } });
  const batches = [batch('q'), batch('w')];
  await sleep(100);
  await person.take();
  for (const reply of await Promise.all(batches)) {
    assert.equal(reply.status, 423);
    assert.deepEqual([reply.json().error, reply.json().holder], ['locked', 'person']);
  }
  assert.equal((await events.next('control.locked')).data.holder, 'person');
  assert.equal((await events.next('takeover.connected')).data.id, made.id);
  await person.connect();
  // The lock: every call that acts or looks, with who and since when.
  for (const [method, target, body] of [['POST', '/v1/act', { actions: [{ type: 'key', keys: 'x' }] }],
    ['POST', '/v1/xdotool', { args: ['key', 'x'] }], ['GET', '/v1/shot'], ['POST', '/v1/shots', { path: box.file('x.png') }],
    ['PUT', '/v1/clipboard', 'text'], ['GET', '/v1/clipboard'], ['PUT', '/v1/screen', { width: 640, height: 480 }],
    ['POST', '/v1/windows/1/activate', {}]]) {
    const reply = await daemon.request(method, target, { body });
    assert.equal(reply.status, 423, `${method} ${target}`);
    const { error, holder, since } = reply.json();
    assert.deepEqual([error, holder], ['locked', 'person']);
    assert(Math.abs(Date.parse(since) - Date.now()) < 60000);
  }
  for (const letter of 'ok') person.screen.tap(letter.codePointAt(0));
  await terminal.expect('ok');
  person.screen.key(0xffe1, true); // still down when the screen is handed back
  await waitFor('Shift to be down', async () => (await heldDown(box, env)).length === 1);
  const handed = await person.call('hand_back', { outcome: 'done', message: 'Logged in. The code was right.' });
  assert.deepEqual([handed.status, handed.json.state, handed.json.outcome], [200, 'handed_back', 'done']);
  await events.next('control.unlocked');
  const told = (await events.next('takeover.handed_back')).data;
  assert.deepEqual([told.outcome, told.message], ['done', 'Logged in. The code was right.']);
  const result = (await waiting).json();
  assert.deepEqual([result.state, result.outcome, result.message], ['handed_back', 'done', 'Logged in. The code was right.']);
  assert.equal(result.shot.format, 'png');
  assert.deepEqual([...Buffer.from(result.shot.base64, 'base64').subarray(1, 4)], [0x50, 0x4e, 0x47]);
  assert(result.held_s >= 0 && result.held_s < 60);
  assert.equal((await person.told('ended')).state, 'handed_back');
  assert.equal(await person.socket.closed, 4410);
  assert.deepEqual(await heldDown(box, env), [], 'nothing stays down');
  assert.equal(await actAsAgent(daemon), 200);
  assert.equal(terminal.read(), '', 'nothing that was refused came later');
  // The link is over, and asking again tells the same.
  assert.equal((await person.call('state').catch(() => null))?.status ?? 401, 405);
  assert.equal((await person.call('takeover')).status, 401);
  assert.equal((await daemon.json('GET', `/v1/takeovers/${made.id}`)).message, 'Logged in. The code was right.');
  assert.equal((await daemon.request('POST', `/v1/takeovers/${made.id}/cancel`, { body: {} })).status, 409);
  assert.equal((await daemon.json('GET', '/v1/status')).takeover, null);
});

boxTest('one at a time: opening again resumes the same, with a link of its own', async (box) => {
  const { daemon } = await startBox(box);
  const first = await openTakeover(daemon, { timeout_s: 1700 });
  const second = await openTakeover(daemon, { note: 'Please log in', timeout_s: 5 });
  assert.deepEqual([second.httpStatus, second.id, second.resumed], [200, first.id, true]);
  // What the open one does not take over is named.
  assert.deepEqual([first.kept, second.kept], [undefined, ['timeout_s']]);
  for (const [asked, kept] of [[{}, []], [{ timeout_s: null }, []], [{ timeout_s: 1700, shot: {}, instructions: [] }, []], [{ shot: false }, ['shot']], [{ instructions: ['a'] }, ['instructions']],
    [{ note: 'Other', instructions: ['a', 'b'], timeout_s: 60, shot: { scale: 0.5 } }, ['note', 'instructions', 'timeout_s', 'shot']]])
    assert.deepEqual((await openTakeover(daemon, asked)).kept, kept, JSON.stringify(asked));
  assert.equal(second.expires_at.slice(0, 16), first.expires_at.slice(0, 16));
  const [one, other] = [await Person.at(box, first.url), await Person.at(box, second.url)];
  assert.equal(one.state.takeover.id, other.state.takeover.id);
  // Another note is not lost: people see it as a message.
  await openTakeover(daemon, { note: 'And accept the terms' });
  assert.equal((await daemon.json('GET', '/v1/notes')).notes.at(-1).text, 'And accept the terms');
  assert.equal((await daemon.request('POST', `/v1/takeovers/${first.id}/cancel`, { body: {} })).json().state, 'cancelled');
  assert.equal((await one.call('takeover')).status, 401);
  assert.notEqual((await openTakeover(daemon)).id, first.id);
});

boxTest('what is asked wrong is said', async (box) => {
  const { daemon } = await startBox(box);
  for (const [body, says] of [[{}, /note/], [{ note: '' }, /note/], [{ note: 'x'.repeat(4001) }, /note/],
    [{ note: 'x', timeout_s: 0 }, /timeout_s/], [{ note: 'x', instructions: 'y' }, /instructions/],
    [{ note: 'x', instructions: [1] }, /instructions/], [{ note: 'x', shot: { formt: 'png' } }, /shot.*formt/],
    [{ note: 'x', timeout: 5 }, /timeout: unknown member/]]) {
    const reply = await daemon.request('POST', '/v1/takeovers', { body });
    assert.equal(reply.status, 400, JSON.stringify(body));
    assert.match(reply.json().message, says);
  }
  assert.equal((await daemon.json('GET', '/v1/status')).takeover, null, 'nothing half done');
  for (const target of ['/v1/takeovers/t-0', '/v1/takeovers/t-0?wait_s=5'])
    assert.equal((await daemon.request('GET', target)).status, 404);
  const { id } = await openTakeover(daemon);
  for (const query of ['wait_s=x', 'wait_s=-1', 'wait_s=99999', 'since=a', 'shot=2', 'wait=5'])
    assert.equal((await daemon.request('GET', `/v1/takeovers/${id}?${query}`)).status, 400, query);
  assert.equal((await daemon.request('POST', '/v1/say', { body: { text: '' } })).status, 400);
});

boxTest('long polls: the end, every change, or time over', async (box) => {
  const { daemon } = await startBox(box);
  const { id, version, url } = await openTakeover(daemon);
  assert.equal((await daemon.json('GET', `/v1/takeovers/${id}?wait_s=1`)).state, 'open');
  const change = daemon.json('GET', `/v1/takeovers/${id}?wait_s=20&since=${version}`);
  const end = daemon.json('GET', `/v1/takeovers/${id}?wait_s=20&shot=0`);
  const person = await Person.holding(box, url);
  assert.equal((await change).state, 'connected');
  await person.call('hand_back', { outcome: 'could_not' });
  assert.deepEqual([(await end).outcome, (await end).message, (await end).shot], ['could_not', '', null]);
  // A takeover whose picture was declined has none.
  const plain = await openTakeover(daemon, { shot: false });
  const waiting = daemon.json('GET', `/v1/takeovers/${plain.id}?wait_s=20`);
  await (await Person.holding(box, plain.url)).call('hand_back', { outcome: 'other', message: 'see notes' });
  assert.deepEqual([(await waiting).outcome, (await waiting).shot], ['other', null]);
});

boxTest('a second person sees who holds it, confirms, and the first is told 4409', async (box) => {
  const { daemon, env } = await startBox(box);
  const terminal = await startTerminal(box, daemon);
  const { url } = await openTakeover(daemon);
  const first = await Person.holding(box, url);
  first.screen.key(0xffe1, true);
  const second = await Person.at(box, url);
  assert.deepEqual([second.state.holder, second.state.is_private], ['other', true]);
  await second.connect();
  second.screen.tap(0x78); // an x that must not arrive
  const refused = await second.call('takeover');
  assert.deepEqual([refused.status, refused.json.error, typeof refused.json.held_since], [409, 'held', 'string']);
  assert.equal((await second.call('hand_back', { outcome: 'done' })).json.error, 'not_holder');
  await waitFor('Shift to be down', async () => (await heldDown(box, env)).length === 1);
  await second.take({ confirm: true });
  assert.equal(await first.socket.closed, 4409);
  assert.deepEqual(await heldDown(box, env), [], 'what the first held is let go');
  second.screen.tap(0x62);
  await terminal.expect('b');
  // The first may come back, by confirming too; its stale socket's keys are dead anyway.
  const again = await first.call('takeover');
  assert.equal(again.status, 409);
  await second.call('hand_back', { outcome: 'done' });
});

boxTest('whoever has pressed the button is not away before their first socket came and went', async (box) => {
  const { daemon, events } = await startBox(box, { args: ['--takeover-grace', '5'] });
  const { url, id } = await openTakeover(daemon);
  const [first, second] = [await Person.at(box, url), await Person.at(box, url)];
  const look = async (person) => (await person.call('takeover')).json;
  const state = async () => (await daemon.json('GET', `/v1/takeovers/${id}`)).state;
  assert.equal((await first.take()).state.is_away, false);
  const held = await look(second);
  assert.deepEqual([held.error, held.is_away, await state()], ['held', false, 'connected']);
  assert.equal((await Person.at(box, url)).state.is_away, false);
  await first.connect();
  first.socket.destroy();
  await events.next('takeover.away');
  assert.deepEqual([(await look(second)).is_away, await state()], [true, 'away']);
  // Pressing again without a socket does not bring them back; a socket does.
  assert.equal((await first.take()).state.is_away, true);
  await first.connect();
  assert.deepEqual([(await look(second)).is_away, await state()], [false, 'connected']);
  // The same without a takeover, by a plain link.
  await first.call('hand_back', {});
  const plain = await Person.at(box, await makeLink(daemon, 'control'));
  assert.equal((await plain.take()).state.is_away, false);
  // A takeover opened while they are on their way finds them connected.
  assert.equal((await openTakeover(daemon)).state, 'connected');
  await plain.call('hand_back', {});
});

boxTest('V32: the same session may press twice and connect twice; the newer socket goes on', async (box) => {
  const { daemon, events } = await startBox(box);
  const { url } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  await events.next('takeover.connected');
  assert.equal((await person.take()).state.holder, 'you');
  const old = person.socket;
  await person.connect();
  assert.equal(await old.closed, 4409);
  assert.equal((await control(daemon)).locked, true);
  assert(!events.events.some(({ type }) => /takeover\.(left|away)|unlocked/.test(type)), 'nobody was kicked');
  // Wrong, then right: no reload, no wait.
  await assert.rejects(Person.at(box, `${url}x`), /session: 401/);
  await Person.at(box, url);
});

boxTest('away keeps the lock for the grace; then it is open, and the agent is told left', async (box) => {
  const { daemon, events, env } = await startBox(box, { args: ['--takeover-grace', '3'] });
  const { url, id } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  person.screen.key(0x61, true);
  await waitFor('a to be down', async () => (await heldDown(box, env)).length === 1);
  person.socket.socket.resetAndDestroy(); // the phone has switched apps
  await events.next('takeover.away');
  assert.equal(await actAsAgent(daemon), 423);
  assert.deepEqual(await heldDown(box, env), []);
  await person.connect(); // back within the grace: no button
  await events.next('takeover.connected');
  person.socket.destroy();
  await events.next('takeover.away');
  await events.next('control.unlocked', 8000);
  const left = (await events.next('takeover.left')).data;
  assert.deepEqual([left.id, left.state], [id, 'open']);
  assert.equal(await actAsAgent(daemon), 200);
  // The link goes on working, but the button must be pressed again.
  await person.connect();
  assert.equal((await control(daemon)).locked, false);
  await person.take();
  await events.next('control.locked');
  assert.equal((await person.call('hand_back', { outcome: 'done' })).status, 200);
});

boxTest('30 + 30: what a person opens late lasts its whole time from then; looks change nothing', async (box) => {
  const { daemon } = await startBox(box);
  const { url, expires_at } = await openTakeover(daemon, { timeout_s: 100 });
  const person = await Person.at(box, url);
  await person.connect();
  await sleep(1100);
  assert.equal((await daemon.json('GET', '/v1/status')).takeover.expires_at, expires_at);
  await person.take();
  const { takeover } = await daemon.json('GET', '/v1/status');
  assert(Date.parse(takeover.expires_at) - Date.parse(expires_at) >= 1000);
  const reply = await person.call('extend');
  assert.deepEqual([reply.status, reply.json.extensions_left], [200, 2]);
  assert(Math.abs(Date.parse(reply.json.expires_at) - Date.parse(takeover.expires_at) - 600000) < 100);
  person.socket.tell({ t: 'extend' });
  await person.told('state', (state) => state.takeover?.extensions_left === 1);
  assert.equal((await person.call('extend')).json.extensions_left, 0);
  const fourth = await person.call('extend');
  assert.deepEqual([fourth.status, fourth.json.error], [409, 'conflict']);
  await person.call('hand_back', {});
});

boxTest('a person is warned one minute before the end, and at the end the open socket closes', async (box) => {
  const { daemon, events } = await startBox(box);
  const { url, id } = await openTakeover(daemon, { timeout_s: 64 });
  const person = await Person.holding(box, url);
  const countdown = await person.told('countdown', undefined, 10000);
  assert.equal(countdown.left_s, 60);
  await daemon.request('POST', `/v1/takeovers/${id}/cancel`, { body: {} });
  assert.equal((await person.told('ended')).state, 'cancelled');
  assert.equal(await person.socket.closed, 4401);
  const short = await openTakeover(daemon, { timeout_s: 5 });
  const waiting = daemon.json('GET', `/v1/takeovers/${short.id}?wait_s=30`);
  const late = await Person.holding(box, short.url);
  const watcher = await Person.at(box, (await late.call('share')).json.url);
  await watcher.connect();
  assert.equal((await late.told('ended', undefined, 10000)).state, 'expired');
  assert.deepEqual([await late.socket.closed, await watcher.socket.closed], [4401, 4401]);
  assert.equal((await waiting).state, 'expired');
  await events.next('takeover.expired');
  await events.next('control.unlocked').catch(() => {}); // it came before
  assert.equal(await actAsAgent(daemon), 200);
});

boxTest('plain links: control by the button, watching never locks, expiry and DELETE close sockets', async (box) => {
  const { daemon, env, events } = await startBox(box);
  const terminal = await startTerminal(box, daemon);
  const watcher = await Person.at(box, await makeLink(daemon, 'view'));
  await watcher.connect();
  assert.equal((await watcher.call('takeover')).json.error, 'view_only');
  for (const name of ['note', 'share'])
    assert.equal((await watcher.call(name, name === 'note' ? { text: 'x' } : {})).status, 403);
  const person = await Person.at(box, await makeLink(daemon, 'control'));
  await person.connect();
  person.screen.tap(0x78);
  person.screen.pointer(9, 9, 1);
  await sleep(200);
  assert.equal((await control(daemon)).locked, false, 'a key is no button');
  await person.take();
  await events.next('control.locked');
  person.screen.tap(0x62);
  await terminal.expect('b');
  // An agent that asks now has its person already.
  const made = await openTakeover(daemon);
  assert.equal((await daemon.json('GET', `/v1/takeovers/${made.id}`)).state, 'connected');
  await person.call('hand_back', { outcome: 'done', message: 'here' });
  assert.equal((await daemon.json('GET', `/v1/takeovers/${made.id}`)).message, 'here');
  assert(!person.socket.isClosed, 'a plain link goes on watching');
  await person.told('state', ({ holder }) => holder === 'agent');
  // Expiry and revocation are looked at on open sockets too.
  const brief = await Person.at(box, await makeLink(daemon, 'control', 4));
  await brief.take();
  await brief.connect();
  assert.equal(await brief.socket.closed, 4401);
  await waitFor('the lock to go', async () => !(await control(daemon)).locked);
  const made2 = (await daemon.request('POST', '/v1/links', { body: { role: 'view' } })).json();
  const revoked = await Person.at(box, made2.url);
  await revoked.connect();
  await daemon.request('DELETE', `/v1/links/${made2.id}`);
  assert.equal(await revoked.socket.closed, 4401);
  assert.deepEqual(await heldDown(box, env), []);
});

boxTest('T13: a watcher\'s keys, pointer, clipboard and size change nothing during a takeover either', async (box) => {
  const { daemon, env } = await startBox(box);
  const terminal = await startTerminal(box, daemon);
  const { url } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  const watcher = await Person.at(box, (await person.call('share')).json.url);
  assert.equal(watcher.state.role, 'view');
  await watcher.connect();
  watcher.screen.tap(0x78);
  watcher.screen.pointer(50, 50, 1);
  watcher.screen.provideText('stolen');
  watcher.screen.setDesktopSize(640, 480);
  for (const message of [{ t: 'text', id: '1', s: 'x', enter: true }, { t: 'clipboard', text: 'x' }, { t: 'clipboard' },
    { t: 'hand_back', outcome: 'done' }, { t: 'extend' }, { t: 'watchers', allow: true }, { t: 'note', text: 'x' }])
    watcher.socket.tell(message);
  watcher.socket.tell({ t: 'ping', id: 1 });
  await watcher.told('pong');
  assert.equal((await watcher.told('text-failed')).error, 'not_holder');
  for (const kind of ['clipboard', 'clipboard', 'hand_back', 'extend', 'watchers'])
    assert.equal((await watcher.told('error', (error) => error.for === kind)).error, 'not_holder', kind);
  person.screen.tap(0x6f);
  await terminal.expect('o');
  await expectNoneHeld(box, env);
  assert.equal((await control(daemon)).locked, true);
  assert.equal((await daemon.json('GET', '/v1/status')).screen.width, 1280);
});

boxTest('locks and keymap are after a hand back as they were before', async (box) => {
  const { daemon, env } = await startBox(box);
  await startTerminal(box, daemon);
  const locks = async () => (await box.ok('xset', ['q'], { env })).match(/(Caps|Num) Lock:\s+(on|off)/g).join();
  const map = await keymap(box, env);
  await box.tool(daemon, ['key', 'Caps_Lock']); // the agent's own
  const before = await locks();
  assert.match(before, /Caps Lock:\s+on/);
  const { url } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  person.screen.setEncodings([...LIKE_NOVNC, ENC.qemuKey, ENC.led]);
  for (const [keysym, scancode] of [[0xffe5, 0x3a], [0xff7f, 0x45]]) // Caps and Num Lock, by their places
    for (const isDown of [1, 0]) {
      const message = Buffer.from([255, 0, 0, isDown, 0, 0, 0, 0, 0, 0, 0, 0]);
      message.writeUInt32BE(keysym, 4);
      message.writeUInt32BE(scancode, 8);
      person.screen.write(message);
    }
  for (const letter of 'λ你好жя') person.screen.tap(0x01000000 + letter.codePointAt(0));
  await waitFor('the locks to be others', async () => await locks() !== before);
  await person.call('hand_back', {});
  await waitFor('the locks of before', async () => await locks() === before);
  await waitFor('the keymap of before', async () => await keymap(box, env) === map, 8000, 100);
});

boxTest('what waits for the screen is refused at the moment of the lock, not at the next change', async (box) => {
  const { daemon, events } = await startBox(box);
  const ask = (method, target, body) => daemon.request(method, target, { body });
  const act = (more) => ask('POST', '/v1/act', { actions: [{ type: 'cursor_position' }], ...more });
  const person = await Person.at(box, await makeLink(daemon, 'control'));
  // One after the other where they act: batches wait for each other.
  const rounds = [
    { change: () => ask('GET', '/v1/shot?wait=change&timeout_ms=100000'),
      stable: () => ask('GET', '/v1/shot?wait=stable&quiet_ms=50000&timeout_ms=100000'),
      saved: () => ask('POST', '/v1/shots', { path: box.file('waits.png'), wait: 'change', timeout_ms: 100000 }),
      settle: () => act({ settle: { quiet_ms: 50000, timeout_ms: 100000 } }) },
    { 'the shot of act': () => act({ shot: { wait: 'change', timeout_ms: 100000 } }) },
    { wait: () => act({ actions: [{ type: 'wait', duration: 60 }] }) },
    { wait_change: () => act({ actions: [{ type: 'wait_change', timeout_ms: 100000 }] }) },
    { wait_stable: () => act({ actions: [{ type: 'wait_stable', quiet_ms: 50000, timeout_ms: 100000 }] }) },
    { sleep: () => ask('POST', '/v1/xdotool', { args: ['sleep', '60'] }) },
    { sync: () => ask('POST', '/v1/xdotool', { args: ['search', '--sync', '--name', 'no such window'] }) },
  ];
  for (const round of rounds) {
    const waiting = Object.entries(round).map(([name, begin]) => [name, begin()]);
    await daemon.json('GET', '/v1/status');
    await daemon.json('GET', '/v1/windows'); // through the screen's thread and back
    await person.take();
    const pressed = Date.parse((await events.next('control.locked')).data.time);
    for (const [name, reply] of waiting) {
      const { status, json } = await reply;
      assert.deepEqual([status, json().error, json().holder], [423, 'locked', 'person'], name);
      assert(Math.abs(Date.parse(json().since) - pressed) < 1000, `${name}: ${json().since}`);
    }
    assert.equal((await person.call('hand_back', {})).status, 200);
  }
  assert.equal(fs.existsSync(box.file('waits.png')), false);
  assert.equal((await ask('GET', '/v1/shot')).status, 200, 'the screen is free again');
});

boxTest('privacy: the holder sees the screen, watchers and shots in wait see a card', async (box) => {
  const { daemon, env } = await startBox(box);
  await box.paint(env, 'window', 0, 0, 1280, 800, 'ff0000');
  const watcher = await Person.at(box, await makeLink(daemon, 'view'));
  await watcher.connect();
  watcher.screen.follow();
  const sees = (person, colour) => waitFor(`the picture to be ${colour}`, () => String(person.screen.at(5, 5)) === String(colour));
  await sees(watcher, [255, 0, 0]);
  const inWait = daemon.request('GET', '/v1/shot?wait=change&timeout_ms=20000');
  const { url } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  person.screen.follow();
  await sees(person, [255, 0, 0]);
  await sees(watcher, [32, 40, 48]);
  await watcher.told('state', (state) => state.is_private && state.holder === 'other');
  assert.equal((await inWait).status, 423, 'a shot that was asked for before is refused too');
  await box.paint(env, 'window', 0, 0, 1280, 800, '00ff00'); // the person's secret
  await sees(person, [0, 255, 0]);
  // Nothing of the secret came to the watcher.
  await sleep(300);
  assert.equal(String(watcher.screen.at(5, 5)), '32,40,48');
  // A late watcher gets the card from the first picture on.
  const late = await Person.at(box, await makeLink(daemon, 'view'));
  await late.connect();
  late.screen.follow();
  await sees(late, [32, 40, 48]);
  // The holder may let them see, and take it back.
  assert.equal((await person.call('watchers', { allow: true })).json.watchers_allowed, true);
  await sees(watcher, [0, 255, 0]);
  assert.equal((await daemon.request('GET', '/v1/shot')).status, 423, 'watchers are people; shots are not');
  person.socket.tell({ t: 'watchers', allow: false });
  await sees(watcher, [32, 40, 48]);
  await person.call('hand_back', { outcome: 'done' });
  await sees(watcher, [0, 255, 0]);
  assert.equal((await daemon.request('GET', '/v1/shot')).status, 200);
});

boxTest('privacy off: shots go on, watchers see, input is locked all the same', async (box) => {
  const { daemon, env } = await startBox(box, { args: ['--takeover-privacy', 'off'] });
  await box.paint(env, 'window', 0, 0, 1280, 800, 'ff0000');
  const { url } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  const watcher = await Person.at(box, await makeLink(daemon, 'view'));
  await watcher.connect();
  watcher.screen.follow();
  await waitFor('the picture', () => String(watcher.screen.at(5, 5)) === '255,0,0');
  assert.equal(watcher.state.is_private, false);
  assert.equal((await daemon.request('GET', '/v1/shot')).status, 200);
  assert.equal(await actAsAgent(daemon), 423);
  await person.call('hand_back', {});
});

boxTest('native viewers obey the lease: they claim from the agent, not from a person', async (box) => {
  const rfb = box.file('rfb.sock');
  const { daemon, events } = await startBox(box, { args: ['--rfb', rfb, '--rfb-role', 'control'] });
  const terminal = await startTerminal(box, daemon);
  const native = await (await Rfb.unix(rfb)).open();
  box.onClose(() => native.destroy());
  native.setEncodings(LIKE_NOVNC);
  const { url, expires_at } = await openTakeover(daemon, { timeout_s: 300 });
  const person = await Person.holding(box, url);
  await events.next('control.locked');
  native.tap(0x78);
  person.screen.tap(0x61);
  await terminal.expect('a');
  person.socket.destroy();
  await events.next('takeover.away');
  native.tap(0x78);
  await sleep(100);
  await person.connect();
  await person.call('hand_back', {});
  await events.next('control.unlocked');
  // With the agent as holder its first key claims, and starts no clock of a takeover.
  const next = await openTakeover(daemon, { timeout_s: 300 });
  native.tap(0x62);
  await events.next('control.locked');
  await terminal.expect('b');
  const { takeover } = await daemon.json('GET', '/v1/status');
  assert.deepEqual([takeover.state, takeover.opened_at, takeover.expires_at], ['connected', null, next.expires_at]);
  assert(expires_at);
  native.destroy();
  await events.next('control.unlocked');
  assert.equal((await daemon.json('GET', '/v1/status')).takeover.state, 'open');
});
