import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rowAfter, wholeRow } from '../js/core/transcript.js';

const row = { session: 's', kind: 'agent', title: 'T', directory: '/d', results: 3, head: 7, opened_ms: 1, changed_ms: 2, last_line: 'x', raw_bytes: 9, stored_bytes: 5 };
const entry = (fields) => ({ seq: 8, session: 's', at_ms: 50, kind: 'message', result: '', text: '', text_chars: fields.text?.length ?? 0, ...fields });

test('a row of an older daemon has what came later, empty', () => {
  const { last_line, raw_bytes, stored_bytes, ...older } = row;
  assert.deepEqual(wholeRow(older), { ...row, last_line: '', raw_bytes: 0, stored_bytes: 0 });
  assert.deepEqual(wholeRow(row), row);
});

test('an entry moves its row, and says its last line where it is one that says something', () => {
  assert.deepEqual(rowAfter(row, entry({ text: 'a\nb\n' })), { ...row, head: 8, changed_ms: 50, last_line: 'b' });
  assert.deepEqual(rowAfter(row, entry({ kind: 'result', result: '#0012', text: '[#0012]' })).results, 18);
  for (const silent of [{ kind: 'turn' }, { kind: 'recall', text: 'y' }, { text: '\n' }, { text: 'a', text_chars: 2 }]) {
    assert.equal(rowAfter(row, entry(silent)).last_line, 'x', JSON.stringify(silent));
  }
});

test('an entry that the row knows already changes nothing', () => {
  assert.equal(rowAfter(row, entry({ seq: 7, text: 'old' })), row);
});

test('a new session has a row from its opening, an unknown one has none', () => {
  assert.deepEqual(rowAfter(undefined, entry({ kind: 'opened', session_kind: 'chat', title: 'New' })), {
    session: 's', kind: 'chat', title: 'New', directory: '', results: 0, head: 8, opened_ms: 50, changed_ms: 50, last_line: '', raw_bytes: 0, stored_bytes: 0,
  });
  assert.equal(rowAfter(undefined, entry({ text: 'x' })), undefined);
});
