// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the agent, the person and the watcher tell each other around a takeover: words and notes, by the
// socket and by the tool, texts that the person has typed, the agent's steps, the stream of events.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTerminal } from './desk.mjs';
import { boxTest, followEvents, waitFor } from './harness.mjs';
import { makeLink } from './browsers.mjs';
import { openTakeover, Person, startBox } from './takeovers.mjs';

boxTest('say and notes go both ways, and are kept', async (box) => {
  const { daemon, events } = await startBox(box);
  const before = (await daemon.request('POST', '/v1/say', { body: { text: 'before you came 你好' } })).json();
  const { url } = await openTakeover(daemon);
  const person = await Person.at(box, url);
  assert.deepEqual(person.state.messages.map(({ from, text }) => [from, text]), [['agent', 'before you came 你好']]);
  await person.connect();
  await daemon.request('POST', '/v1/say', { body: { text: 'the code is in your mail' } });
  assert.equal((await person.told('say')).text, 'the code is in your mail');
  const { id } = (await person.call('note', { text: 'wait, fetching it' })).json;
  assert.equal((await person.told('note')).id, id);
  person.socket.tell({ t: 'note', text: 'got it' });
  await person.told('note');
  const { notes } = await daemon.json('GET', `/v1/notes?since=${before.id}`);
  assert.deepEqual(notes.map(({ from, text }) => [from, text]),
    [['agent', 'the code is in your mail'], ['person', 'wait, fetching it'], ['person', 'got it']]);
  const told = [1, 2, 3, 4].map(() => events.next('note'));
  assert.equal((await Promise.all(told)).at(-1).data.text, 'got it');
  assert.equal((await person.call('note', { text: '' })).status, 400);
});

boxTest('texts of the page are typed once, whatever the line does', async (box) => {
  const { daemon } = await startBox(box);
  const terminal = await startTerminal(box, daemon);
  const { url } = await openTakeover(daemon);
  const person = await Person.holding(box, url);
  person.socket.tell({ t: 'text', id: 'a', s: 'Grüße 你好', enter: true });
  assert.equal((await person.told('text-ok')).id, 'a');
  await terminal.expect('Grüße 你好\n');
  person.socket.tell({ t: 'text', id: 'b', s: 'once', secret: true });
  await terminal.expect('once');
  person.socket.destroy(); // the word got lost
  await person.connect();
  person.socket.tell({ t: 'text', id: 'b', s: 'once', secret: true });
  assert.equal((await person.told('text-ok')).id, 'b');
  person.socket.tell({ t: 'text', id: 'c', s: 'x'.repeat(4001) });
  assert.equal((await person.told('text-failed')).error, 'bad_request');
  person.socket.tell({ t: 'text', id: 'd', s: 'last', enter: true });
  await person.told('text-ok', ({ id }) => id === 'd');
  await terminal.expect('last\n');
  person.socket.tell({ t: 'clipboard', text: 5 });
  assert.equal((await person.told('error', (error) => error.for === 'clipboard')).error, 'bad_request');
  person.socket.tell({ t: 'clipboard', text: 'from the person' });
  person.socket.tell({ t: 'clipboard' });
  assert.equal((await person.told('clipboard')).text, 'from the person');
  await person.call('hand_back', {});
});

boxTest('boxscreen takeover, say and notes', async (box) => {
  const { daemon } = await startBox(box);
  const waiting = box.tool(daemon, ['takeover', '--note', 'Solve the CAPTCHA', 'tick the box']);
  const { takeover } = await waitFor('the takeover', async () => {
    const status = await daemon.json('GET', '/v1/status');
    return status.takeover && status;
  });
  assert.deepEqual([takeover.note, takeover.instructions], ['Solve the CAPTCHA', ['tick the box']]);
  const again = await box.tool(daemon, ['takeover', '--note', 'Solve the CAPTCHA', '--no-wait']);
  const person = await Person.holding(box, again.stdout.toString().trim());
  const resumed = box.tool(daemon, ['takeover']);
  assert.equal((await box.tool(daemon, ['shot', '-o', box.file('x.png')])).status, 4, 'locked is 4');
  assert.equal((await box.tool(daemon, ['say', 'hello there'])).status, 0);
  await person.told('say');
  await person.call('note', { text: 'hi' });
  assert.match((await box.ok(process.env.BOXSCREEN_BUILD ? `${process.env.BOXSCREEN_BUILD}/cli/boxscreen` : 'boxscreen',
    ['notes'], { env: daemon.env })), /agent: hello there\n.*person: hi\n/);
  await person.call('hand_back', { outcome: 'done', message: 'ticked' });
  const result = await waiting;
  assert.deepEqual([result.status, result.stdout.toString()], [0, 'done: ticked\n']);
  assert.match(result.stderr, /^http:\/\/\S+\?t=\S{43}\n$/, 'the link, and no progress in a pipe');
  assert.equal((await resumed).stdout.toString(), 'done: ticked\n');
  const late = await box.tool(daemon, ['takeover', '--note', 'x', '--timeout', '1']);
  assert.equal(late.status, 3);
  await box.tool(daemon, ['takeover', '--note', 'x', '--no-wait']);
  const cancelled = box.tool(daemon, ['takeover', '--json']);
  await sleep(100);
  assert.equal((await box.tool(daemon, ['takeover', '--cancel'])).status, 0);
  assert.deepEqual([(await cancelled).status, JSON.parse((await cancelled).stdout).state], [1, 'cancelled']);
  assert.equal((await box.tool(daemon, ['takeover'])).status, 2);
});

