// IndexedDB as promises. Everything that the page keeps, tokens too, is in this one database.

export const NAME = 'waybread';
const VERSION = 1;
/** The stores and their keys. */
const STORES = {
  pairings: 'id',
  sessions: ['pairing', 'session'],
  entries: ['pairing', 'session', 'seq'],
  windows: ['pairing', 'session', 'number', 'block'],
};

/** @typedef {keyof typeof STORES} StoreName */
/** @typedef {IDBValidKey[]} Prefix the first parts of a key: all that begin with them are meant */
/** @typedef {{store: StoreName, put?: unknown, drop?: IDBKeyRange | IDBValidKey}} Write */

/**
 * @param {Prefix} prefix
 * @param {number} [last] where the next part of the key is a number, the greatest that is meant
 */
export function under(prefix, last) {
  // An array comes behind every number and string.
  return IDBKeyRange.bound(prefix, last === undefined ? [...prefix, []] : [...prefix, last]);
}

export class Database {
  #db;

  /** @param {IDBDatabase} db */
  constructor(db) {
    this.#db = db;
    // Another tab deletes or upgrades it: this one must not stand in the way.
    db.onversionchange = () => db.close();
  }

  /**
   * @param {StoreName} store
   * @param {Prefix} [prefix]
   * @returns {Promise<any[]>} by key
   */
  async all(store, prefix) {
    const transaction = this.#db.transaction(store, 'readonly');
    return done(transaction.objectStore(store).getAll(prefix === undefined ? undefined : under(prefix)));
  }

  /**
   * @param {StoreName} store
   * @param {IDBValidKey} key
   * @returns {Promise<any>} undefined where there is none
   */
  async get(store, key) {
    return done(this.#db.transaction(store, 'readonly').objectStore(store).get(key));
  }

  /**
   * All of them or none, in order.
   * @param {Write[]} writes
   * @returns {Promise<void>}
   */
  async write(writes) {
    if (writes.length === 0) return;
    const names = [...new Set(writes.map((write) => write.store))];
    const transaction = this.#db.transaction(names, 'readwrite', { durability: 'relaxed' });
    const ended = new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve(undefined);
      transaction.onabort = () => reject(transaction.error ?? new Error('The browser did not keep what was written.'));
    });
    try {
      for (const { store, put, drop } of writes) {
        if (put !== undefined) transaction.objectStore(store).put(put);
        if (drop !== undefined) transaction.objectStore(store).delete(drop);
      }
    } catch (fault) {
      // What cannot be kept at all is found before anything is written; the rest would be.
      transaction.abort();
      await ended.catch(() => undefined);
      throw fault;
    }
    await ended;
  }

  close() {
    this.#db.close();
  }
}

/**
 * @param {IDBFactory} [factory]
 * @returns {Promise<Database>}
 */
export async function openDatabase(factory = indexedDB) {
  const request = factory.open(NAME, VERSION);
  request.onupgradeneeded = () => {
    for (const [store, keyPath] of Object.entries(STORES)) request.result.createObjectStore(store, { keyPath });
  };
  return new Database(await done(request));
}

/**
 * Deletes all of it, tokens too.
 * @param {IDBFactory} [factory]
 */
export async function deleteDatabase(factory = indexedDB) {
  await done(factory.deleteDatabase(NAME));
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
