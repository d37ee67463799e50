import assert from 'node:assert/strict';
import { test } from 'node:test';

import { pair } from '../js/core/pairings.js';
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

test('a refused code is told in a sentence for a person, once, though the socket closes after', async () => {
  for (const [code, said, told] of [
    ['unauthenticated', 'the code is wrong', 'That code is wrong, used or too old. Make a new one with `waybread pair`.'],
    ['busy', '10 hellos failed (max_failed_hellos)', 'Too many tries from here. Wait a minute, then try again.'],
    ['storage_full', 'The disk is full; the code is still good: try again', 'The disk is full; the code is still good: try again'],
  ]) {
    const world = new World();
    const pairing = pair(URL, 'CODE', 'my phone', world.around);
    const { socket } = world;
    socket.open();
    const { onclose } = socket;
    socket.tell({ type: 'error', re: 1, code, message: said, retry: false });
    onclose({ code: 4401, reason: '' });
    await assert.rejects(pairing, { code, message: told });
  }
});

test('why the page\u2019s own daemon gave no link is asked by a request', async () => {
  for (const [url, status, told] of [
    [URL, 0, 'home cannot be reached.'],
    [URL, 502, 'home cannot be reached.'],
    [URL, 403, 'The daemon does not know this address of the page: name it in public_url or allowed_origins.'],
    ['ws://home/link', 405, 'The daemon takes no link from here just now. Wait a minute, then try again.'],
    [
      URL,
      405,
      'The daemon takes no link from here just now. Wait a minute, then try again. If that does not help, this browser ' +
        'does not trust its certificate.',
    ],
  ]) {
    const world = new World();
    world.answers = { 'POST /link': { status } };
    const pairing = pair(url, 'CODE', '', world.around);
    world.socket.end();
    await assert.rejects(pairing, { code: 'unreachable', message: told });
  }
});

test('a daemon that says nothing is given up after ten seconds', async () => {
  const world = new World();
  const pairing = assert.rejects(pair(URL, 'CODE', '', world.around), { code: 'unreachable' });
  world.socket.open();
  await world.pass(10_000);
  await pairing;
  assert.equal(world.socket.readyState, 3);
});

const OTHER =
  'other:8787 cannot be reached from this page: pair on its own. To see both here, name it in this daemon\u2019s page_daemons ' +
  'and this page in its allowed_origins.';

test('another daemon that the page\u2019s policy does not name is not even tried', async () => {
  const world = new World();
  for (const policy of ["connect-src 'self' ws://home wss://other:87870; base-uri 'none'", "connect-src ws://other:8787"]) {
    world.answers = { 'GET /': { status: 200, policy } };
    await assert.rejects(pair('wss://other:8787/link', 'CODE', '', world.around, URL), { code: 'unreachable', message: OTHER });
  }
  assert.equal(world.sockets.length, 0);
});

test('another daemon that the policy names is tried, and so is one where no policy is told', async () => {
  for (const answer of [{ status: 200, policy: "connect-src 'self' wss://other:8787; base-uri 'none'" }, { status: 0 }]) {
    const world = new World();
    world.answers = { 'GET /': answer };
    const pairing = pair('wss://other:8787/link', 'CODE', '', world.around, URL);
    await settle();
    world.socket.open();
    world.socket.tell(PAIRED);
    assert.deepEqual(await pairing, PAIRED);
    const refused = assert.rejects(pair('wss://other:8787/link', 'CODE', '', world.around, URL), { message: OTHER });
    await settle();
    world.socket.end();
    await refused;
  }
});

test('an answer that cannot be read is none', async () => {
  const world = new World();
  const pairing = pair(URL, 'CODE', '', world.around);
  world.socket.open();
  world.socket.tell('nonsense');
  await assert.rejects(pairing, { code: 'unreachable' });
});
