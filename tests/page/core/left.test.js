// A page that is left gives up what it reads and writes: frozen with it, it would hold up every other one.

import 'fake-indexeddb/auto';

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Cache } from '../js/core/cache.js';
import { openDatabase } from '../js/core/database.js';
import { World } from './around.js';

const row = (session, head) => ({ session, head, title: session });
const names = (rows) => rows.map(({ session }) => session);

async function opened(factory) {
  const database = await openDatabase(factory);
  await database.write([{ store: 'pairings', put: { id: 'p' } }]);
  const cache = new Cache(database, 'p', new World().around);
  return { database, cache, rows: await cache.load() };
}

test('what it was about to write holds up nobody', async () => {
  const factory = new IDBFactory();
  const { database } = await opened(factory);
  const writing = database.write([{ store: 'pairings', put: { id: 'q' } }]);
  database.rest(true);
  await assert.rejects(writing, { name: 'AbortError' });
  const other = await openDatabase(factory);
  assert.deepEqual(await other.all('pairings'), [{ id: 'p' }]);
});

test('it reads and writes nothing before it is back', async () => {
  const { database } = await opened(new IDBFactory());
  const reading = database.all('pairings');
  database.rest(true);
  await assert.rejects(reading, { name: 'AbortError' });
  for (const run of [() => database.all('pairings'), () => database.get('pairings', 'p'), () => database.write([])]) {
    await assert.rejects(run, { name: 'AbortError' });
  }
  database.rest(false);
  assert.deepEqual(await database.all('pairings'), [{ id: 'p' }]);
});

test('what was not kept then is kept when it is back', async () => {
  const factory = new IDBFactory();
  const { database, cache } = await opened(factory);
  cache.putRow(row('a', 1));
  const flushing = cache.flush();
  // Within the write.
  await null;
  await null;
  database.rest(true);
  await flushing;
  cache.putRow(row('b', 2));
  await cache.flush();
  database.rest(false);
  assert.deepEqual((await opened(factory)).rows, []);
  cache.putRow(row('c', 3));
  await cache.flush();
  assert.deepEqual(names((await opened(factory)).rows).sort(), ['a', 'b', 'c']);
});
