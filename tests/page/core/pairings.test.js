import 'fake-indexeddb/auto';

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openDatabase } from '../js/core/database.js';
import { Pairings } from '../js/core/pairings.js';

async function some() {
  const database = await openDatabase(new IDBFactory());
  let time = 0;
  const pairings = new Pairings(database, { now: () => (time += 1), makeId: () => `id${time}` });
  return { database, pairings };
}

const paired = (device, token) => ({ device, role: 'viewer', token });
const URL = 'wss://home.example/link';

test('pairings are kept with their tokens, oldest first', async () => {
  const { pairings } = await some();
  const one = await pairings.add({ url: URL, name: 'Laptop', paired: paired('d_1', 'wb_1') });
  await pairings.add({ url: URL, name: 'Server', paired: paired('d_2', 'wb_2') });
  assert.deepEqual(one, { id: 'id0', url: URL, device: 'd_1', name: 'Laptop', role: 'viewer', token: 'wb_1', paired_ms: 1 });
  assert.deepEqual((await pairings.list()).map((pairing) => pairing.name), ['Laptop', 'Server']);
});

test('pairing the same device of the same daemon again replaces the token and keeps the rest', async () => {
  const { pairings } = await some();
  const one = await pairings.add({ url: URL, name: 'Laptop', paired: paired('d_1', 'wb_1') });
  await pairings.add({ url: 'wss://other.example/link', name: 'Other', paired: paired('d_1', 'wb_3') });
  const again = await pairings.add({ url: URL, name: 'Laptop', paired: paired('d_1', 'wb_2') });
  assert.deepEqual([again.id, again.token, again.paired_ms], [one.id, 'wb_2', one.paired_ms]);
  assert.deepEqual((await pairings.list()).map((pairing) => pairing.token), ['wb_2', 'wb_3']);
});

test('a pairing has another name when a person gives it one', async () => {
  const { pairings } = await some();
  const { id } = await pairings.add({ url: URL, name: 'Laptop', paired: paired('d_1', 'wb_1') });
  await pairings.rename(id, 'Kitchen');
  await pairings.rename('unknown', 'x');
  assert.deepEqual((await pairings.list()).map((pairing) => pairing.name), ['Kitchen']);
});

test('signing out of one forgets all of it and nothing of another', async () => {
  const { database, pairings } = await some();
  const one = await pairings.add({ url: URL, name: 'a', paired: paired('d_1', 'wb_1') });
  const other = await pairings.add({ url: URL, name: 'b', paired: paired('d_2', 'wb_2') });
  for (const { id } of [one, other]) {
    await database.write([
      { store: 'sessions', put: { pairing: id, session: 's' } },
      { store: 'entries', put: { pairing: id, session: 's', seq: 1 } },
      { store: 'windows', put: { pairing: id, session: 's', number: 1, block: 0 } },
    ]);
  }
  await pairings.remove(one.id);
  for (const store of ['sessions', 'entries', 'windows']) {
    assert.deepEqual((await database.all(store)).map((kept) => kept.pairing), [other.id], store);
  }
  assert.deepEqual(await pairings.list(), [other]);
});

test('an id of a pairing is made by chance', async () => {
  const pairings = new Pairings(await openDatabase(new IDBFactory()));
  const ids = [];
  for (const device of ['d_1', 'd_2']) ids.push((await pairings.add({ url: URL, name: '', paired: paired(device, 't') })).id);
  assert.match(ids[0], /^[0-9a-f]{12}$/);
  assert.notEqual(ids[0], ids[1]);
});
