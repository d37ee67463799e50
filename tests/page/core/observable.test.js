import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Observable } from '../js/core/observable.js';

test('changes of one turn are told once, with the state as it is then', async () => {
  const counter = new Observable({ count: 0, name: 'a' });
  const seen = [];
  const before = counter.state;
  counter.subscribe(() => seen.push(counter.state));
  counter._set({ count: 1 });
  counter._set({ count: 2 });
  assert.deepEqual(seen, []);
  await Promise.resolve();
  assert.deepEqual(seen, [{ count: 2, name: 'a' }]);
  assert.deepEqual(before, { count: 0, name: 'a' });
  counter._set({ name: 'b' });
  await Promise.resolve();
  assert.equal(seen.length, 2);
});

test('who has left is not told any more, not even by one who is told before', async () => {
  const counter = new Observable({ count: 0 });
  const seen = [];
  const leave = counter.subscribe(() => seen.push('one'));
  counter._set({ count: 1 });
  leave();
  await Promise.resolve();
  assert.deepEqual(seen, []);
});
