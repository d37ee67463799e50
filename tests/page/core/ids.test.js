import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findIds, resultId, resultNumber } from '../js/core/ids.js';

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
