// A home with a fake daemon behind it, and a database of its own or one that was there before.

import { openDatabase } from '../js/core/database.js';
import { Home } from '../js/core/home.js';
import { World } from './around.js';
import { FakeDaemon } from './daemon.js';

export const PAIRING = {
  id: 'p1', url: 'ws://home/link', device: 'd_1', name: 'Laptop', role: 'viewer', token: 'wb_t', paired_ms: 1,
};

export async function house({ seed = 1, factory = new IDBFactory(), world = new World(seed), daemon = new FakeDaemon(world) } = {}) {
  const database = await openDatabase(factory);
  await database.write([{ store: 'pairings', put: PAIRING }]);
  const home = new Home(PAIRING, database, world.around);
  return { factory, world, daemon, database, home };
}

/** The same browser and daemon after the page was loaded again. */
export async function reloaded({ factory, world, daemon, home }) {
  await home.close();
  daemon.cut();
  return house({ factory, world, daemon });
}

export const seqs = (model) => model.state.entries.map((entry) => entry.seq);

/** Whether entries are a run of the session's log without a hole and nothing twice. */
export function isRun(entries, log) {
  if (entries.length === 0) return true;
  const first = log.findIndex((entry) => entry.seq === entries[0].seq);
  return first >= 0 && entries.every((entry, at) => log[first + at]?.seq === entry.seq);
}
