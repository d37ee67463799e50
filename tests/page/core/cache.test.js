import 'fake-indexeddb/auto';

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Cache, MOST_TAILS, TAIL_ENTRIES } from '../js/core/cache.js';
import { openDatabase } from '../js/core/database.js';
import { Pairings } from '../js/core/pairings.js';
import { settle, World } from './around.js';

const entry = (session, seq, text = '') => ({ session, seq, kind: 'message', text, args_chars: 0 });
const entries = (session, ...seqs) => seqs.map((seq) => entry(session, seq));
const row = (session, head) => ({ session, head, title: session });
const seqs = (kept) => kept.entries.map((one) => one.seq);

async function fresh({ mostChars, factory = new IDBFactory(), pairing = 'p' } = {}) {
  const world = new World();
  const database = await openDatabase(factory);
  await database.write([{ store: 'pairings', put: { id: pairing } }]);
  const cache = new Cache(database, pairing, world.around, mostChars);
  const rows = await cache.load();
  return { world, database, cache, rows, factory };
}

test('the list is there again, with the time up to which it was right', async () => {
  const { cache, factory } = await fresh();
  cache.putList([row('b', 2), row('a', 1)]);
  cache.live(1234);
  await cache.flush();
  const again = await fresh({ factory });
  assert.deepEqual(again.rows.sort((one, other) => one.head - other.head), [row('a', 1), row('b', 2)]);
  assert.equal(again.cache.as_of_ms, 1234);
  assert.deepEqual((await fresh({ factory, pairing: 'other' })).rows, []);
});

test('a session that is not listed any more and was not opened is let go', async () => {
  const { cache, factory } = await fresh();
  cache.putList([row('a', 1), row('b', 2)]);
  cache.replaceTail('a', entries('a', 1), 1, false);
  cache.putList([row('c', 3)]);
  await cache.flush();
  assert.deepEqual((await fresh({ factory })).rows.map((one) => one.session).sort(), ['a', 'c']);
});

test('a tail grows, and is there again as it was', async () => {
  const { world, cache, factory } = await fresh();
  cache.replaceTail('s', entries('s', 3, 5), 6, true);
  cache.append(entry('s', 9));
  cache.append(entry('s', 9));
  cache.append(entry('s', 8));
  assert.deepEqual(seqs(await cache.entries('s')), [3, 5, 9]);
  const again = (await fresh({ factory })).cache;
  const kept = await again.entries('s');
  assert.deepEqual([seqs(kept), kept.upto, kept.has_older, kept.as_of_ms], [[3, 5, 9], 9, true, world.time]);
  again.append(entry('s', 12));
  assert.deepEqual(seqs(await again.entries('s')), [3, 5, 9, 12]);
  again.replaceTail('s', entries('s', 20), 21, true);
  assert.deepEqual(seqs(await again.entries('s')), [20]);
});

test('what has no tail gets none by a single entry', async () => {
  const { cache, database } = await fresh();
  cache.append(entry('s', 9));
  assert.equal(await cache.entries('s'), null);
  await cache.flush();
  assert.deepEqual(await database.all('entries'), []);
});

test('a tail keeps its newest entries, with some slack', async () => {
  const { cache, database } = await fresh();
  const all = Array.from({ length: TAIL_ENTRIES + 50 }, (_, at) => entry('s', at + 1));
  cache.replaceTail('s', all, 450, false);
  assert.deepEqual((await cache.entries('s')).has_older, true);
  assert.equal((await cache.entries('s')).entries.length, TAIL_ENTRIES);
  for (let seq = 451; seq <= 551; seq += 1) cache.append(entry('s', seq));
  const kept = await cache.entries('s');
  assert.deepEqual([kept.entries[0].seq, kept.entries.length, kept.has_older], [152, TAIL_ENTRIES, true]);
  assert.equal((await database.all('entries')).length, TAIL_ENTRIES);
});

test('of too many sessions, and of too much, those not opened for the longest time go', async () => {
  const { world, cache, database } = await fresh({ mostChars: 100_000 });
  for (let number = 0; number < MOST_TAILS + 3; number += 1) {
    world.time += 1;
    cache.touch(`s${number}`);
    cache.replaceTail(`s${number}`, entries(`s${number}`, 1), 1, false);
  }
  await cache.flush();
  assert.equal(cache.tails().length, MOST_TAILS);
  assert.equal(cache.tail('s2'), null);
  assert.notEqual(cache.tail('s3'), null);
  assert.equal(cache.tails()[0], `s${MOST_TAILS + 2}`);
  world.time += 1;
  cache.touch('s3');
  cache.replaceTail('s3', [entry('s3', 1, 'x'.repeat(95_000))], 1, false);
  await cache.flush();
  assert.equal(cache.tails()[0], 's3');
  assert.ok(cache.tails().length < 30);
  const kept = new Set((await database.all('entries')).map((one) => one.session));
  assert.deepEqual([...kept].sort(), cache.tails().sort());
});

