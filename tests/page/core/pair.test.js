import assert from 'node:assert/strict';
import { test } from 'node:test';

import { pair } from '../js/core/pair.js';
import { settle, World } from './around.js';

const URL = 'wss://home/link';
const PAIRED = { type: 'paired', re: 1, device: 'd_1', role: 'viewer', token: 'wb_x' };

test('a right code gives a token, and the socket is closed', async () => {
  const world = new World();
  const pairing = pair(URL, 'CODE', 'my phone', world.around);
  world.socket.open();
  assert.equal(world.socket.url, URL);
  assert.deepEqual(world.socket.sent, [{ type: 'hello', id: 1, code: 'CODE', name: 'my phone', client: 'waybread-page 1' }]);
  world.socket.tell(PAIRED);
  assert.deepEqual(await pairing, PAIRED);
  assert.equal(world.socket.closed, 1000);
});

test('a wrong code is told in the daemon\u2019s words, once, though the socket closes after', async () => {
  const world = new World();
  const pairing = pair(URL, 'CODE', 'my phone', world.around);
  const { socket } = world;
  socket.open();
  const { onclose } = socket;
  socket.tell({ type: 'error', re: 1, code: 'unauthenticated', message: 'This code is wrong.', retry: false });
  onclose({ code: 4401, reason: '' });
  await assert.rejects(pairing, { code: 'unauthenticated', message: 'This code is wrong.' });
});

test('a daemon that is not there, or says nothing, is unreachable', async () => {
  const world = new World();
  const one = pair(URL, 'CODE', '', world.around);
  world.socket.end();
  await assert.rejects(one, { code: 'unreachable', message: `The daemon at ${URL} cannot be reached.` });
  const other = assert.rejects(pair(URL, 'CODE', '', world.around), { code: 'unreachable', retry: true });
  world.socket.open();
  await world.pass(10_000);
  await other;
  assert.equal(world.socket.readyState, 3);
  await settle();
});

test('an answer that cannot be read fails', async () => {
  const world = new World();
  const pairing = pair(URL, 'CODE', '', world.around);
  world.socket.open();
  world.socket.tell('nonsense');
  await assert.rejects(pairing, { code: 1007 });
});
