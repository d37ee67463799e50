import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { countChars, findIds, isCut, lastLine, oneLine, resultId, resultNumber, visible } from '../js/core/texts.js';

// The daemon does the same: see tests/daemon/sessions/test_last_lines.py.
const CASES = JSON.parse(readFileSync(new URL('last_lines.json', import.meta.url), 'utf8'));

for (const { name, text, line } of CASES) {
  test(`the last line that has text: ${name}`, () => assert.equal(lastLine(text), line));
}

test('a last line has 200 characters at most, none of them halved', () => {
  assert.equal(lastLine('😀'.repeat(300)), '😀'.repeat(200));
});

test('characters are code points', () => {
  assert.equal(countChars('aé€😀'), 4);
  assert.equal(countChars(''), 0);
});

test('a text is cut where it has fewer characters than the entry says', () => {
  assert.equal(isCut({ text: 'abc', text_chars: 3 }), false);
  assert.equal(isCut({ text: 'abc', text_chars: 4 }), true);
  assert.equal(isCut({ text: '😀😀', text_chars: 3 }), true);
  assert.equal(isCut({ text: '😀😀', text_chars: 2 }), false);
  assert.equal(isCut({ text: '', text_chars: 0 }), false);
});

test('control characters are escapes, as in brackets', () => {
  assert.equal(oneLine('a\n\r\t\0\x1b\x7f\x9f\u2028\u2029é'), 'a\\n\\r\\t\\x00\\x1b\\x7f\\x9f\\u2028\\u2029é');
});

test('an id is the number in hex with four digits at least', () => {
  assert.equal(resultId(1), '#0001');
  assert.equal(resultId(18), '#0012');
  assert.equal(resultId(0x10000), '#10000');
  for (const number of [1, 255, 0xffff, 0x10000, 2 ** 53 - 1]) assert.equal(resultNumber(resultId(number)), number);
});

test('another spelling is no id', () => {
  for (const text of ['', '#', '#12', '#012', '#00012', '#00G1', '#ABCD', '#0012x']) assert.equal(resultNumber(text), 0, text);
  assert.equal(resultNumber('0012'), 18);
});

test('ids are found where the daemon writes them', () => {
  for (const [text, ...numbers] of /** @type {[string, ...number[]][]} */ ([
    ['[#0012]\nsrc/app.ts', 18],
    ['[#0012 src/app.ts lines 1-200 of 340 sha 1c9e04ab]', 18],
    ['[#0019 a.ts lines 5-8 of 34 sha 1c9e04ab] Unchanged since #0012, which already shows lines 1-200.', 25, 18],
    ['[#0027] Same result as #0026.', 39, 38],
    ['[1234 lines elided, full output #0020]', 32],
    ['[#0021 recall #0020 lines 1-2000 of 3400]', 33, 32],
    ['| src/app.ts | 1-200 of 340 | 1c9e04ab | #0012 |', 18],
    ['[#10000]', 65536],
  ])) {
    assert.deepEqual(findIds(text).map((found) => found.number), numbers, text);
    for (const { start, end, number } of findIds(text)) assert.equal(text.slice(start, end), resultId(number));
  }
});

test('what only looks like an id is none', () => {
  for (const text of ['#12', 'a#0012', '##0012', '&#0012;', '#0012x', '#00012', '/#0012', '#0000', '#FFFF', '#0012_', 'x_#0012']) {
    assert.deepEqual(findIds(text), [], text);
  }
});

test('a number that the session never gave is no id', () => {
  assert.deepEqual(findIds('color: #ffffff; see #0012', 20).map((found) => found.number), [18]);
  assert.deepEqual(findIds('#0012', 17), []);
});

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
  // Musical beams and the steps of shorthand.
  for (const char of ['\u{1d173}', '\u{1d17a}', '\u{1bca0}', '\u{1bca3}']) assert.equal(marks(char).length, 1);
});

test('a joiner between letters of a script that needs it stays, one anywhere else is a mark', () => {
  for (const text of ['می\u200cخواهم', 'क्\u200dष', 'ক্\u200cষ', 'ක්\u200dර', 'لَ\u200dه']) assert.deepEqual(marks(text), [], text);
  for (const joiner of '\u200c\u200d') {
    const alone = ['zero_width', 'é_é', 'α_β', 'д_д', '1_2', 'a_ب', 'ب_a', '٣_٣', '字_字', 'א_א', '😀_a', 'a_😀', ' _ ', '_ب', 'ب_'];
    for (const text of alone) {
      const pieces = visible(text.replace('_', joiner));
      assert.deepEqual(pieces.filter((piece) => piece.kind === 'mark').length, 1, text);
      assert.equal(pieces.map((piece) => piece.text).join('').includes(joiner), false, text);
    }
    assert.equal(marks(`ب${joiner}${joiner}ب`).length, 2);
  }
});

test('an emoji is never torn', () => {
  const whole = ['👩\u200d👩\u200d👧\u200d👦', '👩\u200d💻', '👩🏽\u200d🚀', '❤\ufe0f\u200d🔥', '👁\ufe0f\u200d🗨\ufe0f', '🏳\ufe0f\u200d🌈', '⛹🏻\u200d♂\ufe0f'];
  whole.push('❤\ufe0f', '☎\ufe0e', '1\ufe0f\u20e3', '🇩🇪', '\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}');
  for (const emoji of whole) {
    assert.deepEqual(visible(`a${emoji}b`), [{ text: `a${emoji}b`, kind: 'text', title: '' }]);
    assert.deepEqual(visible(`${emoji}\x1b${emoji}`).map((piece) => piece.text), [emoji, '\u241b', emoji]);
  }
  for (const text of ['👩\u200d', '\u200d👩', '👩\u200c👩', '❤\ufe0f\ufe0f', 'a\ufe0f', '1\ufe0f', '😀\ufe00', '🇩\u200d🇪', '\u{1f3f4}\u{e0067}']) {
    assert.equal(marks(text).length, 1, text);
  }
});
