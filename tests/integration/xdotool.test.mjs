// SPDX-License-Identifier: GPL-2.0-or-later
//
// The xdotool language beside Debian's xdotool, its chains and scripts. What its keys and pointer do is in
// xdotool-input.test.mjs, what it does with windows in xdotool-windows.test.mjs. docs/xdotool.md names the
// tests of the three files, row by row; the last test here checks that it does.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { patience, root, waitFor } from './harness.mjs';
import { deskTest, heldKeys } from './xdotool.mjs';

/* Beside the real one */

const alike = [
  ['mousemove', '0', '0', 'getmouselocation'], ['mousemove', '10', '20', 'getmouselocation', '--shell'],
  ['getmouselocation', '--shell', '--prefix', 'B_'], ['getdisplaygeometry'], ['getdisplaygeometry', '--shell'],
  ['mousemove', '--polar', '225', '300', 'getmouselocation'], ['mousemove', '--polar', '0', '390', 'getmouselocation'],
  ['mousemove', '--', '-5', '-5', 'getmouselocation'], ['mousemove', '5000', '5000', 'getmouselocation'],
  ['mousemove', '10', '20', 'mousemove', '30', '40', 'mousemove', 'restore', 'getmouselocation'],
  ['mousemove', '10.7', '3', 'getmouselocation'], ['MouseMove', '7', '7', 'getmouselocation'],
  ['mousemove', '9', '9', 'mousemove_relative', '3', '4', 'getmouselocation'],
  ['mousemove', '9', '9', 'mousemove_relative', '--', '-3', '-40', 'getmouselocation'],
  ['search', '--name', 'first'], ['search', '--name', 'FIRST|second'], ['search', 'term'], ['search', '--class', 'xterm'],
  ['search', '--classname', 'xterm'], ['search', '--class', '.'], ['search', '--name', '.'], ['search', '.'],
  ['search', '--name', 'nosuch'], ['search', '--shell', '--name', 'term'], ['search', '--shell', '--name', 'nosuch'],
  ['search', '--shell', '--prefix', 'P', '--name', 'term'], ['search', '--limit', '1', '--name', '.'],
  ['search', '--maxdepth', '1', '--name', '.'], ['search', '--maxdepth', '0', '.'], ['search', '--title', 'first'],
  ['search', '--onlyvisible', '--name', '.'], ['search', '--all', '--name', '--class', 'term'],
  ['search', '--class', '--classname', 'xterm'], ['search', '--desktop', '0', '--name', '.'],
  ['search', '--pid', '1', 'getactivewindow'], ['search', '--name', 'first|second', 'getwindowname', '%@'],
  ['search', '--name', 'first|second', 'getwindowname', '%2'], ['search', '--name', 'first', 'getwindowname', '%3'],
  ['search', '--class', 'xterm', 'getwindowname'], ['search', '--name', 'first', 'search', '--name', 'second', 'getwindowname'],
  ['getwindowname'], ['getwindowname', '0x1'], ['getwindowname', 'nonsense'], ['getwindowname', '%1'],
  ['windowsize', '77', '1', '1'], ['windowmove', '12'], ['mousemove', 'restore'], ['mousemove', '1'], ['search'], ['type'],
  ['key'], ['click'], ['click', '--repeat'], ['click', '0'], ['click', '12'], ['sleep'], ['sleep', '0.01'], ['bogus'],
  ['mousemove', '1', '1', 'bogus'], ['getwindowfocus', '--bogus'], ['exec'], ['get_desktop_for_window'],
  ['windowactivate', '77'], ['windowkill', '0x3'], ['windowunmap', '--sync'], ['getwindowgeometry', '77'],
  ['set_window', '--name', 'first', '77'], ['mousemove', '1', '2', '--sync'],
];
const alikeWithManager = [
  ['getactivewindow', 'getwindowname'], ['getwindowfocus', 'getwindowname'], ['getactivewindow'], ['getwindowfocus'],
  ['getwindowfocus', '-f'], ['get_num_desktops'], ['get_desktop'], ['search', '--name', 'first', 'get_desktop_for_window'],
  ['search', '--desktop', '1', '--name', '.'], ['search', '--name', 'first', 'getactivewindow'],
];

async function compare(desk, lists) {
  const wrong = [];
  for (const args of lists) {
    const real = await desk.real(...args);
    const ours = await desk.xdo(...args);
    /* The place of the pointer is compared; the window under it is one of the intended differences. */
    const plain = (text) => text.replace(/window:\d+/, 'window').replace(/WINDOW=\d+/, 'WINDOW');
    if (plain(real.out) !== plain(ours.out) || real.status !== ours.status)
      wrong.push({ args, real, ours });
  }
  assert.deepEqual(wrong, []);
}

