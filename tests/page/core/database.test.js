import 'fake-indexeddb/auto';

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { deleteDatabase, openDatabase, under } from '../js/core/database.js';

const entry = (pairing, session, seq) => ({ pairing, session, seq });

test('what is under a key is all that begins with it, and nothing beside', async () => {
  const database = await openDatabase(new IDBFactory());
  const keys = [
    ['p', 's', 1],
    ['p', 's', 2],
    ['p', 's', 30],
    ['p', 's2', 1],
    ['p', 'r\uffff', 1],
    ['p2', 's', 1],
    ['o', 's', 1],
  ];
  await database.write(keys.map(([pairing, session, seq]) => ({ store: 'entries', put: entry(pairing, session, seq) })));
  const seqs = (all) => all.map((one) => one.seq);
  assert.deepEqual(seqs(await database.all('entries', ['p', 's'])), [1, 2, 30]);
  assert.equal((await database.all('entries', ['p'])).length, 5);
  await database.write([{ store: 'entries', drop: under(['p', 's'], 2) }]);
  assert.deepEqual(seqs(await database.all('entries', ['p', 's'])), [30]);
  assert.equal((await database.all('entries')).length, 5);
  assert.deepEqual(await database.get('entries', ['p', 's', 30]), entry('p', 's', 30));
  assert.equal(await database.get('entries', ['p', 's', 1]), undefined);
});

test('writes happen all or not at all, in their order', async () => {
  const database = await openDatabase(new IDBFactory());
  await database.write([]);
  await database.write([
    { store: 'pairings', put: { id: 'a' } },
    { store: 'pairings', drop: 'a' },
    { store: 'pairings', put: { id: 'b' } },
  ]);
  assert.deepEqual(await database.all('pairings'), [{ id: 'b' }]);
  await assert.rejects(
    database.write([
      { store: 'pairings', put: { id: 'c' } },
      { store: 'pairings', put: { without: 'a key' } },
    ]),
  );
  assert.deepEqual(await database.all('pairings'), [{ id: 'b' }]);
});

test('it is there again after it was closed, and gone after it was deleted', async () => {
  const factory = new IDBFactory();
  const database = await openDatabase(factory);
  await database.write([{ store: 'pairings', put: { id: 'a' } }]);
  database.close();
  const again = await openDatabase(factory);
  assert.deepEqual(await again.all('pairings'), [{ id: 'a' }]);
  // An open one steps aside.
  await deleteDatabase(factory);
  assert.deepEqual(await (await openDatabase(factory)).all('pairings'), []);
});
