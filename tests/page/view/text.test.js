import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffKind, elidedAt, fold, partsOf } from '../static/js/view/text.js';

const ELIDED = '[1700 lines elided, full output #0006]';
const head = Array.from({ length: 200 }, (_, at) => `line ${at + 1}`).join('\n');
const CAPPED = `[#0006]\n${head}\n${ELIDED}\n${'tail\n'.repeat(100)}`;

test('the elided line leads to the first line that is left out', () => {
  const parts = partsOf(CAPPED, false, 0, elidedAt(CAPPED, '#0006'));
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
  assert.deepEqual(fold('a\nb', -1), { head: 'a\nb', lines: 0, chars: 0, tail: '', before: 0 });
});

test('a capped text is folded to its first lines and what begins with the elided line', () => {
  const folded = fold(CAPPED, elidedAt(CAPPED, '#0006'));
  assert.equal(folded.head.split('\n').length - 1, 16);
  assert.ok(folded.tail.startsWith(ELIDED));
  assert.equal(folded.before, 201);
  assert.equal(partsOf(folded.tail, false, folded.before, 0)[0].line, 201);
  assert.equal(folded.head.length + folded.chars + folded.tail.length, CAPPED.length);
});

test('a line without end is cut, never through a character', () => {
  const { head: shown, chars } = fold('😀'.repeat(5000), -1);
  assert.equal(shown, '😀'.repeat(1000));
  assert.equal(chars, 8000);
});

test('an elided line that an output quotes is not its own, in its head, its tail, and with its id', () => {
  const lines = (count, quoted) => Array.from({ length: count }, (_, at) => (at === count - 50 ? quoted : `line ${at}`));
  for (const quoted of ['[5 lines elided, full output #0006]', '[5 lines elided, full output #0044]']) {
    const ahead = ['[#0006]', ...lines(200, quoted)].join('\n');
    for (const capped of [`${ahead}\n${ELIDED}\n${quoted}\n${'x'.repeat(9000)}`, `${ahead}\n${ELIDED}\n${lines(100, quoted).join('\n')}`]) {
      const at = elidedAt(capped, '#0006');
      assert.equal(at, ahead.length + 1);
      const parts = partsOf(capped, false, 0, at);
      assert.deepEqual(
        parts.filter(({ kind }) => kind === 'elided').map(({ text, line }) => [text, line]),
        [[ELIDED, 201]],
      );
      const folded = fold(capped, at);
      assert.ok(folded.tail.startsWith(ELIDED));
    }
  }
  const long = ['[#0006 a.py]', ...lines(60, ELIDED).map((line) => (line === ELIDED ? line : line.padEnd(333)))].join('\n');
  assert.equal(elidedAt(`${long}\n${ELIDED}\n${'x'.repeat(300)}\n${ELIDED}`, '#0006'), long.length + 1);
  assert.equal(elidedAt(`[#0006]\n${'😀'.repeat(20_000)} [cut]\n${ELIDED}\n${ELIDED}`, '#0006'), 40_014 + 1);
  assert.equal(elidedAt('[#0006]\na', '#0006'), -1);
});

test('what stands behind the last hunk of a diff is no part of it', () => {
  const text =
    '[#0003 a.py sha 12345678]\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+b\n+c\n- a note\n+1\n@@ -9,0 +10 @@\n+d\n-e';
  assert.deepEqual(
    partsOf(text, true).map((part) => [part.kind, part.text]),
    [
      ['plain', '[#0003 a.py sha 12345678]\n'],
      ['hunk', '@@ -1 +1,2 @@\n'],
      ['del', '-a\n'],
      ['plain', '\\ No newline at end of file\n'],
      ['add', '+b\n+c\n'],
      ['plain', '- a note\n+1\n'],
      ['hunk', '@@ -9,0 +10 @@\n'],
      ['add', '+d\n'],
      ['plain', '-e'],
    ],
  );
});

test('lines of a diff behind an elided line have their kinds', () => {
  const capped = `[#0006]\n@@ -1,300 +1 @@\n${'-a\n'.repeat(199)}${ELIDED}\n-b\n+c`;
  const parts = partsOf(capped, true, 0, elidedAt(capped, '#0006'));
  assert.deepEqual(
    parts.map((part) => part.kind),
    ['plain', 'hunk', 'del', 'elided', 'plain', 'del', 'add'],
  );
});
