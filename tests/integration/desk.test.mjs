// SPDX-License-Identifier: GPL-2.0-or-later
//
// Clipboard and windows through the control socket and the tool.
import assert from 'node:assert/strict';
import fs from 'node:fs';

import { boxTest, programs, waitFor } from './harness.mjs';
import { act, startTerminal } from './desk.mjs';

const text = 'Grüße 你好 😀\nzweite Zeile';
const put = (daemon, body, type = 'text/plain; charset=utf-8', query = '') =>
  daemon.request('PUT', `/v1/clipboard${query}`, { body, headers: { 'Content-Type': type } });

/** xclip's output, as bytes. */
async function xclip(box, env, selection, target) {
  const result = await box.run('xclip', ['-o', '-selection', selection, ...(target ? ['-t', target] : [])], { env });
  return result.status === 0 ? result.stdout : null;
}

boxTest('clipboard: text and pictures, both selections, read by other programs and by ourselves', async (box) => {
  const { server, daemon } = await box.startScreen();
  for (const selection of ['clipboard', 'primary']) {
    assert.equal((await put(daemon, text, undefined, `?selection=${selection}`)).status, 204);
    assert.equal((await xclip(box, server.env, selection, 'UTF8_STRING')).toString(), text);
    assert.equal((await daemon.request('GET', `/v1/clipboard?selection=${selection}`)).body.toString(), text);
  }
  assert.equal((await xclip(box, server.env, 'clipboard', 'STRING')).toString('latin1'), 'Grüße ?? ?\nzweite Zeile');
  const picture = (await daemon.request('GET', '/v1/shot')).body;
  assert.equal((await put(daemon, picture, 'image/png')).status, 204);
  assert((await xclip(box, server.env, 'clipboard', 'image/png')).equals(picture));
  assert((await daemon.request('GET', '/v1/clipboard?type=image/png')).body.equals(picture));
  assert.equal((await daemon.request('GET', '/v1/clipboard')).status, 404);
  assert.equal((await daemon.request('GET', '/v1/clipboard?selection=primary')).body.toString(), text);
});

boxTest('clipboard: our own selection is read without fail, a hundred times', async (box) => {
  const { daemon } = await box.startScreen();
  for (let i = 0; i < 100; i++) {
    await put(daemon, `text ${i}`);
    assert.equal((await daemon.request('GET', '/v1/clipboard')).body.toString(), `text ${i}`);
  }
});

boxTest('clipboard: long contents go in pieces, both ways', async (box) => {
  const { server, daemon } = await box.startScreen();
  const long = 'äöü 0123456789 '.repeat(200000); // 3.6 MB
  assert.equal((await put(daemon, long)).status, 204);
  assert.equal((await xclip(box, server.env, 'clipboard', 'UTF8_STRING')).toString(), long);
  assert.equal((await daemon.request('GET', '/v1/clipboard')).body.toString(), long);
});

boxTest('clipboard: what is no text and no picture is refused', async (box) => {
  const { daemon } = await box.startScreen();
  await put(daemon, 'before');
  for (const [body, type] of [[Buffer.from([0xff, 0xfe]), 'text/plain'], ['no picture', 'image/png'], ['x', 'video/mp4']]) {
    const reply = await put(daemon, body, type);
    assert.equal(reply.status, 400);
    assert.equal(reply.json().error, 'bad_request');
  }
  assert.equal((await daemon.request('GET', '/v1/clipboard')).body.toString(), 'before');
});

boxTest('clipboard: what a program copied survives the program', async (box) => {
  const { server, daemon } = await box.startScreen();
  const owner = box.spawn('xclip', ['-i', '-quiet', '-selection', 'clipboard'], { env: server.env, stdio: ['pipe', 'pipe', 'pipe'] });
  owner.process.stdin.end(text);
  await waitFor('the copy', async () => (await daemon.request('GET', '/v1/clipboard')).body.toString() === text);
  // It was asked by us just now, and by the keeper as soon as it had copied.
  await waitFor('the keeper to have asked', () => /request number [3-9]/.test(owner.log()));
  // Answered after the keeper, so the keeper has its answer too.
  assert.equal((await daemon.request('GET', '/v1/clipboard')).body.toString(), text);
  await owner.stop('SIGKILL');
  await waitFor('the clipboard to be ours', async () => (await xclip(box, server.env, 'clipboard', 'UTF8_STRING'))?.toString() === text);
  assert.equal((await daemon.request('GET', '/v1/clipboard')).body.toString(), text);
});

