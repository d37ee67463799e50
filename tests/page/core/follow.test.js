import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Follow, MOST_BEHIND } from '../js/core/follow.js';
import { Wire } from '../js/core/wire.js';
import { World } from './around.js';
import { FakeDaemon } from './daemon.js';

/** Follows, and keeps what was told. */
function following(seed = 1) {
  const world = new World(seed);
  const daemon = new FakeDaemon(world);
  const wire = new Wire('ws://home/link', 't', world.around);
  const told = { lists: [], entries: [], resets: 0, followed: 0 };
  const follow = new Follow(
    wire,
    {
      listed: (list) => told.lists.push(list.sessions.map((row) => row.session)),
      entry: (entry) => told.entries.push(entry.seq),
      followed: () => (told.followed += 1),
      reset: () => {
        told.resets += 1;
        told.entries = [];
      },
    },
    world.around,
  );
  return { world, daemon, wire, follow, told };
}

test('the list comes first, then every entry behind it', async () => {
  const { world, daemon, wire, follow, told } = following();
  daemon.open('a');
  daemon.open('b');
  wire.start();
  await world.pass(10);
  assert.deepEqual([told.lists, told.entries, told.followed, follow.cursor], [[['b', 'a']], [], 1, 2]);
  daemon.say('a', 'x');
  daemon.carry('b');
  daemon.say('b', 'y');
  await world.pass(10);
  assert.deepEqual([told.entries, follow.cursor], [[3, 5], 5]);
  assert.deepEqual(
    daemon.asked.map((message) => message.type),
    ['hello', 'sessions', 'sync'],
  );
});

test('an empty device is followed, too', async () => {
  const { world, daemon, wire, told } = following();
  wire.start();
  await world.pass(10);
  daemon.open('a');
  await world.pass(10);
  assert.deepEqual([told.lists, told.entries], [[[]], [1]]);
});

