// SPDX-License-Identifier: GPL-2.0-or-later
//
// The xdotool language: how it finds windows, what it does with them, and desktops.
import assert from 'node:assert/strict';
import { patience, waitFor } from './harness.mjs';
import { bothTest, deskTest } from './xdotool.mjs';

bothTest('search fills the stack and prints only at the end', async (desk) => {
  const one = await desk.xev('one', '200x200+50+50'), two = await desk.xev('two', '200x200+400+50');
  assert.equal(await desk.ok('search', '--name', '^two$'), `${two.id}\n`);
  assert.equal(await desk.ok('search', '--name', '^two$', 'getwindowname'), 'two\n');
  assert.equal(await desk.ok('search', '--shell', '--name', '^two$', 'getwindowname'), `WINDOWS=(${two.id}\n)\ntwo\n`);
  const names = await desk.ok('search', '--name', '^(one|two)$', 'getwindowname', '%@');
  assert.deepEqual(names.split('\n').sort(), ['', 'one', 'two']);
  const last = (await desk.ok('search', '--name', '^(one|two)$')).trim().split('\n')[1];
  assert.equal(await desk.ok('search', '--name', '^(one|two)$', 'getwindowname', '%-1'),
    Number(last) === one.id ? 'one\n' : 'two\n');
  await desk.fails(/^$/, 'search', '--name', 'nosuch', 'key', 'a');
  await desk.fails(/Failed to compile regex/, 'search', '[');
  await desk.ok('set_window', '--role', 'editor', one.id);
  assert.equal(await desk.ok('search', '--role', 'edit'), `${one.id}\n`);
  assert.equal(await desk.ok('search', '--all', '--role', '--name', '^(one|editor)$'), `${one.id}\n`);
  await desk.fails(/There are no windows in the stack/, 'getwindowname');
  await desk.fails(/out of range/, 'search', '--name', '^two$', 'getwindowname', '%2');
});

deskTest('search --pid', async (desk) => {
  const xterm = desk.box.spawn('xterm', ['-T', 'mine', '-e', 'sleep', '1000'], { env: desk.env });
  const id = (await desk.ok('search', '--sync', '--onlyvisible', '--class', 'xterm')).trim();
  assert.equal(await desk.ok('search', '--pid', xterm.pid), `${id}\n`);
  assert.equal(await desk.ok('search', '--pid', xterm.pid, 'getwindowname'), 'mine\n');
  await desk.fails(/^$/, 'search', '--all', '--pid', xterm.pid, '--name', 'nosuch');
  assert.equal(await desk.ok('search', '--any', '--pid', xterm.pid, '--name', 'nosuch'), `${id}\n`);
});

bothTest('search --sync waits for the window', async (desk) => {
  const search = desk.xdo('search', '--sync', '--onlyvisible', '--name', 'late', 'getwindowname');
  await new Promise((resolve) => setTimeout(resolve, 300));
  await desk.xev('late');
  const result = await search;
  assert.equal(result.out, 'late\n', result.err);
  const retitled = desk.xdo('search', '--sync', '--name', 'other name');
  await new Promise((resolve) => setTimeout(resolve, 200));
  await desk.ok('search', '--name', 'late', 'set_window', '--name', 'the other name');
  assert.match((await retitled).out, /^\d+\n$/);
});

bothTest('getactivewindow and getwindowfocus', async (desk) => {
  const one = await desk.xev('one', '200x200+50+50'), two = await desk.xev('two', '200x200+400+50');
  await desk.ok('windowactivate', '--sync', one.id);
  assert.equal(await desk.ok('getactivewindow'), `${one.id}\n`);
  assert.equal(await desk.ok('getwindowfocus'), `${one.id}\n`);
  assert.equal(await desk.ok('getwindowfocus', '-f'), `${one.id}\n`);
  await desk.ok('windowfocus', '--sync', two.id);
  assert.equal(await desk.ok('getwindowfocus', 'getwindowname'), 'two\n');
});