for (const manager of [false, true]) {
  deskTest(`answers as Debian's xdotool does, ${manager ? 'with' : 'without'} a window manager`, async (desk) => {
    await desk.xev('first one', '300x200+100+100');
    await desk.xev('second one', '300x200+500+100');
    desk.box.spawn('xterm', ['-T', 'term', '-geometry', '+100+400', '-e', 'sleep', '1000'], { env: desk.env });
    const [id] = (await desk.ok('search', '--sync', '--onlyvisible', '--class', 'xterm')).split('\n');
    if (manager) await desk.ok('windowactivate', '--sync', id);
    await compare(desk, manager ? [...alike, ...alikeWithManager] : alike);
    if (manager) await compare(desk, [['search', '--class', 'xterm', 'getwindowpid']]);
  }, { manager });
}

/* The rest */

deskTest('sleep', async (desk) => {
  const { ms, status } = await desk.xdo('sleep', '0.25', 'sleep', '.1');
  assert.equal(status, 0);
  assert(ms >= 350 && ms < 350 + 400 * patience, `${ms} ms`);
});

deskTest('exec, behave, behave_screen_edge and selectwindow are refused before anything is done', async (desk) => {
  await desk.ok('mousemove', '50', '50');
  await desk.fails(/exec: not here/, 'mousemove', '9', '9', 'exec', 'touch', desk.box.file('x'));
  await desk.fails(/behave: not here/, 'mousemove', '9', '9', 'behave', '%1', 'focus', 'key', 'a');
  await desk.fails(/behave_screen_edge: not here/, 'behave_screen_edge', 'left', 'key', 'a');
  await desk.fails(/selectwindow: not here/, 'selectwindow');
  assert.deepEqual(await desk.pointer(), [50, 50]);
  assert(!fs.existsSync(desk.box.file('x')));
});

deskTest('help and version', async (desk) => {
  assert.match(await desk.ok('version'), /^xdotool version 4\.20260303\.1 \(boxscreen .*\)\n$/);
  assert.equal(await desk.ok('--version'), await desk.ok('-v'));
  const help = await desk.ok('help');
  assert.match(help, /^Available commands:\n {2}key\n/);
  assert.equal(await desk.ok('--help'), help);
  assert.match(await desk.ok('mousemove', '--help', 'bogus'), /^Usage: mousemove \[options\] X Y/);
  const nothing = await desk.xdo();
  assert.deepEqual([nothing.status, nothing.out, nothing.err], [1, help, 'Usage: xdotool <cmd> <args>\n']);
  const known = new Set(help.trim().split('\n').slice(1).map((line) => line.trim()));
  const refused = new Set(['exec', 'behave', 'behave_screen_edge', 'selectwindow']);
  const real = (await desk.real('help')).out.trim().split('\n').slice(1).map((line) => line.trim());
  for (const name of real) assert(known.has(name) !== refused.has(name), name);
});

