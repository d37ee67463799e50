import 'fake-indexeddb/auto';

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { deleteDatabase, Memory, openDatabase } from '../js/core/database.js';
import { settle } from './around.js';

/** Both kinds do the same. */
const KINDS = { IndexedDB: () => openDatabase(new IDBFactory()), memory: () => new Memory() };
const entry = (pairing, session, seq) => ({ pairing, session, seq });

function each(name, run) {
  for (const [kind, make] of Object.entries(KINDS)) test(`${name} (${kind})`, async () => run(await make()));
}

each('what is under a key is all that begins with it, in order, and nothing beside', async (database) => {
  const keys = [
    ['p', 's', 30],
    ['p', 's', 2],
    ['p', 's', 1],
    ['p', 's2', 1],
    ['p', 'r\uffff', 1],
    ['p2', 's', 1],
    ['o', 's', 1],
  ];
  await database.write(keys.map(([pairing, session, seq]) => ({ store: 'entries', put: entry(pairing, session, seq) })));
  const seqs = (all) => all.map((one) => one.seq);
  assert.deepEqual(seqs(await database.all('entries', ['p', 's'])), [1, 2, 30]);
  assert.equal((await database.all('entries', ['p'])).length, 5);
  await database.write([{ store: 'entries', drop: ['p', 's'], last: 2 }]);
  assert.deepEqual(seqs(await database.all('entries', ['p', 's'])), [30]);
  assert.equal((await database.all('entries')).length, 5);
  assert.deepEqual(await database.get('entries', ['p', 's', 30]), entry('p', 's', 30));
  assert.equal(await database.get('entries', ['p', 's', 1]), undefined);
});

each('writes happen in their order', async (database) => {
  await database.write([]);
  await database.write([
    { store: 'pairings', put: { id: 'a' } },
    { store: 'pairings', drop: 'a' },
    { store: 'pairings', put: { id: 'b' } },
  ]);
  assert.deepEqual(await database.all('pairings'), [{ id: 'b' }]);
});

test('writes happen all or not at all', async () => {
  const database = await KINDS.IndexedDB();
  await assert.rejects(
    database.write([
      { store: 'pairings', put: { id: 'c' } },
      { store: 'pairings', put: { without: 'a key' } },
    ]),
  );
  assert.deepEqual(await database.all('pairings'), []);
});

each('what was read or written and is changed afterwards stays what it was', async (database) => {
  const given = { id: 'a', seqs: [1] };
  await database.write([{ store: 'pairings', put: given }]);
  given.seqs.push(2);
  (await database.get('pairings', 'a')).seqs.push(3);
  (await database.all('pairings'))[0].seqs.push(4);
  assert.deepEqual(await database.all('pairings'), [{ id: 'a', seqs: [1] }]);
});

each('what is of a pairing is written only as long as that is kept', async (database) => {
  const write = (seq) => database.write([{ store: 'entries', put: entry('p', 's', seq) }], 'p');
  await assert.rejects(write(1), /did not keep/);
  await database.write([{ store: 'pairings', put: { id: 'p' } }]);
  await write(2);
  await database.write([{ store: 'pairings', drop: 'p' }]);
  await assert.rejects(write(3), /did not keep/);
  assert.deepEqual(await database.all('entries'), [entry('p', 's', 2)]);
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

test('one that another tab deletes says so, and fails from then on', async () => {
  const factory = new IDBFactory();
  const database = await openDatabase(factory);
  let gone = 0;
  database.onGone = () => {
    gone += 1;
  };
  await deleteDatabase(factory);
  assert.equal(gone, 1);
  await assert.rejects(database.all('pairings'));
  await assert.rejects(database.write([{ store: 'pairings', put: { id: 'a' } }]));
});

test('a tab that sleeps and does not let go does not hold up who deletes', async () => {
  const factory = new IDBFactory();
  const sleeping = await new Promise((resolve) => {
    const request = factory.open('waybread', 1);
    request.onsuccess = () => resolve(request.result);
  });
  await deleteDatabase(factory);
  sleeping.close();
  await settle();
  assert.deepEqual(await factory.databases(), []);
});

const FACTORIES = {
  'throws': { open: () => { throw new DOMException('no', 'SecurityError'); } },
  'fails': {
    open: () => {
      const request = { error: new DOMException('no', 'UnknownError') };
      setImmediate(() => request.onerror({}));
      return request;
    },
  },
  'never answers': { open: () => ({}) },
};

for (const [way, factory] of Object.entries(FACTORIES)) {
  test(`where opening ${way} it is memory`, async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const opening = openDatabase(factory);
    await settle();
    context.mock.timers.tick(4000);
    const database = await opening;
    assert.ok(database instanceof Memory);
    await database.write([{ store: 'pairings', put: { id: 'a' } }]);
    assert.deepEqual(await database.all('pairings'), [{ id: 'a' }]);
  });
}

test('where the browser has none it is memory, and where it has one it is not', async () => {
  assert.ok(!((await openDatabase(new IDBFactory())) instanceof Memory));
  const there = Object.getOwnPropertyDescriptor(globalThis, 'indexedDB');
  Object.defineProperty(globalThis, 'indexedDB', { configurable: true, get: () => { throw new Error('no'); } });
  try {
    assert.ok((await openDatabase()) instanceof Memory);
  } finally {
    Object.defineProperty(globalThis, 'indexedDB', there);
  }
});