test('after a break it goes on from its cursor, without a list', async () => {
  const { world, daemon, wire, told } = following();
  daemon.pageEntries = 3;
  daemon.open('a');
  wire.start();
  await world.pass(10);
  daemon.say('a', 'x');
  await world.pass(10);
  daemon.up = false;
  daemon.cut();
  for (let count = 0; count < 10; count += 1) daemon.say('a', 'while it was away');
  await world.pass(5000);
  daemon.up = true;
  await world.pass(2000);
  assert.deepEqual(told.entries, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  assert.equal(told.lists.length, 1);
});

test('what is too far behind starts from the list', async () => {
  const { world, daemon, wire, follow, told } = following();
  daemon.open('a');
  wire.start();
  await world.pass(10);
  daemon.cut();
  for (let count = 0; count < MOST_BEHIND + 1; count += 1) daemon.say('a', 'x');
  await world.pass(2000);
  assert.deepEqual([told.lists.length, told.entries, follow.cursor], [2, [], MOST_BEHIND + 2]);
  daemon.say('a', 'y');
  await world.pass(10);
  assert.deepEqual(told.entries, [MOST_BEHIND + 3]);
});

test('what falls behind while it lags starts from the list, too', async () => {
  const { world, daemon, wire, follow, told } = following();
  daemon.open('a');
  wire.start();
  await world.pass(10);
  daemon.lag();
  for (let count = 0; count < MOST_BEHIND + 100; count += 1) daemon.say('a', 'x');
  await world.pass(10);
  assert.equal(told.lists.length, 2);
  assert.equal(follow.cursor, daemon.head);
});

test('one who lagged syncs again from where the daemon says', async () => {
  const { world, daemon, wire, told } = following();
  daemon.open('a');
  wire.start();
  await world.pass(10);
  daemon.say('a', 'x');
  daemon.lag();
  daemon.say('a', 'y');
  await world.pass(10);
  daemon.say('a', 'z');
  await world.pass(10);
  assert.deepEqual([told.entries, told.lists.length, told.resets], [[2, 3, 4], 1, 0]);
});

test('another epoch, or a log that has become shorter, starts over', async () => {
  for (const epoch of ['e2', 'e1']) {
    const { world, daemon, wire, told } = following();
    daemon.open('a');
    daemon.say('a', '1');
    wire.start();
    await world.pass(10);
    daemon.say('a', '2');
    await world.pass(10);
    daemon.restore(1, epoch);
    await world.pass(2000);
    assert.deepEqual([told.resets, told.lists.length, told.entries], [1, 2, []]);
    daemon.say('a', '3');
    await world.pass(10);
    assert.deepEqual(told.entries, [2]);
  }
});

test('a page and the pushes behind it may be read in one turn', async () => {
  const { world, daemon, wire, told } = following();
  daemon.open('a');
  wire.start();
  await world.pass(10);
  const { onmessage } = world.socket;
  // From here on what comes is kept back, and then told at once.
  const kept = [];
  world.socket.onmessage = (event) => kept.push(event);
  daemon.say('a', 'before the page');
  daemon.links.forEach((link) => (link.cursor = 1));
  onmessage({ data: '{"type":"lagged","next":1}' });
  daemon.links.forEach((link) => (link.cursor = null));
  await world.pass(1);
  daemon.say('a', 'behind it');
  await world.pass(10);
  world.socket.onmessage = onmessage;
  const types = kept.map((event) => JSON.parse(event.data).type);
  assert.deepEqual(types.slice(-2), ['page', 'entry']);
  for (const event of kept.slice(-2)) onmessage(event);
  await world.pass(10);
  assert.deepEqual(told.entries, [2, 3]);
});

test('what is pushed twice is told once', async () => {
  const { world, daemon, wire, told } = following();
  daemon.open('a');
  wire.start();
  await world.pass(10);
  daemon.say('a', 'x');
  await world.pass(10);
  world.socket.tell({ type: 'entry', entry: daemon.entries[1] });
  world.socket.tell({ type: 'entry', entry: daemon.entries[0] });
  assert.deepEqual(told.entries, [2]);
});

test('a daemon that fails is asked again after a second', async () => {
  const { world, daemon, wire, told } = following();
  daemon.open('a');
  daemon.failing = ['internal', 'internal', 'busy'];
  wire.start();
  await world.pass(10);
  assert.equal(told.followed, 0);
  await world.pass(3000);
  assert.equal(told.followed, 1);
});

test('whatever happens to the link, every entry is told once and in order', async () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const { world, daemon, wire, told } = following(seed);
    const pick = (count) => Math.floor(world.random() * count);
    daemon.delay_ms = (way) => pick(way === 'push' ? 30 : 120);
    daemon.pageEntries = 1 + pick(5);
    daemon.open('a');
    wire.start();
    // In every other life the first list comes through the same weather.
    if (seed % 2 === 0) await world.pass(1000);
    for (let step = 0; step < 80; step += 1) {
      const act = pick(14);
      if (act < 7) daemon.say('a', `${step}`);
      else if (act === 7) daemon.carry('a');
      else if (act === 8) daemon.cut();
      else if (act === 9) daemon.lag();
      else if (act === 10) wire.wake();
      else if (act === 11) daemon.failing.push('busy');
      else if (act === 12) daemon.up = !daemon.up || pick(2) === 0;
      await world.pass(pick(act === 13 ? 3000 : 50));
    }
    daemon.up = true;
    daemon.failing = [];
    await world.pass(40_000);
    // What the first list knew is not told.
    const first = seed % 2 === 0 ? 2 : (told.entries[0] ?? Infinity);
    const heard = daemon.entries.map((entry) => entry.seq).filter((seq) => seq >= first);
    assert.deepEqual(told.entries, heard, `seed ${seed}`);
    assert.ok(seed % 2 === 1 || heard.length > 20, `seed ${seed}`);
    assert.equal(told.lists.length + told.resets, 1, `seed ${seed}`);
  }
});
