import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffKind, fold, partsOf } from '../static/js/view/text.js';

const ELIDED = '[1700 lines elided, full output #0006]';
const head = Array.from({ length: 200 }, (_, at) => `line ${at + 1}`).join('\n');
const CAPPED = `[#0006]\n${head}\n${ELIDED}\n${'tail\n'.repeat(100)}`;

test('the elided line leads to the first line that is left out', () => {
  const parts = partsOf(CAPPED, false);
  assert.deepEqual(
    parts.map((part) => part.kind),
    ['plain', 'elided', 'plain'],
  );
  assert.deepEqual([parts[1].number, parts[1].line], [6, 201]);
  assert.equal(parts.map((part) => part.text).join(''), CAPPED);
});

test('the lines of a diff have their kinds and join to the very text', () => {
  const text = '[#0003 a.py sha 12345678]\n@@ -1,2 +1,2 @@\n a\n-b\n-c\n+B\n\\ No newline at end of file';
  const parts = partsOf(text, true);
  assert.deepEqual(
    parts.map((part) => [part.kind, part.text]),
    [
      ['plain', '[#0003 a.py sha 12345678]\n'],
      ['hunk', '@@ -1,2 +1,2 @@\n'],
      ['plain', ' a\n'],
      ['del', '-b\n-c\n'],
      ['add', '+B\n'],
      ['plain', '\\ No newline at end of file'],
    ],
  );
  assert.equal(parts.map((part) => part.text).join(''), text);
  assert.equal(diffKind('@@x'), 'plain');
});

test('a short text is not folded', () => {
  assert.deepEqual(fold('a\nb'), { head: 'a\nb', lines: 0, chars: 0, tail: '', before: 0 });
});

test('a capped text is folded to its first lines and what begins with the elided line', () => {
  const folded = fold(CAPPED);
  assert.equal(folded.head.split('\n').length - 1, 16);
  assert.ok(folded.tail.startsWith(ELIDED));
  assert.equal(folded.before, 201);
  assert.equal(partsOf(folded.tail, false, folded.before)[0].line, 201);
  assert.equal(folded.head.length + folded.chars + folded.tail.length, CAPPED.length);
});

test('a line without end is cut, never through a character', () => {
  const { head: shown, chars } = fold('😀'.repeat(5000));
  assert.equal(shown, '😀'.repeat(1000));
  assert.equal(chars, 8000);
});
