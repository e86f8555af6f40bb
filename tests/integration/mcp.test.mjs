// SPDX-License-Identifier: GPL-2.0-or-later
//
// boxscreen mcp as agents use it: the official SDKs' clients, the real daemon, real people.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { boxTest, isAlive, patience, programs, root, waitFor } from './harness.mjs';
import { connect, imagesOf, pictureOf, textOf } from './mcp.mjs';
import { assertPixel, assertSamePixels } from './png.mjs';
import { control, openTakeover, Person } from './takeovers.mjs';

const TURN = [{ type: 'key', keys: 'a' }];
const bytesOf = async (url) => Buffer.from(await (await fetch(url)).arrayBuffer());

for (const modern of [false, true]) {
  boxTest(`the official ${modern ? '2.x client, revision 2026-07-28' : '1.x client, with a handshake'}: tools, a shot, an action`, async (box) => {
    const { daemon, env } = await box.startScreen({ width: 640, height: 400 });
    await box.startPainter(env, 'flip', 100, 200, 300, 40);
    const client = await connect(box, daemon, { modern });
    assert.equal(client.getServerVersion().name, 'boxscreen');
    assert.match(client.getInstructions(), /screen_takeover/);
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name), ['shot', 'act', 'type', 'record', 'takeover', 'say', 'status', 'clipboard', 'run'].map((name) => `screen_${name}`));
    const shot = await client.tool('screen_shot');
    assertSamePixels(pictureOf(shot), await daemon.shot());
    assert.deepEqual(shot.structuredContent.coordinates, { width: 640, height: 400 });
    const acted = await client.tool('screen_act', { actions: TURN });
    assert.equal(acted.structuredContent.changed, true);
    assert.deepEqual(acted.structuredContent.changed_area, [100, 200, 300, 40]);
    assertPixel(pictureOf(acted), 150, 220, [0, 0, 0]);
    await client.refused('screen_act', { actions: [{ type: 'fly' }] }, /actions\[0\]\.type.*fly/);
  });
}

boxTest('the schemas are what the tools take: each unknown member is named, each tool says what it does', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 200 });
  for (const args of [[], ['--names', 'sandbox']]) {
    const client = await connect(box, daemon, { args });
    for (const tool of (await client.listTools()).tools) {
      assert(tool.title.length > 4 && tool.description.length > 60 && tool.description.length < 900, tool.name);
      assert.equal(tool.inputSchema.additionalProperties, false);
      assert.equal(typeof tool.annotations.readOnlyHint, 'boolean');
      assert.equal('id' in tool.inputSchema.properties, args.length > 0);
      assert(!JSON.stringify(tool).includes('$MAX_SIDE'));
      assert(!args.length || !JSON.stringify(tool).includes('screen_'), tool.name);
      await client.refused(tool.name, { ...(tool.inputSchema.required?.includes('command') ? { command: 'true' } : {}), colour: 1 }, /colour: unknown member|is missing|must be|goes with/);
      // What the schema allows is not unknown to the tool.
      for (const name of Object.keys(tool.inputSchema.properties)) {
        const { content } = await client.call(tool.name, { [name]: {}, colour: 1 });
        assert(!content[0].text.startsWith(`${name}: unknown`), `${tool.name}.${name}: ${content[0].text}`);
      }
    }
  }
});

boxTest('docs/mcp.md has each tool with its arguments', async (box) => {
  const page = fs.readFileSync(path.join(root, 'docs/mcp.md'), 'utf8');
  const rows = Object.fromEntries([...page.matchAll(/^\| `(screen_\w+)` \| (.*?) \|/gm)].map(([, name, args]) => [name, [...args.matchAll(/`(\w+)`/g)].map(([, arg]) => arg)]));
  const { tools } = await (await connect(box, null)).listTools();
  assert.deepEqual(rows, Object.fromEntries(tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties)])));
});