test('a deleted session leaves nothing', async () => {
  const { cache, database } = await fresh();
  cache.putList([row('a', 1), row('b', 2)]);
  for (const session of ['a', 'b']) {
    cache.replaceTail(session, entries(session, 1), 1, false);
    cache.putWindow(session, 1, 0, { lines: [], tool: '', count: 0 });
  }
  cache.drop('a');
  await cache.flush();
  for (const store of ['sessions', 'entries', 'windows']) {
    assert.deepEqual((await database.all(store)).map((one) => one.session), ['b'], store);
  }
});

test('another log leaves nothing of this pairing and all of another', async () => {
  const { cache, database, factory } = await fresh();
  const other = (await fresh({ factory, pairing: 'other' })).cache;
  for (const one of [cache, other]) {
    one.putList([row('a', 1)]);
    one.replaceTail('a', entries('a', 1), 1, false);
    one.live(1);
    await one.flush();
  }
  cache.replaceTail('a', entries('a', 1, 2), 2, false);
  cache.clear();
  await cache.flush();
  assert.deepEqual([cache.as_of_ms, cache.tails()], [0, []]);
  for (const store of ['sessions', 'entries']) {
    assert.deepEqual([...new Set((await database.all(store)).map((one) => one.pairing))], ['other'], store);
  }
});

test('windows are kept as they were, and a session with too many of them starts anew', async () => {
  const { cache, factory } = await fresh();
  const window = { lines: [{ number: 1, text: 'a', cut: false }], tool: 'bash', count: 1 };
  cache.putWindow('s', 1, 0, window);
  await cache.flush();
  const again = (await fresh({ factory })).cache;
  const { lines, tool, count } = await again.window('s', 1, 0);
  assert.deepEqual({ lines, tool, count }, window);
  assert.equal(await again.window('s', 1, 1), null);
  const large = { ...window, lines: [{ number: 1, text: 'x'.repeat(3_000_000), cut: false }] };
  for (const block of [1, 2, 3]) again.putWindow('s', 1, block, large);
  assert.equal(await again.window('s', 1, 0), null);
  assert.equal(await again.window('s', 1, 2), null);
  assert.notEqual(await again.window('s', 1, 3), null);
});

test('writes wait a moment and go together', async () => {
  const { world, cache, database } = await fresh();
  let count = 0;
  const write = database.write.bind(database);
  database.write = (writes) => {
    count += 1;
    return write(writes);
  };
  cache.replaceTail('s', entries('s', 1), 1, false);
  for (let seq = 2; seq < 50; seq += 1) cache.append(entry('s', seq));
  await settle();
  assert.equal(count, 0);
  await world.pass(400);
  assert.equal(count, 1);
  assert.equal((await database.all('entries')).length, 49);
});

test('another tab may write as well, and what is read has no hole', async () => {
  const factory = new IDBFactory();
  const one = (await fresh({ factory })).cache;
  one.replaceTail('s', entries('s', 1, 2, 3), 3, false);
  await one.flush();
  const other = (await fresh({ factory })).cache;
  one.append(entry('s', 4));
  other.append(entry('s', 4));
  one.append(entry('s', 5));
  await one.flush();
  await other.flush();
  // The record of the second is older: it tells of less, and of nothing that is missing.
  const kept = await one.entries('s');
  assert.deepEqual([seqs(kept), kept.upto], [[1, 2, 3, 4], 4]);
  other.replaceTail('s', entries('s', 8, 9), 9, true);
  await other.flush();
  one.append(entry('s', 6));
  await one.flush();
  const mixed = await one.entries('s');
  assert.deepEqual([seqs(mixed), mixed.upto, mixed.has_older], [[6], 6, true]);
});

test('a browser that keeps nothing changes nothing else', async () => {
  const { world, cache, database } = await fresh();
  database.write = () => Promise.reject(new Error('QuotaExceededError'));
  cache.putList([row('a', 1)]);
  cache.replaceTail('a', entries('a', 1), 1, false);
  await world.pass(1000);
  database.all = database.get = () => Promise.reject(new Error('gone'));
  assert.equal(await cache.entries('a'), null);
  assert.equal(await cache.window('a', 1, 0), null);
  const broken = new Cache(database, 'p', world.around);
  assert.deepEqual(await broken.load(), []);
});

test('nothing is kept any more of a pairing that another tab has signed out of', async () => {
  const { cache, database, factory } = await fresh();
  cache.replaceTail('s', entries('s', 1), 1, false);
  await cache.flush();
  await new Pairings(await openDatabase(factory)).remove('p');
  cache.putList([row('s', 2)]);
  cache.replaceTail('s', entries('s', 1, 2), 2, false);
  cache.putWindow('s', 1, 0, { lines: [], tool: '', count: 0 });
  cache.live(1);
  await cache.flush();
  for (const store of ['pairings', 'sessions', 'entries', 'windows']) assert.deepEqual(await database.all(store), [], store);
  assert.equal(await cache.entries('s'), null);
});
