import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allAskedFor, askedFor } from '../static/js/view/entry.js';

/** @param {string} tool @param {object} args @param {number} [args_chars] */
function asked(tool, args, args_chars = JSON.stringify(args).length) {
  return askedFor({ tool, args, args_chars });
}

test('each kind of tool is told by what it was asked', () => {
  assert.equal(asked('read', { path: 'a.py', offset: 40, limit: 41 }), 'a.py · from line 40 · 41 lines');
  assert.equal(asked('grep', { path: 'src', pattern: '\\braise' }), '\\braise · in src');
  assert.equal(asked('bash', { command: 'make test', cwd: '/src' }), 'make test · in /src');
  assert.equal(asked('apply_patch', { paths: ['a', 'b'] }), 'a, b');
  assert.equal(asked('list', { path: '.' }), '.');
});

test('what is of no known kind stands as JSON, and nothing as nothing', () => {
  assert.equal(asked('vote', { yes: true }), '{"yes":true}');
  assert.equal(asked('bash', {}), '');
  assert.equal(asked('bash', {}, 50_000), TOO_LONG);
});

const TOO_LONG = 'What was asked has 50,000 characters: the page does not get them, “waybread export” does.';

test('all that was asked stands with each argument on a line of its own, and what goes on is indented', () => {
  const args = { command: 'cd /src\nmake "test"\n', timeout_s: 7, env: { A: ['b'] }, 'a\nb': '' };
  assert.equal(
    allAskedFor({ args }),
    'command: cd /src\n  make "test"\n  \ntimeout_s: 7\nenv: {\n    "A": [\n      "b"\n    ]\n  }\na\\nb: ',
  );
  assert.equal(allAskedFor({ args: {}, args_chars: 50_000 }), TOO_LONG);
});

test('it stays on one line and within bounds', () => {
  assert.equal(asked('bash', { command: 'a\nb' }), 'a\\nb');
  assert.equal(asked('bash', { command: 'x'.repeat(1000) }).length, 301);
});
