// SPDX-License-Identifier: GPL-2.0-or-later
//
// boxscreen, the tool: exit statuses, outputs, and what it does with daemons that misbehave.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { boxTest, isSanitized, programs, waitFor } from './harness.mjs';
import { assertPixel, readPng } from './png.mjs';
import { openSession } from './websocket.mjs';

const small = { width: 320, height: 240 };

/** A Unix socket server that answers each connection by `serve(socket)`. */
async function standIn(box, serve) {
  const socket = box.file(`stand-in${Math.random()}.sock`);
  const server = net.createServer((connection) => {
    connection.on('error', () => {});
    connection.once('data', () => serve(connection));
  });
  await new Promise((resolve) => server.listen(socket, resolve));
  box.onClose(() => server.close());
  return { env: { BOXSCREEN_SOCKET: socket } };
}

const answer = (status, body, type = 'application/json') =>
  `HTTP/1.1 ${status} X\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

boxTest('status, windows, clipboard get: text and JSON', async (box) => {
  const { daemon, env } = await box.startScreen(small);
  const status = await box.tool(daemon, ['status']);
  assert.equal(status.status, 0);
  assert.match(status.stdout.toString(), /320x240, depth 24, ready/);
  const json = await box.tool(daemon, ['status', '--json']);
  assert.equal(JSON.parse(json.stdout).screen.width, 320);
  box.spawn('xterm', ['-title', 'a title', '-geometry', '10x5'], { env });
  await waitFor('the window', async () => /a title/.test((await box.tool(daemon, ['windows'])).stdout));
  const windows = await box.tool(daemon, ['--json', 'windows']);
  assert(JSON.parse(windows.stdout).windows.some((w) => w.title === 'a title'));
  await box.run('sh', ['-c', 'xclip -selection clipboard >/dev/null 2>&1'], { env, input: 'Grüße\n😀' });
  // xclip returns before the server has its request.
  const clip = await waitFor('the clipboard', async () => {
    const result = await box.tool(daemon, ['clipboard', 'get']);
    return result.stdout.length > 0 && result;
  });
  assert.deepEqual([clip.status, clip.stdout.toString()], [0, 'Grüße\n😀']);
});

boxTest('shot: files by their ending, standard output, pipes', async (box) => {
  const { daemon, env } = await box.startScreen(small);
  await box.ok('xsetroot', ['-solid', '#336699'], { env });
  const magic = { 'a.png': '89504e47', 'b.jpg': 'ffd8', 'c.jpeg': 'ffd8', 'd.webp': '52494646', plain: '89504e47', 'E.PNG': '89504e47' };
  for (const [name, start] of Object.entries(magic)) {
    const result = await box.tool(daemon, ['shot', '-o', name]);
    assert.deepEqual([result.status, result.stdout.length, result.stderr], [0, 0, ''], name);
    assert(fs.readFileSync(box.file(name)).toString('hex').startsWith(start), name);
  }
  for (const args of [['shot'], ['shot', '-o', '-'], ['shot', '-o-'], ['shot', '--output=-']]) {
    assertPixel(readPng((await box.tool(daemon, args)).stdout), 5, 5, [0x33, 0x66, 0x99]);
  }
  const facts = JSON.parse((await box.tool(daemon, ['--json', 'shot', '-o', 'f.png', '--region', '10,20,30,40'])).stdout);
  assert.deepEqual([facts.path, facts.origin, facts.screen_size], ['f.png', '10,20', '320x240']);
  assert.equal(facts.bytes, fs.statSync(box.file('f.png')).size);
  const device = await box.tool(daemon, ['shot', '-o', '/dev/null', '-f', 'png']);
  assert.equal(device.status, 0);
  assert(fs.statSync('/dev/null').isCharacterDevice());
  fs.symlinkSync('a.png', box.file('link.png'));
  assert.equal((await box.tool(daemon, ['shot', '-o', 'link.png'])).status, 0);
  assert.deepEqual(fs.readdirSync(box.folder).filter((name) => name.includes('.part')), []);
});

boxTest('shot: where it cannot go', async (box) => {
  const { daemon } = await box.startScreen(small);
  const cases = [[['-o', '/nonexistent/x.png'], 1, /nonexistent/], [['-o', '.', '-f', 'png'], 1, /directory/i],
    [['-o', 'x.bmp'], 2, /\.bmp|ending/], [['-o', '/dev/full', '-f', 'png'], 1, /space/i], [['--json'], 2, /--output/]];
  for (const [args, status, message] of cases) {
    const result = await box.tool(daemon, ['shot', ...args]);
    assert.equal(result.status, status, `${args}: ${result.stderr}`);
    assert.match(result.stderr, message);
  }
  fs.writeFileSync(box.file('old.png'), 'old');
  const failing = await box.tool(daemon, ['shot', '-o', 'old.png', '--region', '9999,9999,1,1']);
  assert.equal(failing.status, 2);
  assert.equal(fs.readFileSync(box.file('old.png'), 'utf8'), 'old', 'a failing shot leaves the old file');
  // script(1) gives the tool a terminal.
  const terminal = await box.run('script', ['-qec', `${programs.boxscreen} shot`, '/dev/null'], { env: daemon.env });
  assert.equal(terminal.status, 2);
  assert.match(terminal.stdout.toString(), /terminal/);
});

boxTest('shot: every option reaches the daemon', async (box) => {
  const { daemon, env } = await box.startScreen();
  const { window } = await box.paint(env, 'window', 100, 50, 200, 100, '00ff00');
  const size = async (...args) => {
    const shot = readPng((await box.tool(daemon, ['shot', ...args])).stdout);
    return [shot.width, shot.height];
  };
  assert.deepEqual(await size('--scale', '0.5'), [640, 400]);
  assert.deepEqual(await size('-m', '320'), [320, 200]);
  assert.deepEqual(await size('--region', '1,2,33,44'), [33, 44]);
  assert.deepEqual(await size(`--window=${window}`), [200, 100]);
  assert.deepEqual(await size('-c', '--annotate', 'grid', '--wait', 'stable', '--quiet-ms', '50', '--timeout-ms', '3000'), [1280, 800]);
  const start = performance.now();
  const none = await box.tool(daemon, ['shot', '-o', 'x.png', '--wait', 'change', '--timeout-ms', '300']);
  assert.equal(none.status, 3, none.stderr);
  assert(performance.now() - start < 5000);
  await box.paint(env, 'blink', 0, 0, 20, 20, 20);
  const blinking = await box.tool(daemon, ['shot', '-o', 'y.png', '--wait', 'stable', '--timeout-ms', '300']);
  assert.equal(blinking.status, 0);
  assert.match(blinking.stderr, /time-out/);
});

boxTest('exit statuses for what the daemon answers', async (box) => {
  const codes = { bad_request: [400, 2], not_found: [404, 1], locked: [423, 4], screen_unavailable: [503, 5], timeout: [504, 3],
    internal: [500, 1], conflict: [409, 1], too_many: [429, 1] };
  for (const [error, [http, exit]] of Object.entries(codes)) {
    const server = await standIn(box, (socket) => socket.end(answer(http, JSON.stringify({ error, message: `about ${error}` }))));
    for (const args of [['windows'], ['shot', '-o', 'x.png'], ['clipboard', 'get'], ['events']]) {
      const result = await box.run(programs.boxscreen, args, { env: server.env });
      assert.equal(result.status, exit, `${error}, ${args}`);
      assert.equal(result.stderr, `boxscreen: about ${error}\n`);
      assert.equal(result.stdout.length, 0);
    }
    const json = await box.run(programs.boxscreen, ['windows', '--json'], { env: server.env });
    assert.equal(JSON.parse(json.stdout).error, error);
  }
  assert(!fs.existsSync(box.file('x.png')));
  const nobody = await box.run(programs.boxscreen, ['status'], { env: { BOXSCREEN_SOCKET: box.file('nobody') } });
  assert.equal(nobody.status, 5);
  assert.match(nobody.stderr, /nobody/);
  const longPath = await box.run(programs.boxscreen, ['--socket', `/${'x'.repeat(300)}`, 'status']);
  assert.equal(longPath.status, 5);
  const waiting = await box.startDaemon({ display: ':29999', waits: false });
  assert.equal((await box.tool(waiting, ['status'])).status, 5);
  assert.equal((await box.tool(waiting, ['shot', '-o', 'x.png'])).status, 5);
});

boxTest('daemons that misbehave end the tool with a clear word, never a crash', async (box) => {
  const replies = {
    nothing: '', garbage: '\x00\xffhello\r\n\r\n', 'half a header': 'HTTP/1.1 200 OK\r\nContent-Le',
    'half a body': 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', 'a wrong length': 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n',
    'endless headers': `HTTP/1.1 200 OK\r\n${'A: b\r\n'.repeat(20000)}\r\n`, 'no JSON': answer(200, '<html>'),
    'an error without JSON': answer(500, '<html>'), 'JSON of another shape': answer(200, '[1,2]'), 'half a chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
  };
  for (const [what, bytes] of Object.entries(replies)) {
    const server = await standIn(box, (socket) => socket.end(Buffer.from(bytes, 'latin1')));
    for (const args of [['status'], ['windows'], ['doctor']]) {
      const result = await box.run(programs.boxscreen, args, { env: server.env });
      assert([1, 5].includes(result.status), `${what}, ${args}: ${result.status} ${result.stderr}`);
      assert.equal(result.signal, null);
      assert((result.stderr + result.stdout).length > 10, what);
    }
  }
  const odd = answer(200, JSON.stringify({ screen: 5, control: [], viewers: { a: 1 }, recording: 'x', uptime_s: 'y', windows: [1, null, {}], checks: [5] }));
  const server = await standIn(box, (socket) => socket.end(odd));
  for (const args of [['status'], ['windows'], ['doctor']]) {
    assert.equal((await box.run(programs.boxscreen, args, { env: server.env })).signal, null, `${args}`);
  }
});

boxTest('answers in drops, in chunks, and large ones arrive whole', async (box) => {
  const body = Buffer.alloc(40 << 20, 'picture ');
  const large = await standIn(box, (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.end(body);
  });
  const result = await box.run(programs.boxscreen, ['shot', '-o', 'large.png'], { env: large.env });
  assert.equal(result.status, 0, result.stderr);
  assert(fs.readFileSync(box.file('large.png')).equals(body));
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n8;x=y\r\n, people\r\n0\r\nT: x\r\n\r\n';
  const drops = await standIn(box, (socket) => {
    let at = 0;
    const drip = setInterval(() => {
      if (at < chunked.length) socket.write(chunked.slice(at, at += 1));
      else { clearInterval(drip); socket.end(); }
    }, 1);
  });
  const dripped = await box.run(programs.boxscreen, ['clipboard', 'get'], { env: drops.env });
  assert.equal(dripped.stdout.toString(), 'hello, people');
});

boxTest('wrong usage: 2, what is wrong, and the nearest right name', async (box) => {
  const cases = [[[], /usage/], [['sht'], /"shot"/], [['clipboard'], /clipboard get/], [['clipbord', 'get'], /"clipboard get"/],
    [['shot', '--formt', 'png'], /--format/], [['shot', '--format'], /wants a value/], [['shot', '--format', 'gif'], /png\|jpeg\|webp/],
    [['shot', '--cursor=1'], /no value/], [['status', 'extra'], /extra/], [['status', '-z'], /-z/], [['zzzzzz'], /boxscreen help/],
    [['help', 'sht'], /shot/], [['--nosuch'], /--nosuch/], [['shot', '--wait', 'forever'], /stable\|change/]];
  for (const [args, message] of cases) {
    const result = await box.run(programs.boxscreen, args, { env: { BOXSCREEN_SOCKET: box.file('nobody') } });
    assert.equal(result.status, 2, args.join(' '));
    assert.match(result.stderr, message, args.join(' '));
    assert.equal(result.stdout.length, 0);
  }
});

boxTest('words that are no UTF-8: 2, and nothing is sent without them', async (box) => {
  const env = { BOXSCREEN_SOCKET: box.file('nobody') };
  for (const words of ['link X', 'link view --ttl X', 'click 1 1 -m X', 'drag 1 1 2 2 -m X', 'scroll X', 'scroll up -m X', 'key X', 'type X', 'say X',
    'takeover -n X', 'takeover -n x X', 'record start -o X.mp4', 'record start -n X', 'record start --fps X', 'record mark X', 'replay on -s X',
    'replay save -o X.mp4', 'publish rtmp://X']) {
    const result = await box.run('sh', ['-c', `"${programs.boxscreen}" ${words.replace('X', '"$(printf \'a\\377\')"')}`], { env });
    assert.deepEqual([result.status, /not valid UTF-8/.test(result.stderr)], [2, true], `${words}: ${result.stderr}`);
  }
  // A file of the caller's own may have any name.
  const { daemon } = await box.startScreen(small);
  const shot = await box.run('sh', ['-c', `"${programs.boxscreen}" shot --json -o "$(printf 'a\\377.png')"`], { env: daemon.env });
  assert.equal(JSON.parse(shot.stdout).path, 'a\ufffd.png');
});

boxTest('record get: the whole video or nothing, and why', async (box) => {
  const video = Buffer.alloc(3 << 20, 'film');
  const { env } = await standIn(box, (connection) => {
    connection.write(`HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: ${video.length}\r\n\r\n`);
    connection.end(video);
  });
  const get = (command) => box.run('sh', ['-c', `"${programs.boxscreen}" record get r-1 ${command}`], { env });
  assert.deepEqual((await get('| cat')).stdout, video);
  assert.equal((await get('-o v.mp4')).status, 0);
  assert.deepEqual(fs.readFileSync(box.file('v.mp4')), video);
  for (const [command, name] of [['>/dev/full', 'standard output'], ['-o full.mp4', 'full.mp4']]) {
    if (name === 'full.mp4') fs.symlinkSync('/dev/full', box.file('full.mp4.part'));
    const result = await get(command);
    assert.deepEqual([result.status, result.stderr], [1, `boxscreen: ${name}: No space left on device\n`], command);
  }
  assert(!fs.existsSync(box.file('full.mp4')));
});

boxTest('help and version need no daemon and no socket', async (box) => {
  const env = { BOXSCREEN_SOCKET: '' };
  for (const args of [['--version'], ['--help'], ['help'], ['help', 'shot'], ['shot', '--help'], ['help', 'clipboard'], ['help', '--names'], ['status', '-h']]) {
    const result = await box.run(programs.boxscreen, args, { env });
    assert.deepEqual([result.status, result.stderr], [0, ''], args.join(' '));
    assert(result.stdout.length > 10);
  }
  const full = await box.run('sh', ['-c', '"$0" help >/dev/full', programs.boxscreen]);
  assert.equal(full.status, 1);
});

boxTest('events: follows, in JSON too, and goes on when the daemon comes back', async (box) => {
  const { server, daemon } = await box.startScreen(small);
  const follower = box.spawn(programs.boxscreen, ['events', '--json'], { env: daemon.env });
  const shots = () => follower.output().split('\n').filter((line) => line.includes('"shot"')).map((line) => JSON.parse(line));
  const cause = () => daemon.json('POST', '/v1/shots', { body: { path: box.file('x.png') } });
  await waitFor('an event', async () => { await cause(); return shots().length > 0; });
  assert(shots()[0].id && shots()[0].event === 'shot' && typeof shots()[0].data === 'object');
  await daemon.stop('SIGKILL');
  await waitFor('a word about it', () => /waiting for it/.test(follower.log()));
  const count = shots().length;
  const again = await box.startDaemon({ display: server.display, socket: daemon.socket });
  await waitFor('events again', async () => {
    await again.json('POST', '/v1/shots', { body: { path: box.file('x.png') } });
    return shots().length > count;
  });
  const human = box.spawn(programs.boxscreen, ['events'], { env: daemon.env });
  await waitFor('a line', async () => {
    await again.json('POST', '/v1/shots', { body: { path: box.file('x.png') } });
    return /^\d\d:\d\d:\d\d shot \{/m.test(human.output());
  });
});

// Escape sequences as ESC [ and as U+009B, a bell, a carriage return, DEL, an override of direction.
const NASTY = 'a\x1b[2J\x1b]0;title\x07b\rc\u009b31md\x7fe\u202ef\tg\nh\\n';
const ONE_LINE = 'a\\x1b[2J\\x1b]0;title\\x07b\\rc\\u009b31md\\x7fe\\u202ef\\tg\\nh\\n';
const LINES = ONE_LINE.replace('\\tg\\nh', '\tg\nh');

/** What a command prints on a terminal. */
async function onTerminal(box, daemon, args) {
  const line = [programs.boxscreen, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const { stdout } = await box.run('script', ['-qec', line, '/dev/null'], { env: daemon.env });
  return stdout.toString().replaceAll('\r\n', '\n');
}

boxTest('what others wrote reaches no terminal as commands to it', async (box) => {
  const { daemon, env } = await box.startScreen(small);
  const plain = async (args) => (await box.tool(daemon, args)).stdout.toString();
  const terminal = (args) => onTerminal(box, daemon, args);
  const both = async (args, expected) => {
    assert(!/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/.test(expected));
    assert((await plain(args)).includes(expected), `${args}: ${JSON.stringify(await plain(args))}`);
    assert((await terminal(args)).includes(expected), `${args}: ${JSON.stringify(await terminal(args))}`);
  };
  // Lists: the same in a pipe.
  await daemon.request('POST', '/v1/say', { body: { text: NASTY } });
  await both(['notes'], ` agent: ${ONE_LINE}\n`);
  const title = box.spawn(programs.xhelper, ['window', '0', '0', '50', '50', 'ff0000'], { env });
  await waitFor('the window', async () => /50x50/.test(await plain(['windows'])));
  const id = (await daemon.json('GET', '/v1/windows')).windows[0].id;
  await box.ok('xprop', ['-id', `${id}`, '-f', '_NET_WM_NAME', '8u', '-set', '_NET_WM_NAME', NASTY], { env });
  await both(['windows'], ONE_LINE);
  await title.stop();
  const recording = (await daemon.request('POST', '/v1/recordings', { body: { path: box.file('r\x1b[31m\n.mp4') } })).json();
  await both(['record', 'list'], '/r\\x1b[31m\\n.mp4');
  await both(['status'], '/r\\x1b[31m\\n.mp4');
  await daemon.json('POST', `/v1/recordings/${recording.id}/stop`);
  await daemon.request('POST', '/v1/takeovers', { body: { note: NASTY } });
  await both(['status'], `open: ${ONE_LINE}\n`);
  // Complaints, about words of the command line too.
  for (const args of [['record', 'stop', 'r\x1b[2J'], ['click', '\x1b[2J', '1'], ['\x1b[2Jstatus']]) {
    assert.match((await box.tool(daemon, args)).stderr, /\\x1b\[2J/);
    assert.match(await terminal(args), /\\x1b\[2J/);
  }
  // The outcome: a text of several lines stays one.
  const { url } = (await daemon.request('POST', '/v1/takeovers', { body: { note: NASTY } })).json();
  const session = await openSession(url);
  const waiting = [box.tool(daemon, ['takeover']), onTerminal(box, daemon, ['takeover'])];
  await session.call('takeover', {});
  await sleep(300);
  await session.call('hand_back', { message: NASTY });
  assert.equal((await waiting[0]).stdout.toString(), `done: ${LINES}\n`);
  assert((await waiting[1]).endsWith(`done: ${LINES}\n`), JSON.stringify(await waiting[1]));
  // What programs read is exact, but on a terminal.
  await daemon.request('PUT', '/v1/clipboard', { body: NASTY });
  assert.equal(await plain(['clipboard', 'get']), NASTY);
  assert.equal(await terminal(['clipboard', 'get']), `${LINES}\n`);
  assert.equal(await plain(['record', 'stop', recording.id]), `${box.file('r\x1b[31m\n.mp4')}\n`);
  assert.equal(await terminal(['record', 'stop', recording.id]), `${box.file('r\\x1b[31m\\n.mp4')}\n`);
  assert.match((await box.tool(daemon, ['xdotool', 'x\x1b[2J'])).stderr, /\x1b\[2J/);
  assert(!(await terminal(['xdotool', 'x\x1b[2J'])).includes('\x1b'));
  for (const args of [['notes', '--json'], ['status', '--json']]) {
    const [there, here] = [await terminal(args), await plain(args)];
    assert(!/[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/.test(there), JSON.stringify(there));
    if (args[0] === 'notes') assert.deepEqual(JSON.parse(there), JSON.parse(here));
    if (args[0] === 'notes') assert.equal(JSON.parse(here).notes[0].text, NASTY);
  }
});

boxTest('takeover: options of a new one without its note are refused; what a resumed one keeps is said', async (box) => {
  const { daemon } = await box.startScreen(small);
  for (const [args, says] of [[['--no-wait'], /--no-wait goes with --note/], [['--timeout', '5'], /--timeout goes with --note/],
    [['Log in, please'], /an instruction goes with --note/], [['--cancel', '--no-wait'], /--cancel/], [['--cancel', 'x'], /--cancel/]]) {
    const result = await box.tool(daemon, ['takeover', ...args]);
    assert.equal(result.status, 2, `${args}`);
    assert.match(result.stderr, says);
  }
  assert.equal((await daemon.json('GET', '/v1/status')).takeover, null);
  const open = (...args) => box.tool(daemon, ['takeover', '--no-wait', ...args]);
  assert.equal((await open('--note', 'Log in', '-t', '60', 'first', 'second')).stderr, '');
  assert.equal((await open('--note', 'Log in')).stderr, '');
  const again = await open('--note', 'Pay', '-t', '90', 'third');
  assert.match(again.stdout.toString(), /^http/);
  assert.match(again.stderr, /already and goes on with its own note, instructions, timeout_s; this note was sent to the person/);
  assert.deepEqual(JSON.parse((await open('--note', 'Log in', '-t', '90', '--json')).stdout).kept, ['timeout_s']);
  const { takeover } = await daemon.json('GET', '/v1/status');
  assert.deepEqual([takeover.note, takeover.instructions], ['Log in', ['first', 'second']]);
  const bytes = await box.run('sh', ['-c', `"${programs.boxscreen}" takeover --no-wait --note x "$(printf 'a\\377')"`], { env: daemon.env });
  assert.deepEqual([bytes.status, /not valid UTF-8/.test(bytes.stderr)], [2, true], bytes.stderr);
});

boxTest('takeover: a daemon at which too many calls wait is asked again', async (box) => {
  const takeover = { id: 't-1', state: 'open', version: 1, url: 'http://x/', expires_at: '2026-11-30T00:00:00.000Z' };
  const answers = [answer(201, JSON.stringify(takeover)), answer(429, '{"error":"too_many","message":"too many"}'),
    answer(429, '{"error":"too_many","message":"too many"}'),
    answer(200, JSON.stringify({ ...takeover, state: 'handed_back', ended_at: 'now', outcome: 'done', message: 'well' }))];
  const daemon = await standIn(box, (connection) => connection.end(answers.shift()));
  const result = await box.tool(daemon, ['takeover', '--note', 'x']);
  assert.deepEqual([result.status, result.stdout.toString(), answers.length], [0, 'done: well\n', 0], result.stderr);
});

boxTest('doctor: all facts, and what is wrong without a daemon', async (box) => {
  const { daemon } = await box.startScreen(small);
  const good = await box.tool(daemon, ['doctor']);
  assert.equal(good.status, 0, good.stdout.toString());
  for (const what of ['socket', 'daemon', '/dev/shm', 'fonts', 'x264']) assert.match(good.stdout.toString(), new RegExp(what));
  const json = JSON.parse((await box.tool(daemon, ['doctor', '--json'])).stdout);
  assert(json.checks.length >= 7 && json.checks.every((check) => ['ok', 'warn', 'fail'].includes(check.state)));
  fs.chmodSync(daemon.socket, 0o666);
  assert.match((await box.tool(daemon, ['doctor'])).stdout.toString(), /warn +socket[^]*0660/);
  const none = await box.run(programs.boxscreen, ['doctor', '--socket', box.file('nobody')]);
  assert.equal(none.status, 5);
  assert.match(none.stdout.toString(), /fail +daemon[^]*-> start it/);
});

boxTest('it starts in a few milliseconds and links neither X nor codecs', async (box, t) => {
  const libraries = await box.ok('ldd', [programs.boxscreen]);
  if (!isSanitized) assert.doesNotMatch(libraries, /libX|libxcb|libav|libwebsockets|libuv|libpng|libssl/);
  const times = [];
  for (let i = 0; i < 30; i++) {
    const start = performance.now();
    await box.ok(programs.boxscreen, ['--version']);
    times.push(performance.now() - start);
  }
  const median = times.sort((a, b) => a - b)[15];
  t.diagnostic(`--version, from node: ${median.toFixed(1)} ms`);
  if (!isSanitized) assert(median < 50, `${median} ms`);
});