boxTest('the tool: clipboard set and get, type, click, key, act', async (box) => {
  const { daemon } = await box.startScreen();
  const terminal = await startTerminal(box, daemon);
  assert.equal((await box.tool(daemon, ['clipboard', 'set', text])).status, 0);
  assert.equal((await box.tool(daemon, ['clipboard', 'get'])).stdout.toString(), text);
  assert.equal((await box.tool(daemon, ['clipboard', 'set', '--selection', 'primary'], { input: 'from stdin' })).status, 0);
  assert.equal((await box.tool(daemon, ['clipboard', 'get', '--selection', 'primary'])).stdout.toString(), 'from stdin');
  assert.equal((await box.tool(daemon, ['type', 'zwei', 'Wörter'])).status, 0);
  await terminal.expect('zwei Wörter');
  assert.equal((await box.tool(daemon, ['type', '--', '-1'])).status, 0);
  await terminal.expect('-1');
  fs.writeFileSync(box.file('text'), 'a\nb');
  assert.equal((await box.tool(daemon, ['type', '--file', box.file('text')])).status, 0);
  await terminal.expect('a\nb');
  assert.equal((await box.tool(daemon, ['key', 'Return', 'x'])).status, 0);
  await terminal.expect('\nx');
  assert.match((await box.tool(daemon, ['click', '300', '200', '--settle'])).stdout.toString(), /^(un)?changed/);
  const acted = await box.tool(daemon, ['act', '-'], { input: '[{"type":"move","x":5,"y":6},{"type":"cursor_position"}]' });
  assert.deepEqual(JSON.parse(acted.stdout).results[1], { action: 'cursor_position', x: 5, y: 6 });
  const wrong = await box.tool(daemon, ['key', 'nosuch']);
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /nosuch/);
  for (const args of [['click', '1'], ['move', 'a', 'b'], ['drag', '1', '2', '3', '4', '5'], ['type']])
    assert.equal((await box.tool(daemon, args)).status, 2, args.join(' '));
  await terminal.expect('');
});

boxTest('the tool under the name xdotool', async (box) => {
  const { daemon } = await box.startScreen();
  fs.symlinkSync(programs.boxscreen, box.file('xdotool'));
  const xdotool = (args, options) => box.run(box.file('xdotool'), args, { env: daemon.env, ...options });
  assert.equal((await xdotool(['mousemove', '50', '60', 'getmouselocation', '--shell'])).stdout.toString().split('\n', 2).join(), 'X=50,Y=60');
  assert.equal((await xdotool(['nosuch'])).status, 1);
  fs.writeFileSync(box.file('script'), 'mousemove $1 $Y\ngetmouselocation\n');
  const scripted = await xdotool([box.file('script'), '33'], { env: { ...daemon.env, Y: '44' } });
  assert.match(scripted.stdout.toString(), /^x:33 y:44 /);
  assert.match((await xdotool(['-', '7'], { input: 'mousemove $1 8 getmouselocation' })).stdout.toString(), /^x:7 y:8 /);
});

// A program of Xt's waits 5 s itself when nobody answers its wish for a size, as a window manager that
// is just starting may not.
const XT_WAIT_MS = 15000;

for (const manager of [null, 'openbox']) {
  boxTest(`windows: activate, move, resize, close ${manager ? `under ${manager}` : 'without a window manager'}`, async (box) => {
    const { server, daemon } = await box.startScreen();
    if (manager) {
      box.spawn(manager, [], { env: server.env });
      await waitFor('the window manager', async () =>
        /window id/.test(await box.ok('xprop', ['-root', '_NET_SUPPORTING_WM_CHECK'], { env: server.env })));
    }
    // An xterm whose shell is not up yet has nothing to hang up when it is closed, and stays.
    for (const name of ['one', 'two'])
      box.spawn('xterm', ['-T', name, '-geometry', '40x10+100+100', '-e', 'sh', '-c', `touch ${name}.up; sleep 1000`], { env: server.env });
    for (const name of ['one', 'two'])
      await waitFor(`the shell of ${name}`, () => fs.existsSync(box.file(`${name}.up`)), XT_WAIT_MS);
    const find = async (name) => (await daemon.json('GET', '/v1/windows')).windows
      .find(({ title, visible }) => title === name && visible);
    const one = await waitFor('window one', () => find('one'), XT_WAIT_MS);
    await waitFor('window two', () => find('two'), XT_WAIT_MS);
    const call = (id, verb, body) => daemon.request('POST', `/v1/windows/${id}/${verb}`, { body });
    assert.equal((await call(one.id, 'activate')).status, 200);
    await waitFor('one to be active', async () => (await find('one')).active);
    assert.equal((await call(one.id, 'move', { x: 300, y: 200 })).status, 200);
    await waitFor('one to have moved', async () => {
      const { x, y } = await find('one');
      return Math.abs(x - 300) <= 10 && Math.abs(y - 200) <= 40; // a frame's borders
    }, XT_WAIT_MS);
    assert.equal((await call(one.id, 'resize', { width: 400, height: 300 })).status, 200);
    await waitFor('one to have another size', async () => {
      const { width, height } = await find('one');
      return Math.abs(width - 400) <= 10 && Math.abs(height - 300) <= 15; // whole characters
    }, XT_WAIT_MS);
    assert.equal((await call(one.id, 'close')).status, 200);
    await waitFor('one to be gone', async () => !(await find('one')), XT_WAIT_MS);
    assert(await find('two'));
    const gone = await call(one.id, 'activate');
    assert.deepEqual([gone.status, gone.json().error], [404, 'not_found']);
    for (const [id, verb, body] of [['x', 'close'], [one.id, 'move', { x: 1 }], [one.id, 'resize', { width: 0, height: 1 }]])
      assert.equal((await call(id, verb, body)).status, 400);
    await act(daemon, [{ type: 'wait', ms: 1 }]);
  });
}