boxTest('a screen larger than a model\'s pictures: one space for pictures, points, areas and windows', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 2000, height: 1000 });
  await box.paint(env, 'pattern');
  const client = await connect(box, daemon, { args: ['--max-side', '1000'] });
  const shot = await client.tool('screen_shot');
  assert.deepEqual([shot.structuredContent.width, shot.structuredContent.height], [1000, 500]);
  assertSamePixels(pictureOf(shot), await daemon.shot('?max_side=1000'));
  const moved = await client.tool('screen_act', { actions: [{ type: 'move', x: 250, y: 100 }, { type: 'cursor_position' }] });
  assert.deepEqual(moved.structuredContent.results[1], { action: 'cursor_position', x: 250, y: 100 });
  const real = await daemon.json('POST', '/v1/act', { body: { actions: [{ type: 'cursor_position' }] } });
  assert.deepEqual([real.results[0].x, real.results[0].y], [500, 200], 'in pixels of the screen');
  const part = await client.tool('screen_shot', { region: [100, 50, 200, 100] });
  assertSamePixels(pictureOf(part), await daemon.shot('?region=200,100,400,200')); // as sharp as the screen is
  assert.deepEqual(part.structuredContent.shows, [100, 50, 200, 100]);
  assert.match(textOf(part), /\(100 \+ px \* 0\.5, 50 \+ py \* 0\.5\)/);
  // A part that is as large as the whole's picture is none the less a part.
  const quarter = await client.tool('screen_shot', { region: [0, 0, 500, 250] });
  assertSamePixels(pictureOf(quarter), await daemon.shot('?region=0,0,1000,500'));
  assert.match(textOf(quarter), /^Part of the screen, 1000x500 .*\(0 \+ px \* 0\.5, 0 \+ py \* 0\.5\)/);
  const zoom = await client.tool('screen_act', { actions: [{ type: 'zoom', region: [0, 0, 500, 250] }], picture: 'none' });
  assert.match(textOf(zoom), /Part of the screen, 1000x500/);
  for (const args of [{}, { region: [0, 0, 1000, 500] }]) assert.match(textOf(await client.tool('screen_shot', args)), /^The whole screen, 1000x500/);
  assert.match(textOf(await client.tool('screen_shot', { grid: true })), /coordinates are those times 0\.5/);
  const window = await box.paint(env, 'window', 400, 200, 600, 300, 'ff0000');
  const status = await client.tool('screen_status');
  const told = status.structuredContent.windows.find(({ id }) => id === window.window);
  assert.deepEqual(told.area, [200, 100, 300, 150]);
  assert.deepEqual(status.structuredContent.coordinates, { width: 1000, height: 500 });
  const zoomed = pictureOf(await client.tool('screen_shot', { window: window.window }));
  assert.deepEqual([zoomed.width, zoomed.height], [600, 300]);
  assertPixel(zoomed, 5, 5, [255, 0, 0]);
});

boxTest('the screen takes another size in the midst of a call: what is told is for the next one', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 1000, height: 500 });
  await box.startPainter(env, 'flip', 10, 10, 40, 40);
  const client = await connect(box, daemon, { args: ['--max-side', '400'] });
  const resize = (width, height) => daemon.json('PUT', '/v1/screen', { body: { width, height } });
  const acting = client.tool('screen_act', { actions: [...TURN, { type: 'wait', ms: 500 * patience }] });
  await waitFor('the batch to begin', async () => (await daemon.shot()).pixel(20, 20)[0] === 0);
  await resize(300, 200);
  const acted = await acting;
  assert.match(textOf(acted), /changed \(area \[0,0,300,200\]\)[^]*The whole screen, 300x200: its pixels/);
  for (const link of [false, true]) {
    await resize(900, 450);
    const waiting = client.tool('screen_shot', { wait: 'change', link });
    await sleep(200); // should it not have begun to wait by now, the test is of less, and passes
    await resize(320, 240);
    const shot = await waiting;
    const { width, height } = pictureOf(shot);
    assert.deepEqual(shot.structuredContent.coordinates, { width, height });
    assert.match(textOf(shot), /^The whole screen/m);
  }
});

