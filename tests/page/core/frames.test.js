import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FrameError, Frames, MAX_BYTES } from '../js/core/frames.js';

const part = (index, last, bytes) =>
  JSON.stringify({ type: 'part', index, last, data: Buffer.from(bytes).toString('base64') });

test('a message is a JSON map with a type', () => {
  assert.deepEqual(new Frames(100).take('{"type":"done","re":1}'), { type: 'done', re: 1 });
});

test('parts join to their message, wherever a character was cut', () => {
  const whole = Buffer.from('{"type":"shown","re":7,"text":"é😀"}');
  for (let size = 1; size < whole.length; size += 1) {
    const frames = new Frames(100);
    const pieces = [];
    for (let at = 0; at < whole.length; at += size) pieces.push(whole.subarray(at, at + size));
    const taken = pieces.map((piece, index) => frames.take(part(index, index === pieces.length - 1, piece)));
    assert.deepEqual(taken.pop(), { type: 'shown', re: 7, text: 'é😀' });
    assert.ok(taken.every((message) => message === null));
    assert.deepEqual(frames.take('{"type":"done"}'), { type: 'done' });
  }
});

test('a page of 256 KiB is taken whatever it has to escape', () => {
  const text = '\0'.repeat(256 * 1024);
  const whole = Buffer.from(JSON.stringify({ type: 'shown', re: 1, text }));
  const frames = new Frames(MAX_BYTES);
  const [first, rest] = [whole.subarray(0, 700_000), whole.subarray(700_000)];
  assert.equal(frames.take(part(0, false, first)), null);
  assert.equal(frames.take(part(1, true, rest)).text, text);
});

test('what does not fit ends the link with the code of the contract', () => {
  const code = (expected, run) =>
    assert.throws(run, (fault) => fault instanceof FrameError && fault.code === expected, String(run));
  code(1007, () => new Frames(100).take('nonsense'));
  code(1007, () => new Frames(100).take('[]'));
  code(1007, () => new Frames(100).take('null'));
  code(1007, () => new Frames(100).take(new ArrayBuffer(3)));
  code(1007, () => new Frames(100).take(part(1, true, '{}')));
  code(1007, () => new Frames(100).take('{"type":"part","index":0,"last":true,"data":"*"}'));
  code(1007, () => new Frames(100).take(part(0, true, part(0, true, '{}'))));
  code(1009, () => new Frames(100).take(part(0, false, 'x'.repeat(101))));
  code(1007, () => {
    const frames = new Frames(100);
    frames.take(part(0, false, '{'));
    frames.take('{"type":"done"}');
  });
});
