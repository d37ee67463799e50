// The devices that this browser may look at, with their tokens: in IndexedDB and nowhere else.

import { under } from './database.js';

/** @typedef {import('./types.js').Pairing} Pairing */
/** @typedef {import('./types.js').Paired} Paired */
/** @typedef {import('./database.js').Database} Database */

export class Pairings {
  #database;
  #now;
  #makeId;

  /**
   * @param {Database} database
   * @param {{now?: () => number, makeId?: () => string}} [how]
   */
  constructor(database, { now = Date.now, makeId = randomId } = {}) {
    this.#database = database;
    this.#now = now;
    this.#makeId = makeId;
  }

  /** @returns {Promise<Pairing[]>} oldest first */
  async list() {
    /** @type {Pairing[]} */
    const pairings = await this.#database.all('pairings');
    return pairings.sort((one, other) => one.paired_ms - other.paired_ms || (one.id < other.id ? -1 : 1));
  }

  /**
   * Keeps a new pairing. One of the same device of the same daemon is replaced: its id and its cache stay.
   * @param {{url: string, name: string, paired: Paired}} given `name`: what a person calls it
   * @returns {Promise<Pairing>}
   */
  async add({ url, name, paired }) {
    const { device, role, token } = paired;
    const known = (await this.list()).find((one) => one.url === url && one.device === device);
    const id = known?.id ?? this.#makeId();
    const pairing = { id, url, device, name, role, token, paired_ms: known?.paired_ms ?? this.#now() };
    await this.#database.write([{ store: 'pairings', put: pairing }]);
    return pairing;
  }

  /**
   * @param {string} id
   * @param {string} name
   */
  async rename(id, name) {
    const pairing = await this.#database.get('pairings', id);
    if (pairing !== undefined) await this.#database.write([{ store: 'pairings', put: { ...pairing, name } }]);
  }

  /**
   * Forgets a pairing: its token and all that was kept of it. Its `Home` has to be closed before.
   * @param {string} id
   */
  async remove(id) {
    await this.#database.write([
      { store: 'pairings', drop: id },
      { store: 'sessions', drop: under([id]) },
      { store: 'entries', drop: under([id]) },
      { store: 'windows', drop: under([id]) },
    ]);
  }
}

function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
