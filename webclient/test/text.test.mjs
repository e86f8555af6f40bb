// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const { Outbox, cutText, textLength, SECRET_MS } = await load('outbox.ts');
const { diffText } = await load('text_diff.ts');
const { findCode } = await load('code.ts');

test('a text waits under its id until it is acknowledged, and is sent again as it was', () => {
  const outbox = new Outbox('p');
  const first = outbox.add('日本', false, false, 0);
  const second = outbox.add('x', true, false, 0);
  assert.deepEqual(first, { t: 'text', id: 'p-1', s: '日本', enter: false, secret: false });
  assert.deepEqual(outbox.unsettled(), [first, second]);
  assert.equal(outbox.settle('p-1'), first);
  assert.equal(outbox.settle('p-1'), null, 'a second acknowledgement is nothing');
  assert.deepEqual(outbox.unsettled(), [second]);
});

test('secrets do not wait longer than 30 s, texts do', () => {
  const outbox = new Outbox('p');
  outbox.add('secret', false, true, 1000);
  outbox.add('text', false, false, 1000);
  assert.equal(outbox.dropOldSecrets(1000 + SECRET_MS - 1), 0);
  assert.equal(outbox.dropOldSecrets(1000 + SECRET_MS), 1);
  assert.deepEqual(outbox.unsettled().map(({ s }) => s), ['text']);
  outbox.add('other', false, true, 50000);
  assert.equal(outbox.dropSecrets(), 1, 'when the page is hidden');
});

test('length counts characters, cutting never splits one', () => {
  assert.equal(textLength('a😀é日'), 4);
  assert.deepEqual(cutText('ab😀cd', 3), ['ab😀', 'cd']);
  assert.deepEqual(cutText('', 3), ['']);
});

test('V21: what a soft keyboard corrects becomes BackSpaces and letters', () => {
  assert.deepEqual(diffText('word', 'world'), { backspaces: 2, text: 'rld' });
  assert.deepEqual(diffText('', 'hello '), { backspaces: 0, text: 'hello ' });
  assert.deepEqual(diffText('teh', 'the'), { backspaces: 3, text: 'the' });
  assert.deepEqual(diffText('abc', 'ab'), { backspaces: 2, text: 'b' });
  assert.deepEqual(diffText('same', 'same'), { backspaces: 0, text: '' });
  assert.deepEqual(diffText('a😀', 'a😁'), { backspaces: 2, text: 'a😁' });
  for (const [before, after] of [['word', 'world'], ['a😀b', 'xyz'], ['abc', ''], ['', 'q']]) {
    const { backspaces, text } = diffText(before, after);
    assert.equal([...before].slice(0, [...before].length - backspaces).join('') + text, after);
  }
});

test('the code in a message', () => {
  assert.equal(findCode('Your code is 482913. Do not share it.'), '482913');
  assert.equal(findCode('G-482 913 is your code'), '482913');
  assert.equal(findCode('123-456'), '123456');
  assert.equal(findCode(' 0042 '), '0042');
  assert.equal(findCode('code 1234 or 567890'), 'code 1234 or 567890', 'two: all of it');
  assert.equal(findCode('card 12345678901'), 'card 12345678901', 'too long a run');
  assert.equal(findCode('a1b2c3\n'), 'a1b2c3');
});