boxTest('a picture comes only when something changed, or as it is asked for', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 640, height: 400 });
  await box.startPainter(env, 'flip', 100, 200, 300, 40);
  const client = await connect(box, daemon);
  const still = await client.tool('screen_act', { actions: [{ type: 'move', x: 5, y: 5 }] });
  assert.deepEqual([still.structuredContent.changed, imagesOf(still).length], [false, 0]);
  assert.match(textOf(still), /Nothing on the screen changed/);
  const part = await client.tool('screen_act', { actions: TURN, picture: 'changed_part' });
  assert.deepEqual([pictureOf(part).width, pictureOf(part).height], [300, 40]);
  assert.match(textOf(part), /\(100 \+ px \* 1, 200 \+ py \* 1\)/);
  assert.equal(pictureOf(await client.tool('screen_act', { actions: [{ type: 'wait', ms: 10 }], picture: 'always' })).width, 640);
  assert.equal(imagesOf(await client.tool('screen_act', { actions: TURN, picture: 'none' })).length, 0);
  const zoom = await client.tool('screen_act', { actions: [{ type: 'zoom', region: [100, 200, 200, 240] }] });
  assert.equal(pictureOf(zoom).height, 256, 'as large as fits into what the model sees');
  assert.equal(zoom.structuredContent.results[0].picture.base64, undefined);
  const refused = await client.refused('screen_act', { actions: [{ type: 'click', x: 641, y: 1 }] }, /actions\[0\]/);
  assert.equal(refused.structuredContent, undefined);
  const before = await daemon.shot();
  const cutShort = client.refused('screen_act', { actions: [...TURN, { type: 'wait', ms: 60000 }] }, /^locked: actions\[1\] \(wait\)[^]*1 action before it was done/);
  await waitFor('the first action', async () => (await daemon.shot()).pixel(150, 220)[0] !== before.pixel(150, 220)[0]);
  const person = await Person.holding(box, (await openTakeover(daemon)).url);
  await cutShort;
  await person.call('hand_back', {});
  assert.match(textOf(await client.tool('screen_act', { actions: TURN, timeout_ms: 20 })), /1 action done/);
  assert.match(textOf(await client.tool('screen_act', { actions: TURN, quiet_ms: 5200 })), /at rest after [5-9]\d{3} ms/); // the longest wait makes room
  await client.refused('screen_act', { actions: TURN, quiet_ms: 500, timeout_ms: 100 }, /^timeout_ms: must not be shorter than quiet_ms \(500\)\. Nothing was done/);
  await client.refused('screen_act', { actions: [] }, /actions: must be a list/);
  await client.refused('screen_act', { actions: TURN, picture: 'huge' }, /picture: must be/);
});

boxTest('screen_type types exactly that, screen_clipboard reads and sets', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 640, height: 400 });
  const file = box.file('typed');
  box.spawn('xterm', ['-e', 'sh', '-c', `IFS= read -r line; printf %s "$line" > ${file}`], { env });
  const client = await connect(box, daemon);
  await client.tool('screen_shot', { wait: 'stable' });
  const typed = await client.tool('screen_type', { text: 'Grüße, "Привет" ✓', enter: true });
  assert.match(textOf(typed), /^2 actions done/);
  await waitFor('the text', () => fs.existsSync(file) && fs.readFileSync(file, 'utf8').length > 0);
  assert.equal(fs.readFileSync(file, 'utf8'), 'Grüße, "Привет" ✓');
  await client.refused('screen_type', { text: '' }, /text: is missing/);
  const set = await client.tool('screen_clipboard', { text: 'a\nü' });
  assert.equal(set.structuredContent.bytes, 4);
  assert.deepEqual((await client.tool('screen_clipboard')).structuredContent, { text: 'a\nü', bytes: 4 });
  const long = 'ä'.repeat(50000);
  await client.tool('screen_clipboard', { text: long });
  const got = await client.tool('screen_clipboard');
  assert.equal(got.structuredContent.bytes, 100000);
  assert.equal(got.structuredContent.text, long.slice(0, 32768));
  assert.match(textOf(got), /The first 65536 of 100000 bytes/);
});