deskTest('scripts run line by line', async (desk) => {
  const window = await desk.xev('scripted');
  let result = await desk.script('search --name "script ed"\nsearch --name scripted\ngetwindowname # the stack stays\n');
  assert.deepEqual([result.status, result.out], [0, 'scripted\n'.replace(/^/, `${window.id}\n`)]);
  result = await desk.script('mousemove $1 $2 getmouselocation\n', '44', '55');
  assert.match(result.out, /^x:44 y:55 /);
  result = await desk.script('getmouselocation\nbogus\n');
  assert.equal(result.status, 1);
  result = await desk.script('mousemove 1 1\nbogus\nmousemove 2 2 getmouselocation\n');
  assert.equal(result.status, 0, 'the status is the last line\'s');
  assert.match(result.err, /Unknown command: bogus/);
  assert.match(result.out, /^x:2 y:2 /);
  result = await desk.script('mousemove 3 3\ntype "abc\n');
  assert.equal(result.status, 1);
  assert.match(result.err, /line 2: the quote " is not closed/);
  assert.deepEqual(await desk.pointer(), [2, 2], 'nothing of a broken script is run');
  result = await desk.script('getwindowname $NOSUCHVARIABLE');
  assert.match(result.err, /line 1: environment variable \$NOSUCHVARIABLE is not set/);
  const file = desk.box.file('script');
  fs.writeFileSync(file, '#!/usr/bin/xdotool\nmousemove $1 9\ngetmouselocation\n');
  assert.match(await desk.ok(file, '8'), /^x:8 y:9 /);
  const many = await desk.script('mousemove 1 1\n'.repeat(5000) + 'getmouselocation\n');
  assert.match(many.out, /^x:1 y:1 /);
});

deskTest('scripts type quotes and blanks as they are', async (desk) => {
  const terminal = await desk.terminal();
  const result = await desk.script('type "a b  c"\ntype \'c?}xG$si"z\'\ntype --clearmodifiers -- \\\n');
  assert.equal(result.status, 0, result.err);
  const wanted = 'a b  cc?}xG$si"z\\';
  await waitFor('the text', () => terminal.text() === wanted).catch(() => {});
  assert.equal(terminal.text(), wanted);
});

deskTest('nothing is done when somebody else holds the screen', async (desk) => {
  const window = await desk.xev('locked');
  await desk.ok('mousemove', '--window', window.id, '20', '20');
  const at = await desk.pointer();
  const locked = await desk.xdo('--locked', 'mousemove', '1', '1', 'key', 'a', 'getdisplaygeometry');
  assert.deepEqual([locked.status, locked.out], [123, '']);
  assert.match(locked.err, /somebody else holds the screen/);
  for (const args of [['sleep', '10'], ['search', '--sync', '--name', 'nosuch'], ['key', '--delay', '20000', 'b'],
    ['type', '--delay', '500', 'abcdefghijklmnopqrstuvwxyz'], ['click', '--repeat', '100', '--delay', '200', '1']]) {
    const start = performance.now();
    const result = await desk.xdo('--lock-after', '150', ...args, 'mousemove', '1', '1');
    assert.equal(result.status, 123, `${args.join(' ')}: ${result.err}`);
    assert(performance.now() - start < 3000 * patience, args.join(' '));
  }
  assert.deepEqual(await desk.pointer(), at);
  assert.equal(await heldKeys(desk), 0);
});

deskTest('a run that is canceled lets go of everything', async (desk) => {
  const window = await desk.xev('canceled');
  await desk.ok('mousemove', '--window', window.id, '20', '20');
  for (const args of [['keydown', 'shift', 'mousedown', '1', 'sleep', '10'], ['key', '--delay', '20000', 'b'],
    ['search', '--sync', '--name', 'nosuch'], ['windowfocus', '--sync', window.id, 'sleep', '10']]) {
    const result = await desk.xdo('--cancel-after', '150', ...args);
    assert.equal(result.status, 143, result.err);
    assert.equal(await heldKeys(desk), 0);
  }
  await window.expect('+Shift_L +1 -1 -Shift_L +b -b');
});

deskTest('many commands take little time', async (desk) => {
  const args = [];
  for (let i = 0; i < 1000; i++) args.push('mousemove', i, i % 800);
  const { ms, status } = await desk.xdo(...args, 'getmouselocation');
  assert.equal(status, 0);
  assert(ms < 1000 * patience, `${ms} ms for 1000 moves`);
});

/* The document */

test('docs/xdotool.md names a test of these files for each command', async () => {
  const page = fs.readFileSync(path.join(root, 'docs/xdotool.md'), 'utf8');
  const own = ['xdotool', 'xdotool-input', 'xdotool-windows']
    .map((name) => fs.readFileSync(path.join(root, `tests/integration/${name}.test.mjs`), 'utf8')).join('');
  const unit = fs.readFileSync(path.join(root, 'tests/unit/test_xdotool.c'), 'utf8');
  const table = fs.readFileSync(path.join(root, 'display/xdotool_commands.c'), 'utf8');
  const names = [...own.matchAll(/(?:deskTest|bothTest|test)\((?:'([^']+)'|`([^`$]+))/g)].map((match) => match[1] ?? match[2]);
  const commands = [...table.matchAll(/^\t\{"(\w+)"/gm)].map((match) => match[1]);
  assert(commands.length > 45, 'the table of commands was found');
  const rows = page.split('\n').filter((line) => /^\| `/.test(line));
  for (const command of commands)
    assert(rows.some((row) => row.split('|')[1].includes(`\`${command}\``)), `no row for ${command}`);
  for (const row of rows) {
    const tests = row.split('|').at(-2).split(';').map((name) => name.trim());
    for (const name of tests)
      assert(names.some((known) => known.startsWith(name) || known === name) || unit.includes(`(${name})`),
        `no test "${name}" for ${row.split('|')[1]}`);
  }
});
