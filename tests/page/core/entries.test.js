import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { countChars, isCut, lastLine, oneLine } from '../js/core/entries.js';

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