boxTest('waits, the grid and a link to the picture', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 640, height: 400 });
  const client = await connect(box, daemon);
  const before = Date.now();
  const unchanged = await client.tool('screen_shot', { wait: 'change', timeout_ms: 200 });
  assert.match(textOf(unchanged), /Nothing changed within 200 ms/);
  assert(Date.now() - before < 5000 * patience);
  const waiting = client.tool('screen_shot', { wait: 'change', timeout_ms: 30000 });
  const blinking = await box.paint(env, 'blink', 10, 10, 50, 50, 200);
  assert.equal((await waiting).structuredContent.wait_end, 'changed');
  await blinking.stop();
  const linked = await client.tool('screen_shot', { link: true });
  assert.deepEqual(await bytesOf(linked.structuredContent.url), Buffer.from(imagesOf(linked)[0].data, 'base64'));
  assert(Date.parse(linked.structuredContent.expires_at) - Date.now() > 3500e3);
  assert(textOf(linked).includes(linked.structuredContent.url));
  assert.equal((await client.tool('screen_shot')).structuredContent.url, undefined);
  const gridded = pictureOf(await client.tool('screen_shot', { grid: true }));
  assert.throws(() => assertSamePixels(gridded, pictureOf(linked)));
  await client.tool('screen_shot', { wait: 'stable', timeout_ms: 10 });
  await client.refused('screen_shot', { region: [0, 0, 10] }, /region: must be/);
  await client.refused('screen_shot', { region: [0, 0, 10, 10], window: 'active' }, /window: cannot go with region/);
  await client.refused('screen_shot', { timeout_ms: 50 }, /timeout_ms: is for wait/);
  await client.refused('screen_shot', { window: 4294967294 }, /not_found: there is no such window/);
});

boxTest('what would be too large for clients comes as JPEG, with the same coordinates', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 1280, height: 800 });
  const noise = Buffer.alloc(1280 * 800 * 3);
  for (let i = 0, state = 1; i < noise.length; i++) { state = Math.imul(state, 1664525) + 1013904223 | 0; noise[i] = state >>> 24; }
  fs.writeFileSync(box.file('noise.ppm'), Buffer.concat([Buffer.from('P6\n1280 800\n255\n'), noise]));
  await box.paint(env, 'picture', box.file('noise.ppm'));
  const client = await connect(box, daemon);
  for (const input of [{}, { link: true }]) {
    const shot = await client.tool('screen_shot', input);
    const [image] = imagesOf(shot);
    assert.equal(image.mimeType, 'image/jpeg');
    assert(image.data.length < 950000, `${image.data.length}`);
    assert.equal(Buffer.from(image.data, 'base64').readUInt16BE(0), 0xffd8);
    assert.deepEqual([shot.structuredContent.width, shot.structuredContent.height, shot.structuredContent.format], [1280, 800, 'jpeg']);
    if (input.link) assert.equal((await bytesOf(shot.structuredContent.url)).toString('latin1', 1, 4), 'PNG');
  }
  // The last picture of a screen that is gone cannot be taken once more.
  const command = `"${programs.xhelper}" picture noise.ppm >painted & until [ -s painted ]; do sleep 0.05; done; exit 1`;
  const run = await client.tool('screen_run', { command, cwd: box.folder, video: box.file('n.mp4') });
  assert.equal(imagesOf(run).length, 0);
  assert.match(textOf(run), /A picture of the command's own screen at the end: \/.*\/n\.png/);
  assert(fs.statSync(box.file('n.png')).size > 1e6);
});

boxTest('clients that drop pictures beside structuredContent get the facts as text', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 200 });
  const shotOf = async (options) => (await connect(box, daemon, options)).tool('screen_shot');
  for (const options of [{ name: 'claude-code' }, { name: 'codex-mcp-client', modern: true }, { args: ['--structured', 'never'] }]) {
    const shot = await shotOf(options);
    assert.equal(shot.structuredContent, undefined);
    assert.equal(pictureOf(shot).width, 320);
    assert.deepEqual(JSON.parse(shot.content.at(-1).text).coordinates, { width: 320, height: 200 });
  }
  const always = await shotOf({ name: 'claude-code', args: ['--structured', 'always'] });
  assert.equal(always.structuredContent.width, 320);
  const other = await connect(box, daemon, { name: 'claude-code' });
  assert.equal((await other.tool('screen_status')).structuredContent.control.holder, 'agent', 'where no picture is');
});

