import assert from 'node:assert/strict';
import { test } from 'node:test';

import { visible } from '../js/core/visible.js';

const marks = (text) => visible(text).filter((piece) => piece.kind === 'mark');

test('plain text is one piece, as it is', () => {
  for (const text of ['a <script>alert(1)</script> & "b"', 'tab\tand\nline', 'é€😀 שלום', 'नमस्ते']) {
    assert.deepEqual(visible(text), [{ text, kind: 'text', title: '' }]);
  }
  assert.deepEqual(visible(''), []);
});

test('control characters are marks with names', () => {
  assert.deepEqual(visible('a\x1b[1mb\0\x7f'), [
    { text: 'a', kind: 'text', title: '' },
    { text: '\u241b', kind: 'mark', title: 'U+001B escape' },
    { text: '[1mb', kind: 'text', title: '' },
    { text: '\u2400', kind: 'mark', title: 'U+0000 null' },
    { text: '\u2421', kind: 'mark', title: 'U+007F delete' },
  ]);
  assert.deepEqual(visible('\r\x85'), [
    { text: '\u240d', kind: 'mark', title: 'U+000D carriage return' },
    { text: '\u27e8U+0085\u27e9', kind: 'mark', title: 'U+0085 invisible character' },
  ]);
});

test('nothing turns the order of what is seen', () => {
  for (const char of '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069') {
    const pieces = visible(`if (x${char}) {`);
    assert.equal(pieces.map((piece) => piece.text).join('').includes(char), false);
    assert.equal(pieces.filter((piece) => piece.kind === 'mark').length, 1);
  }
  assert.equal(marks('\u202e')[0].title, 'U+202E right-to-left override');
});

test('nothing hides', () => {
  for (const char of ['\u00ad', '\u200b', '\u2060', '\ufeff', '\u3164', '\u{e0041}', '\u{e0100}', '\u2028', '\ufff9']) {
    assert.equal(marks(`a${char}b`).length, 1, char.codePointAt(0).toString(16));
  }
  assert.equal(marks('\u{e0041}')[0].title, 'U+E0041 invisible character');
});

test('a joiner that joins stays, one that joins nothing is a mark', () => {
  for (const text of ['👩\u200d💻', '👩🏽\u200d🚀', '❤\ufe0f\u200d🔥', 'می\u200cخواهم', 'क्\u200dष']) assert.deepEqual(marks(text), [], text);
  for (const text of ['a \u200d', '\u200db', '1\u200d2', '\u200c\u200c']) assert.ok(marks(text).length > 0, text);
});