boxTest('watchers are told each step of the agent, whichever call it acts by, and nothing that is typed', async (box) => {
  const { daemon } = await startBox(box);
  await startTerminal(box, daemon);
  const watcher = await Person.at(box, await makeLink(daemon, 'view'));
  await watcher.connect();
  const xdotool = (args, more) => daemon.json('POST', '/v1/xdotool', { body: { args, ...more } });
  let count = 0;
  const step = async () => {
    const { action, x, y } = await watcher.told('step');
    count++;
    return [action, ...(x === undefined ? [] : [x, y])];
  };
  assert.equal((await step())[0], 'move'); // startTerminal's
  await daemon.json('POST', '/v1/act', { body: { actions: [{ type: 'click', x: 40, y: 50 }, { type: 'type', text: 's3cret' }] } });
  assert.deepEqual(await step(), ['click, type', 40, 50]);
  await xdotool(['mousemove', '300', '200', 'click', '1', 'click', '1', 'type', 's3cret\n']);
  assert.deepEqual(await step(), ['mousemove, click, type', 300, 200]);
  await xdotool(['mousemove', '--polar', '10', '20', 'key', 'a']);
  assert.deepEqual(await step(), ['mousemove, key']);
  // Looking, waiting and nonsense are no steps; what comes next is the next step.
  for (const args of [['getmouselocation'], ['sleep', '0.01'], ['search', '--name', 'none'], ['nonsense'], ['key', '--help'], ['version'], []]) await xdotool(args);
  await xdotool(['getmouselocation', 'keydown', 'shift', 'keyup', 'shift']);
  assert.deepEqual(await step(), ['keydown, keyup']);
  // Lines of a script that follow fast are one step, those that come later are their own.
  await xdotool([], { script: 'click 1\nkey b\nsleep 0.7\ngetmouselocation\nmousemove 7 8\n' });
  const lines = [];
  do lines.push(await step()); while (lines.at(-1)[0] !== 'mousemove');
  assert.deepEqual([lines[0], lines.at(-1)], [['click'], ['mousemove', 7, 8]]);
  assert(lines.length === 2 || lines[1][0] === 'key', 'a slow machine takes half a second for a click');
  const many = Array.from({ length: 40 }, (_, i) => (i % 2 ? ['key', 'c'] : ['click', '1'])).flat();
  await xdotool(many);
  const [names] = await step();
  assert(names.length < 64 && /^click, key, click/.test(names) && !/, $/.test(names), names);
  // Windows and the screen's size too.
  const { windows } = await daemon.json('GET', '/v1/windows');
  for (const [what, body] of [['activate', {}], ['move', { x: 5, y: 5 }], ['resize', { width: 300, height: 200 }]]) {
    await daemon.request('POST', `/v1/windows/${windows[0].id}/${what}`, { body });
    assert.deepEqual(await step(), [`${what} window`]);
  }
  await daemon.json('PUT', '/v1/screen', { body: { width: 800, height: 600 } });
  assert.deepEqual(await step(), ['resize screen']);
  assert(!JSON.stringify(watcher.socket.texts).includes('s3cret'));
  // Who comes later gets them all; who is refused leaves none.
  const person = await Person.at(box, await makeLink(daemon, 'control'));
  await person.take();
  assert.equal((await daemon.request('POST', '/v1/xdotool', { body: { args: ['key', 'x'] } })).status, 423);
  assert.equal((await daemon.request('POST', `/v1/windows/${windows[0].id}/activate`, { body: {} })).status, 423);
  await person.connect();
  const steps = await waitFor('the steps so far', () => {
    const told = person.socket.texts.filter(({ t }) => t === 'step');
    return told.length >= count && told;
  });
  assert.deepEqual([steps.length, steps[1].action, steps.at(-1).action], [count, 'click, type', 'resize screen']);
});

boxTest('a resumed event stream tells all that happened', async (box) => {
  const { daemon, events } = await startBox(box);
  const { url } = await openTakeover(daemon);
  const { id } = await events.next('takeover.opened');
  events.close();
  const person = await Person.holding(box, url);
  await person.call('hand_back', { outcome: 'done' });
  const later = followEvents(daemon.socket, { lastId: id });
  await later.connected;
  box.onClose(() => later.close());
  for (const type of ['control.locked', 'takeover.connected', 'control.unlocked', 'takeover.handed_back']) await later.next(type);
});