boxTest('a recording with chapters; stopping returns the mp4\'s link', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 320, height: 200 });
  const client = await connect(box, daemon);
  await client.refused('screen_record', { action: 'stop' }, /Nothing is being recorded/);
  const started = await client.tool('screen_record', { action: 'start', name: 'demo', show_clicks: true });
  assert.equal(started.structuredContent.recording.state, 'recording');
  await client.tool('screen_record', { action: 'mark', text: 'logged in' });
  await box.paint(env, 'window', 10, 10, 50, 50, 'ff0000');
  assert.equal((await client.tool('screen_record', { action: 'pause' })).structuredContent.recording.state, 'paused');
  await client.tool('screen_record', { action: 'resume' });
  const listed = await client.tool('screen_record', { action: 'list' });
  assert.equal(listed.structuredContent.recordings.length, 1);
  assert.match(textOf(await client.tool('screen_status')), /Recording r-\w+: recording/);
  const { structuredContent: { recording }, content } = await client.tool('screen_record', { action: 'stop' });
  assert.equal(recording.id, started.structuredContent.recording.id);
  assert(content[0].text.includes(recording.url));
  assert.equal((await bytesOf(recording.url)).toString('latin1', 4, 8), 'ftyp');
  for (const [input, pattern] of [[{ action: 'begin' }, /action: must be/], [{ action: 'mark' }, /text: goes with mark/],
    [{ action: 'stop', name: 'x' }, /name: is for start/], [{ action: 'stop', recording: 'r-0/../..' }, /recording: must be an id that start returned/], [{ action: 'stop', recording: '' }, /recording: must be/],
    [{ action: 'stop', show_clicks: true }, /show_clicks: is for start/],
    [{ action: 'start', quality: 'best' }, /quality/]])
    await client.refused('screen_record', input, pattern);
});

boxTest('a takeover: its link as progress, other calls meanwhile, the message and a picture at the end', async (box) => {
  const { daemon, env } = await box.startScreen({ width: 320, height: 200 });
  const client = await connect(box, daemon);
  const progress = [];
  const waiting = client.tool('screen_takeover', { note: 'Log in to the bank', instructions: ['open it', 'log in'] },
    { onprogress: (step) => progress.push(step) });
  const linkIn = () => progress.map(({ message }) => message?.match(/https?:\S+/)?.[0]).find(Boolean);
  const url = await waitFor('the link', linkIn);
  await client.ping();
  assert.match(textOf(await client.tool('screen_status')), /Takeover "Log in to the bank": waiting for somebody/);
  const person = await Person.holding(box, url);
  assert.equal(person.state.takeover?.note ?? person.state.note, 'Log in to the bank');
  await waitFor('progress that says so', () => progress.some(({ message }) => /a person has the screen/.test(message)));
  await client.refused('screen_shot', {}, /locked: .*screen_takeover \(without a note\)/);
  await client.refused('screen_act', { actions: TURN }, /locked/);
  const status = await client.tool('screen_status');
  assert.deepEqual([status.structuredContent.control.holder, status.structuredContent.windows], ['person', null]);
  await client.tool('screen_say', { text: 'The code is in your mail.' });
  await waitFor('the message at the page', () => person.socket.texts.some((text) => JSON.stringify(text).includes('in your mail')));
  assert.equal((await daemon.json('GET', '/v1/notes')).notes.at(-1).text, 'The code is in your mail.');
  await box.paint(env, 'window', 0, 0, 320, 200, '0000ff');
  await person.call('hand_back', { message: 'it was "easy"' });
  const result = await waiting;
  assert.match(textOf(result), /^Handed back: done\. The person writes: it was "easy"$/m);
  const { state, outcome, message } = result.structuredContent;
  assert.deepEqual([state, outcome, message], ['handed_back', 'done', 'it was "easy"']);
  assertPixel(pictureOf(result), 100, 100, [0, 0, 255]);
  for (let i = 1; i < progress.length; i++) assert(progress[i].progress > progress[i - 1].progress, 'it grows');
});