bothTest('getwindowname, getwindowclassname, getwindowpid, getwindowgeometry', async (desk) => {
  const xterm = desk.box.spawn('xterm', ['-T', 'Grüße', '-e', 'sleep', '1000'], { env: desk.env });
  const id = (await desk.ok('search', '--sync', '--onlyvisible', '--class', 'xterm')).trim();
  assert.equal(await desk.ok('getwindowname', id), 'Grüße\n');
  assert.equal(await desk.ok('getwindowclassname', id), 'XTerm\n');
  assert.equal(await desk.ok('getwindowpid', id), `${xterm.pid}\n`);
  const window = await desk.xev('where', '300x200+400+300');
  const [x, y] = await window.place();
  if (!desk.hasManager) assert.deepEqual([x, y], [400, 300]);
  const info = (await desk.box.run('xwininfo', ['-id', String(window.id)], { env: desk.env })).stdout.toString();
  assert.equal(Number(info.match(/Absolute upper-left X:\s+(\d+)/)[1]), x);
  assert.equal(Number(info.match(/Absolute upper-left Y:\s+(\d+)/)[1]), y);
  assert.equal(await desk.ok('getwindowgeometry', window.id),
    `Window ${window.id}\n  Position: ${x},${y} (screen: 0)\n  Geometry: 300x200\n`);
  assert.equal(await desk.ok('getwindowgeometry', '--shell', '--prefix', 'A', window.id),
    `AWINDOW=${window.id}\nAX=${x}\nAY=${y}\nAWIDTH=300\nAHEIGHT=200\nASCREEN=0\n`);
  for (const command of ['getwindowname', 'getwindowclassname', 'getwindowpid', 'getwindowgeometry'])
    await desk.fails(/does not exist/, command, '77');
});

bothTest('windowactivate brings a window to the front', async (desk) => {
  const one = await desk.xev('one', '300x200+100+100');
  const two = await desk.xev('two', '300x200+120+120');
  for (const window of [one, two, one]) {
    await desk.ok('windowactivate', '--sync', window.id);
    assert.equal(await desk.ok('getactivewindow'), `${window.id}\n`);
    await desk.ok('mousemove', '--window', window.id, '150', '150');
    await waitFor('it to be on top', async () =>
      (await desk.ok('getmouselocation')).endsWith(`window:${window.id}\n`));
  }
  const { ms } = await desk.xdo('windowactivate', '--sync', one.id);
  assert(ms < 300 * patience, `${ms} ms for what is active already`);
  await desk.fails(/does not exist/, 'windowactivate', '--sync', '77');
});

deskTest('windowactivate goes to the desktop of the window', async (desk) => {
  const one = await desk.xev('one');
  await desk.ok('set_desktop_for_window', one.id, '2');
  await waitFor('the move', async () => (await desk.ok('get_desktop_for_window', one.id)) === '2\n');
  await desk.ok('windowactivate', '--sync', one.id);
  assert.equal(await desk.ok('get_desktop'), '2\n');
}, { manager: true });

bothTest('windowfocus', async (desk) => {
  const one = await desk.xev('one', '200x200+50+50'), two = await desk.xev('two', '200x200+400+50');
  await desk.ok('windowfocus', '--sync', one.id, 'type', 'a');
  await one.expect('+a -a');
  await desk.ok('windowfocus', two.id, 'type', 'b');
  await two.expect('+b -b');
  await desk.ok('windowunmap', '--sync', one.id);
  await desk.fails(/is not on the screen/, 'windowfocus', one.id);
});

bothTest('windowsize', async (desk) => {
  const window = await desk.xev('size');
  await desk.ok('windowsize', '--sync', window.id, '345', '123');
  assert.deepEqual(await window.size(), [345, 123]);
  const { ms } = await desk.xdo('windowsize', '--sync', window.id, '345', '123');
  assert(ms < 300 * patience, `${ms} ms for a window that has the size`);
  await desk.ok('windowsize', '--sync', window.id, '50%', '25%');
  assert.deepEqual(await window.size(), [640, 200]);
  await desk.fails(/the X server refused/, 'windowsize', window.id, '0', '5');
  desk.box.spawn('xterm', ['-T', 'term', '-e', 'sleep', '1000'], { env: desk.env });
  const id = (await desk.ok('search', '--sync', '--onlyvisible', '--class', 'xterm')).trim();
  await desk.ok('windowsize', '--sync', '--usehints', id, '40', '10');
  const hints = await desk.property('-id', id, 'WM_NORMAL_HINTS');
  const [, stepX, stepY] = hints.match(/resize increment: (\d+) by (\d+)/).map(Number);
  const [, baseX, baseY] = hints.match(/base size: (\d+) by (\d+)/).map(Number);
  assert.match(await desk.ok('getwindowgeometry', '--shell', id),
    new RegExp(`WIDTH=${baseX + 40 * stepX}\nHEIGHT=${baseY + 10 * stepY}\n`));
});

