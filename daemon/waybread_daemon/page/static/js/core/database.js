// What the page keeps, tokens too: IndexedDB as promises, or memory in a browser that has none for the page.

import { allowed } from './surroundings.js';

export const NAME = 'waybread';
const VERSION = 1;
/** A browser that has not opened its database by then counts as one that has none. */
const OPEN_TIMEOUT_MS = 4_000;
/** The stores and their keys. */
const STORES = {
  pairings: 'id',
  sessions: ['pairing', 'session'],
  entries: ['pairing', 'session', 'seq'],
  windows: ['pairing', 'session', 'number', 'block'],
};

/**
 * A prefix is a key, or the first parts of one: all that begin with them are meant.
 *
 * Of what a write drops, `last` is the greatest that is meant where the next part of the key is a number.
 * @typedef {keyof typeof STORES} StoreName
 * @typedef {IDBValidKey[]} Prefix
 * @typedef {{store: StoreName, put?: any, drop?: Prefix | string, last?: number}} Write
 * @typedef {Pick<Indexed, keyof Indexed>} Database
 */

class Indexed {
  /** Called when another tab deletes it: it fails from then on. */
  onGone = () => {};
  #db;
  /** @type {Set<IDBTransaction>} */
  #running = new Set();
  #resting = false;

  /** @param {IDBDatabase} db */
  constructor(db) {
    this.#db = db;
    db.onversionchange = () => {
      // This tab must not stand in the way.
      db.close();
      this.onGone();
    };
    // It was deleted in the browser's own settings.
    db.onclose = () => this.onGone();
  }

  /**
   * @param {StoreName} store
   * @param {Prefix} [prefix]
   * @returns {Promise<any[]>} by key
   */
  async all(store, prefix) {
    return done(this.#begin(store, 'readonly').objectStore(store).getAll(prefix && under(prefix)));
  }

  /**
   * @param {StoreName} store
   * @param {IDBValidKey} key
   * @returns {Promise<any>} undefined where there is none
   */
  async get(store, key) {
    return done(this.#begin(store, 'readonly').objectStore(store).get(key));
  }

  /**
   * All of them or none, in order.
   * @param {Write[]} writes
   * @param {string} [pairing] none where this pairing is not kept (any more): another tab may have signed out of it
   * @returns {Promise<void>}
   */
  async write(writes, pairing) {
    /** @type {StoreName[]} */
    const names = ['pairings', ...writes.map(({ store }) => store)];
    const transaction = this.#begin(names, 'readwrite');
    /** @type {unknown} */
    let fault = new Error(NOT_KEPT);
    const known = transaction.objectStore('pairings').getKey(pairing ?? '');
    known.onsuccess = () => {
      try {
        if (pairing !== undefined && known.result === undefined) throw fault;
        for (const { store, put, drop, last } of writes) {
          const rows = transaction.objectStore(store);
          if (put !== undefined) rows.put(put);
          if (drop !== undefined) rows.delete(typeof drop === 'string' ? drop : under(drop, last));
        }
      } catch (found) {
        // What cannot be kept at all is found before anything is written; the rest would be.
        fault = found;
        transaction.abort();
      }
    };
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(this.#running.delete(transaction) ? (transaction.error ?? fault) : LEFT);
    });
  }

  close() {
    this.#db.close();
  }

  /**
   * Gives up what is not done, and does nothing until the page is back. A page that Safari freezes while it reads or writes
   * holds up all others, and so itself when it is loaded the next time.
   * @param {boolean} resting
   */
  rest(resting) {
    this.#resting = resting;
    for (const one of resting ? this.#running : []) {
      this.#running.delete(one);
      allowed(() => one.abort());
    }
  }

  /**
   * @param {StoreName | StoreName[]} stores
   * @param {IDBTransactionMode} mode
   */
  #begin(stores, mode) {
    if (this.#resting) throw LEFT;
    const transaction = this.#db.transaction(stores, mode, { durability: 'relaxed' });
    this.#running.add(transaction);
    transaction.addEventListener('complete', () => this.#running.delete(transaction));
    return transaction;
  }
}

/** The same, for as long as the page is there. @implements {Database} */
export class Memory {
  onGone = () => {};
  /** By store and key, as JSON. @type {Map<string, any>} */
  #rows = new Map();

  /**
   * @param {StoreName} store
   * @param {Prefix} [prefix]
   * @returns {Promise<any[]>}
   */
  async all(store, prefix = []) {
    const names = this.#under([store, ...prefix]);
    names.sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
    return structuredClone(names.map((name) => this.#rows.get(name)));
  }

  /**
   * @param {StoreName} store
   * @param {IDBValidKey} key
   * @returns {Promise<any>}
   */
  async get(store, key) {
    return (await this.all(store, [key].flat()))[0];
  }

  /**
   * @param {Write[]} writes
   * @param {string} [pairing]
   * @returns {Promise<void>}
   */
  async write(writes, pairing) {
    if (pairing !== undefined && this.#under(['pairings', pairing]).length === 0) throw new Error(NOT_KEPT);
    for (const { store, put, drop, last } of writes) {
      if (put !== undefined) {
        const key = [STORES[store]].flat().map((part) => put[part]);
        this.#rows.set(JSON.stringify([store, ...key]), structuredClone(put));
      }
      if (drop !== undefined) for (const name of this.#under([store, drop].flat(), last)) this.#rows.delete(name);
    }
  }

  close() {}

  rest() {}

  /**
   * @param {Prefix} prefix
   * @param {number} [last]
   */
  #under(prefix, last = Infinity) {
    const begin = JSON.stringify(prefix).slice(0, -1);
    const within = (/** @type {string} */ name) =>
      name.startsWith(begin) && ',]'.includes(name.charAt(begin.length)) && !(JSON.parse(name)[prefix.length] > last);
    return [...this.#rows.keys()].filter(within);
  }
}

/**
 * Never fails: it is one in memory where the browser has none for this page.
 * @param {IDBFactory} [factory]
 * @returns {Promise<Database>}
 */
export function openDatabase(factory) {
  return new Promise((resolve) => {
    const none = () => resolve(new Memory());
    const timer = setTimeout(none, OPEN_TIMEOUT_MS);
    connect(factory)
      .then((db) => resolve(new Indexed(db)), none)
      .finally(() => clearTimeout(timer));
  });
}

async function connect(factory = indexedDB) {
  const request = factory.open(NAME, VERSION);
  request.onupgradeneeded = () => {
    for (const [store, keyPath] of Object.entries(STORES)) request.result.createObjectStore(store, { keyPath });
  };
  return done(request);
}

/**
 * Deletes all of it, tokens too. Where a tab that sleeps still holds it, it goes when that wakes.
 * @param {IDBFactory} [factory]
 */
export async function deleteDatabase(factory = indexedDB) {
  const request = factory.deleteDatabase(NAME);
  await new Promise((resolve, reject) => {
    request.onsuccess = request.onblocked = resolve;
    request.onerror = reject;
  });
}

const NOT_KEPT = 'The browser did not keep what was written.';
/** What is given up by a rest fails with this, or with an error of the browser's of this name. */
const LEFT = new DOMException('The page was left.', 'AbortError');

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

/**
 * @param {Prefix} prefix
 * @param {IDBValidKey} [last]
 */
function under(prefix, last = []) {
  // An array comes behind every number and string.
  return IDBKeyRange.bound(prefix, [...prefix, last]);
}