boxTest('a call that is cut off leaves the takeover open; the next one resumes it, or is told what came of it', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 200 });
  const open = async () => (await daemon.json('GET', '/v1/status')).takeover;
  const first = await connect(box, daemon);
  const abort = new AbortController();
  const cut = first.call('screen_takeover', { note: 'a code' }, { signal: abort.signal });
  const { id } = await waitFor('the takeover', open);
  abort.abort();
  await assert.rejects(cut);
  await first.ping(); // it goes on serving
  assert.equal((await open()).id, id, 'cancelled is not given up');
  // The client goes away in the midst of waiting.
  const second = await connect(box, daemon);
  second.call('screen_takeover', { note: 'a code' }).catch(() => {});
  await sleep(300 * patience);
  process.kill(second.pid, 'SIGKILL');
  const third = await connect(box, daemon);
  const progress = [];
  const waiting = third.tool('screen_takeover', {}, { onprogress: (step) => progress.push(step.message) });
  const url = await waitFor('the link', () => progress[0]?.match(/https?:\S+/)?.[0]);
  assert.equal((await open()).id, id);
  const person = await Person.holding(box, url);
  await third.close();
  await waiting.catch(() => {});
  await waitFor('the server to end', () => !isAlive(third.pid), 10000);
  await person.call('hand_back', { outcome: 'could_not', message: 'no phone here' });
  const fourth = await connect(box, daemon);
  const told = await fourth.tool('screen_takeover', { note: 'the code, please' });
  assert.match(textOf(told), /became of the takeover "a code".*Nothing new was asked/);
  assert.match(textOf(told), /could_not\. The person writes: no phone here/);
  assert.equal(told.structuredContent.id, id);
  assert.equal(await open(), null, 'no second takeover');
  // It is asked for once more: the client may have lost it on its way.
  assert.match(textOf(await fourth.tool('screen_takeover')), /which ended at[^]*no phone here/);
  const asked = await fourth.tool('screen_takeover', { note: 'once more', wait_s: 0 });
  assert.equal(asked.structuredContent.state, 'open');
  assert(textOf(asked).includes(asked.structuredContent.url));
  const more = await fourth.tool('screen_takeover', { note: 'and the captcha', wait_s: 0 });
  assert.match(textOf(more), /open already, for "once more"/);
  assert.equal(more.structuredContent.id, asked.structuredContent.id);
  assert.equal((await daemon.json('GET', '/v1/notes')).notes.at(-1).text, 'and the captcha');
  await fourth.tool('screen_takeover', { cancel: true });
  assert.equal(await open(), null);
  await fourth.refused('screen_takeover', { cancel: true }, /No takeover is open/);
});

boxTest('a takeover that runs out is an error that says so', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 200 });
  const client = await connect(box, daemon);
  await client.refused('screen_takeover', {}, /No takeover is open\. Give a note/);
  await client.refused('screen_takeover', { note: 'x', timeout_s: 1 }, /Nobody handed the screen back/);
  await client.refused('screen_takeover', { instructions: ['x'] }, /instructions: go with a note/);
  await client.refused('screen_takeover', { note: '' }, /note/);
});

boxTest('a takeover that another program opened: its picture is one for a model all the same', async (box) => {
  const { daemon } = await box.startScreen({ width: 1000, height: 500 });
  const client = await connect(box, daemon, { args: ['--max-side', '400'] });
  const backFrom = async (options) => {
    const { url } = await openTakeover(daemon, options);
    const waiting = client.tool('screen_takeover');
    await (await Person.holding(box, url)).call('hand_back', {});
    return waiting;
  };
  const large = await backFrom({});
  assert.equal(pictureOf(large).width, 400);
  assert.match(textOf(large), /Handed back: done[^]*The whole screen, 400x200/);
  const part = await backFrom({ shot: { region: '500,100,300,200' } });
  assert.deepEqual([pictureOf(part).width, part.structuredContent.picture.shows], [300, [200, 40, 120, 80]]);
  assert.equal(imagesOf(await backFrom({ shot: false })).length, 0, 'who opened it wants none');
});

boxTest('errors name tools, where the daemon names its calls', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 200 });
  for (const [args, prefix] of [[[], 'screen_'], [['--names', 'sandbox'], 'sandbox_']]) {
    const client = await connect(box, daemon, { args });
    await client.refused(`${prefix}shot`, { window: 7 }, new RegExp(`no such window; ${prefix}status lists them`));
    await client.refused(`${prefix}shot`, { region: [320, 0, 5, 5] }, new RegExp(`outside the screen; ${prefix}status tells`));
    await client.refused(`${prefix}record`, { action: 'stop', recording: 'r-0' }, new RegExp(`no recording r-0; ${prefix}record \\(list\\) lists them`));
  }
});