bothTest('windowmove', async (desk) => {
  const window = await desk.xev('place');
  await desk.ok('windowmove', '--sync', window.id, '200', '150');
  const [x, y] = await window.place();
  if (!desk.hasManager) assert.deepEqual([x, y], [200, 150]);
  await desk.ok('windowmove', '--sync', '--relative', window.id, '10', '20');
  assert.deepEqual(await window.place(), [x + 10, y + 20]);
  await desk.ok('windowmove', '--sync', '--relative', '--', window.id, '-10', '-20');
  assert.deepEqual(await window.place(), [x, y]);
  await desk.ok('windowmove', '--sync', window.id, 'x', '300');
  assert.deepEqual(await window.place(), [x, y + 150]);
  await desk.ok('windowmove', '--sync', window.id, '25%', 'y');
  assert.deepEqual(await window.place(), [x + 120, y + 150]);
  const { ms, status } = await desk.xdo('windowmove', '--sync', window.id, 'x', 'y');
  assert.equal(status, 0);
  assert(ms < 300 * patience, `${ms} ms for a window that is there`);
  await desk.fails(/does not exist/, 'windowmove', '77', '1', '1');
});

bothTest('windowraise and windowlower', async (desk) => {
  const one = await desk.xev('one', '300x200+100+100');
  const two = await desk.xev('two', '300x200+100+100');
  await desk.ok('mousemove', '250', '250');
  const top = async (window) => waitFor('it to be on top', async () =>
    (await desk.ok('getmouselocation')).endsWith(`window:${window.id}\n`));
  await desk.ok('windowraise', one.id);
  await top(one);
  await desk.ok('windowlower', one.id);
  await top(two);
  await desk.fails(/does not exist/, 'windowraise', '77');
  await desk.fails(/does not exist/, 'windowlower', '77');
});

bothTest('windowmap and windowunmap', async (desk) => {
  const window = await desk.xev('mapped');
  await desk.ok('windowunmap', '--sync', window.id);
  assert.equal(await window.isViewable(), false);
  await desk.ok('windowmap', '--sync', window.id);
  assert.equal(await window.isViewable(), true);
  const { ms } = await desk.xdo('windowmap', '--sync', window.id);
  assert(ms < 300 * patience, `${ms} ms for a window that is mapped`);
  await desk.fails(/does not exist/, 'windowmap', '--sync', '77');
});

deskTest('windowminimize', async (desk) => {
  const window = await desk.xev('small');
  await desk.ok('windowminimize', '--sync', window.id);
  assert.equal(await window.isViewable(), false);
  assert.match(await desk.property('-id', window.id, 'WM_STATE'), /Iconic/);
  await desk.ok('windowactivate', '--sync', window.id);
  assert.equal(await window.isViewable(), true);
}, { manager: true });

deskTest('windowminimize and windowstate say that they need a window manager', async (desk) => {
  const window = await desk.xev('small');
  await desk.fails(/no window manager/, 'windowminimize', window.id);
  await desk.fails(/no window manager/, 'windowstate', '--add', 'ABOVE', window.id);
  for (const args of [['get_desktop'], ['get_num_desktops'], ['set_desktop', '1'], ['set_num_desktops', '2'],
    ['get_desktop_viewport'], ['set_desktop_viewport', '0', '0'], ['set_desktop_for_window', window.id, '1']])
    await desk.fails(/no window manager runs/, ...args);
  await desk.fails(/is on no desktop/, 'get_desktop_for_window', window.id);
});

bothTest('windowclose, windowquit and windowkill', async (desk) => {
  const gone = (window) => waitFor('the window to go', async () =>
    (await desk.xdo('getwindowname', window.id)).status === 1);
  const quit = await desk.xev('quit');
  await desk.ok('windowquit', quit.id);
  await waitFor('its program to end', () => quit.child.end);
  const killed = await desk.xev('killed');
  await desk.ok('windowkill', killed.id);
  await waitFor('its program to end', () => killed.child.end);
  const closed = await desk.xev('closed');
  await desk.ok('windowclose', closed.id);
  await gone(closed);
  for (const command of ['windowclose', 'windowquit', 'windowkill'])
    await desk.fails(/does not exist/, command, closed.id);
  const root_ = (await desk.ok('search', '--maxdepth', '0', '--name', '')).trim();
  for (const command of ['windowclose', 'windowkill', 'windowunmap'])
    await desk.fails(/is not to be touched/, command, root_);
});

deskTest('windowstate', async (desk) => {
  const window = await desk.xev('state');
  const state = () => desk.property('-id', window.id, '_NET_WM_STATE');
  await desk.ok('windowstate', '--add', 'maximized_vert', '--add', 'MAXIMIZED_HORZ', window.id);
  await waitFor('both', async () => /MAXIMIZED_VERT.*MAXIMIZED_HORZ|MAXIMIZED_HORZ.*MAXIMIZED_VERT/.test(await state()));
  await desk.ok('windowstate', '--remove', 'MAXIMIZED_VERT', window.id);
  await waitFor('one', async () => !/MAXIMIZED_VERT/.test(await state()));
  await desk.ok('windowstate', '--toggle', 'FULLSCREEN', window.id);
  await waitFor('the whole screen', async () => /FULLSCREEN/.test(await state()));
  await desk.fails(/does not exist/, 'windowstate', '--add', 'ABOVE', '77');
}, { manager: true });

