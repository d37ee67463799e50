import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Position } from '../static/js/view/row.js';

const VIEW = 400;

/** @param {number} count @param {(line: number) => number} [heightOf] */
function at(count, heightOf = () => 20) {
  return new Position(() => count, heightOf);
}

test('it moves by pixels through lines and stays within them', () => {
  const position = at(1000);
  position.move(50, VIEW);
  assert.deepEqual([position.line, position.px], [3, 10]);
  position.move(-35, VIEW);
  assert.deepEqual([position.line, position.px], [1, 15]);
  position.move(-99, VIEW);
  assert.deepEqual([position.line, position.px], [1, 0]);
  position.move(1e6, VIEW);
  assert.deepEqual([position.line, position.px], [981, 0]);
});

test('a share of the way and the position are each other’s reverse, for millions of lines', () => {
  const position = at(5_000_000);
  for (const share of [0, 0.123, 0.5, 0.999, 1]) {
    position.jump(share, VIEW);
    assert.ok(Math.abs(position.share(VIEW) - share) < 1e-9);
  }
  assert.equal(position.line, 5_000_000 - 19);
});

test('lines of different heights end where the last one ends', () => {
  const position = at(10, (line) => (line === 10 ? 300 : 60));
  position.jump(1, VIEW);
  assert.deepEqual([position.line, Math.round(position.px)], [8, 20]);
  position.move(-19, VIEW);
  assert.deepEqual([position.line, Math.round(position.px)], [8, 1]);
});

test('a line that is higher than the view is gone through', () => {
  const position = at(1, () => 9000);
  position.move(5000, VIEW);
  assert.deepEqual([position.line, position.px], [1, 5000]);
  position.move(5000, VIEW);
  assert.deepEqual([position.line, position.px], [1, 8600]);
});

test('what fits has nowhere to go', () => {
  const position = at(3);
  position.move(100, VIEW);
  assert.deepEqual([position.line, position.px, position.share(VIEW)], [1, 0, 0]);
});