boxTest('--names sandbox: the tools as the box\'s users know them', async (box) => {
  const { daemon } = await box.startScreen({ width: 320, height: 200, daemon: { args: ['--box-id', 'box-7'] } });
  const client = await connect(box, daemon, { args: ['--names', 'sandbox'] });
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name), ['shot', 'act', 'type', 'record', 'takeover', 'say', 'status', 'clipboard', 'run'].map((name) => `sandbox_${name}`));
  const id = 'box-7';
  const started = await client.tool('sandbox_shot', { id, record: 'start' });
  assert.equal(pictureOf(started).width, 320);
  assert.equal(started.structuredContent.recording.state, 'recording');
  assert.deepEqual(await bytesOf(started.structuredContent.url), Buffer.from(imagesOf(started)[0].data, 'base64'));
  const stopped = await client.tool('sandbox_shot', { id, record: 'stop' });
  assert.equal((await bytesOf(stopped.structuredContent.recording.url)).toString('latin1', 4, 8), 'ftyp');
  assert(textOf(stopped).includes(stopped.structuredContent.recording.url));
  await client.refused('sandbox_shot', { id, record: 'stop' }, /Nothing is being recorded/);
  await client.refused('sandbox_shot', { id: 'box-8' }, /this is box "box-7"/);
  await client.refused('sandbox_shot', { id, record: 'pause' }, /record: must be/);
  await client.tool('sandbox_say', { id, text: 'hello' });
  assert.equal((await client.tool('sandbox_status', { id })).structuredContent.box_id, id);
  // While a person has the screen a recording ends all the same; what cannot be had is the picture.
  await client.tool('sandbox_shot', { record: 'start' });
  const progress = [];
  const waiting = client.tool('sandbox_takeover', { id, note: 'the captcha, please' }, { onprogress: ({ message }) => progress.push(message) });
  const person = await Person.holding(box, await waitFor('the link', () => progress[0]?.match(/https?:\S+/)?.[0]));
  const locked = await client.tool('sandbox_shot', { id, record: 'stop' });
  assert.equal(imagesOf(locked).length, 0);
  assert.match(textOf(locked), /locked: .*sandbox_takeover/);
  assert(locked.structuredContent.recording.url);
  await person.call('hand_back', { message: 'solved' });
  assert.match(textOf(await waiting), /The person writes: solved/);
});

boxTest('screen_run: a failure leaves its output, its video and a last picture', async (box) => {
  const env = { TMPDIR: box.folder };
  const client = await connect(box, null, { env });
  const failed = await client.tool('screen_run', { command: 'xsetroot -solid "#00ff00"; pwd; echo "$HEADED"; sleep 0.5; exit 5', size: '400x300', cwd: '/usr' });
  const { exit_status: status, timed_out: timedOut, output, video, last_picture: last } = failed.structuredContent;
  assert.deepEqual([status, timedOut, output], [5, false, '/usr\n1\n']);
  assert.match(textOf(failed), /exit status 5 after/);
  assert.equal(fs.readFileSync(video).toString('latin1', 4, 8), 'ftyp');
  assert(fs.existsSync(last));
  assertPixel(pictureOf(failed), 10, 10, [0, 255, 0]);
  const good = await client.tool('screen_run', { command: 'seq 100000' });
  assert.deepEqual([good.structuredContent.exit_status, good.structuredContent.video], [0, undefined]);
  assert.match(textOf(good), /The end of its output:[^]*\n100000\n$/);
  assert(good.structuredContent.output.length <= 16384);
  const kept = await client.tool('screen_run', { command: 'true', keep: 'always', video: box.file('kept.mp4') });
  assert.equal(kept.structuredContent.video, box.file('kept.mp4'));
  const late = await client.tool('screen_run', { command: 'sleep 300', timeout_s: 1, video: box.file('late.mp4') });
  assert.equal(late.structuredContent.timed_out, true);
  const left = fs.readdirSync(box.folder).filter((name) => /^boxscreen-(run|video)/.test(name));
  assert.deepEqual(left, [path.basename(path.dirname(video))], 'one folder, of the failure');
  await client.refused('screen_run', { command: 'true', size: '9x9' }, /There was no screen/);
  await client.refused('screen_run', { command: 'true', cwd: '/nonexistent' }, /cwd: is no folder/);
  await client.refused('screen_run', { command: 'true', video: 'x.mp4' }, /video: must be an absolute path/);
}, { timeout: 180000 * patience });