bothTest('set_window', async (desk) => {
  const window = await desk.xev('old');
  await desk.ok('set_window', '--name', 'näme', '--icon-name', 'icon', '--role', 'rôle', '--class', 'Klass',
    '--classname', 'inst', '--urgency', '1', window.id);
  assert.equal(await desk.ok('getwindowname', window.id), 'näme\n');
  assert.equal(await desk.ok('getwindowclassname', window.id), 'Klass\n');
  assert.equal(await desk.ok('search', '--classname', '^inst$'), `${window.id}\n`);
  assert.equal(await desk.ok('search', '--role', 'rôle'), `${window.id}\n`);
  assert.match(await desk.property('-id', window.id, 'WM_HINTS'), /urgency|0x100/i);
  await desk.ok('set_window', '--class', 'Only', window.id);
  assert.equal(await desk.ok('search', '--classname', '^inst$'), `${window.id}\n`);
  await desk.ok('set_window', '--overrideredirect', '1', window.id);
  const info = await desk.box.run('xwininfo', ['-id', String(window.id)], { env: desk.env });
  assert.match(info.stdout.toString(), /Override Redirect State: yes/);
  await desk.fails(/does not exist/, 'set_window', '--name', 'x', '77');
});

deskTest('windowreparent', async (desk) => {
  const outer = await desk.xev('outer', '400x300+100+100'), inner = await desk.xev('inner', '100x100+600+100');
  await desk.ok('windowreparent', inner.id, outer.id);
  const tree = await desk.box.run('xwininfo', ['-tree', '-id', String(inner.id)], { env: desk.env });
  assert.match(tree.stdout.toString(), new RegExp(`Parent window id: 0x${outer.id.toString(16)}`));
  await desk.fails(/does not exist/, 'windowreparent', '77', outer.id);
  await desk.fails(/the X server refused/, 'windowreparent', outer.id, inner.id);
});

deskTest('desktops', async (desk) => {
  const window = await desk.xev('one');
  assert.equal(await desk.ok('get_num_desktops'), '4\n');
  await desk.ok('set_num_desktops', '3');
  await waitFor('three', async () => (await desk.ok('get_num_desktops')) === '3\n');
  const shows = (number) => waitFor(`desktop ${number}`, async () => (await desk.ok('get_desktop')) === `${number}\n`);
  await desk.ok('set_desktop', '2');
  await shows(2);
  await desk.ok('set_desktop', '--relative', '1');
  await shows(0);
  await desk.ok('set_desktop', '--relative', '--', '-1');
  await shows(2);
  await desk.ok('set_desktop_for_window', window.id, '1');
  await waitFor('the window to move', async () => (await desk.ok('get_desktop_for_window', window.id)) === '1\n');
  assert.equal(await desk.ok('search', '--desktop', '1', '--name', '^one$'), `${window.id}\n`);
  await desk.fails(/^$/, 'search', '--desktop', '0', '--name', '^one$');
  await desk.ok('set_desktop_for_window', '--', window.id, '-1');
  await waitFor('it to be everywhere', async () => (await desk.ok('get_desktop_for_window', window.id)) === '-1\n');
  assert.equal(await desk.ok('get_desktop_viewport'), '0 0\n');
  assert.equal(await desk.ok('get_desktop_viewport', '--shell'), 'X=0\nY=0\n');
  await desk.ok('set_desktop_viewport', '0', '0');
}, { manager: true });

bothTest('a window that dies is an error, never a crash', async (desk) => {
  const window = await desk.xev('dying');
  // --sync: between two frames of a window manager it is nowhere in the tree.
  const waiting = desk.xdo('windowunmap', window.id, 'windowmap', window.id, 'search', '--sync', '--name', 'dying',
    'windowkill', 'windowmove', '--sync', '5', '5');
  const result = await waiting;
  assert.equal(result.status, 1);
  assert.match(result.err, /window \d+ does not exist/);
  const other = await desk.xev('other');
  await desk.ok('windowunmap', '--sync', other.id);
  const mapped = desk.xdo('getdisplaygeometry', 'sleep', '1', 'windowactivate', '--sync', other.id);
  await new Promise((resolve) => setTimeout(resolve, 400)); // ids of what dies before it connects become its own
  other.child.process.kill();
  const end = await mapped;
  assert.equal(end.status, 1);
  assert.match(end.err, /does not exist|was not activated/);
});