boxTest('screen_run ends with its cancellation, and with the client', async (box) => {
  const env = { TMPDIR: box.folder };
  const pidIn = async (name) => Number(await waitFor('the command', () => fs.existsSync(box.file(name)) && fs.readFileSync(box.file(name), 'utf8').trim(), 20000));
  const client = await connect(box, null, { env });
  const abort = new AbortController();
  const cancelled = client.call('screen_run', { command: `echo $$ > ${box.file('a')}; exec sleep 300` }, { signal: abort.signal });
  const first = await pidIn('a');
  abort.abort();
  await assert.rejects(cancelled);
  await waitFor('the command to end', () => !isAlive(first), 15000);
  client.call('screen_run', { command: `echo $$ > ${box.file('b')}; exec sleep 300` }).catch(() => {});
  const second = await pidIn('b');
  process.kill(client.pid, 'SIGKILL');
  await waitFor('the other to end', () => !isAlive(second), 15000);
  await waitFor('its folders to go', () => !fs.readdirSync(box.folder).some((name) => name.startsWith('boxscreen-run')), 15000);
}, { timeout: 180000 * patience });

boxTest('no daemon, and one that is started anew', async (box) => {
  const server = await box.startXvfb({ width: 320, height: 200 });
  const socket = box.file('control.sock'), stateDir = box.file('state');
  const client = await connect(box, { env: { BOXSCREEN_SOCKET: socket } });
  await client.refused('screen_status', {}, /cannot be reached: no boxscreend answers/);
  const daemon = await box.startDaemon({ display: server.display, socket, stateDir });
  await client.tool('screen_shot');
  const progress = [];
  const waiting = client.tool('screen_takeover', { note: 'x' }, { onprogress: (step) => progress.push(step.message) });
  const url = new URL(await waitFor('the link', () => progress[0]?.match(/https?:\S+/)?.[0]));
  await daemon.stop('SIGKILL');
  const shot = client.tool('screen_shot'); // waits for it
  await sleep(500);
  const again = await box.startDaemon({ display: server.display, socket, stateDir });
  await again.waitReady();
  assert.equal(pictureOf(await shot).width, 320);
  const person = await Person.holding(box, `${new URL(again.url).origin}${url.pathname}${url.search}`);
  assert.equal((await control(again)).holder, 'person');
  await person.call('hand_back', { message: 'through it all' });
  assert.match(textOf(await waiting), /through it all/);
});

boxTest('the inspector finds nothing wrong', async (box, t) => {
  // Too large to be a dependency of the tests: npm install --prefix /tmp/i --ignore-scripts @modelcontextprotocol/inspector,
  // then MCP_INSPECTOR=/tmp/i/node_modules/.bin/mcp-inspector. It needs no network to run.
  const inspector = process.env.MCP_INSPECTOR || path.join(root, 'tests/node_modules/.bin/mcp-inspector');
  if (!fs.existsSync(inspector)) {
    t.skip('@modelcontextprotocol/inspector is not installed');
    return;
  }
  const { daemon } = await box.startScreen({ width: 320, height: 200 });
  const inspect = async (...args) => JSON.parse(await box.ok(inspector,
    ['--cli', '-e', `BOXSCREEN_SOCKET=${daemon.socket}`, programs.boxscreen, 'mcp', ...args], { timeoutMs: 60000 }));
  assert.equal((await inspect('--method', 'tools/list')).tools.length, 9);
  const shot = await inspect('--method', 'tools/call', '--tool-name', 'screen_shot');
  assert.equal(pictureOf(shot).width, 320);
});
