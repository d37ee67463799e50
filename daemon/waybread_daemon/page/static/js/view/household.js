// Everything that the page has open: the pairings, a home for each that was looked at, and the sessions in them.

import { linkUrl, normalizeCode, parsePairUrl } from '../core/codes.js';
import { deleteDatabase } from '../core/database.js';
import { WireError } from '../core/faults.js';
import { Home } from '../core/home.js';
import { Observable } from '../core/observable.js';
import { pair } from '../core/pair.js';
import { Pairings } from '../core/pairings.js';
import { forgetShell } from '../shell.js';

/** @typedef {import('../core/types.js').Pairing} Pairing */
/** @typedef {import('../core/types.js').Surroundings} Surroundings */
/** @typedef {import('../core/database.js').Database} Database */
/** @typedef {import('../core/transcript.js').SessionModel} SessionModel */

/** Sessions that stay open after one has left them, so that the way back is short. */
const MOST_OPEN = 3;
const WRAP = 'waybread-wrap';

/**
 * `ready`: what is kept was read. `wrap`: whether lines from tools are wrapped.
 * @typedef {{pairings: Pairing[], ready: boolean, wrap: boolean, updated: boolean}} HouseholdState
 */

/** @extends {Observable<HouseholdState>} */
export class Household extends Observable {
  #database;
  #around;
  #pairings;
  /** @type {Map<string, Home>} */
  #homes = new Map();
  /** The last one is the one looked at. @type {{home: Home, model: SessionModel}[]} */
  #open = [];

  /**
   * @param {Database} database
   * @param {Surroundings} around
   */
  constructor(database, around) {
    super({ pairings: [], ready: false, wrap: localStorage.getItem(WRAP) === 'on', updated: false });
    this.#database = database;
    this.#around = around;
    this.#pairings = new Pairings(database);
  }

  async load() {
    this._set({ pairings: await this.#pairings.list(), ready: true });
  }

  wake() {
    for (const home of this.#homes.values()) home.wake();
  }

  /** The page may end at any moment from now on. */
  keep() {
    for (const home of this.#homes.values()) void home.cache.flush();
  }

  /** A newer version of the page is there. */
  noteUpdate() {
    this._set({ updated: true });
  }

  /** @param {boolean} wrap */
  setWrap(wrap) {
    localStorage.setItem(WRAP, wrap ? 'on' : 'off');
    this._set({ wrap });
  }

  /**
   * @param {string} id that of a pairing, or '' for the first
   * @returns {Home | null}
   */
  home(id) {
    const { pairings } = this.state;
    const pairing = id === '' ? pairings[0] : pairings.find((one) => one.id === id);
    if (pairing === undefined) return null;
    const known = this.#homes.get(pairing.id);
    if (known !== undefined) return known;
    const home = new Home(pairing, this.#database, this.#around);
    this.#homes.set(pairing.id, home);
    home.wire.subscribe(() => void this.#learnName(home));
    void home.start();
    return home;
  }

  /**
   * @param {Home} home
   * @param {string} session
   * @returns {SessionModel}
   */
  session(home, session) {
    const at = this.#open.findIndex((one) => one.home === home && one.model.state.session === session);
    const [known = { home, model: home.openSession(session) }] = at < 0 ? [] : this.#open.splice(at, 1);
    this.#open.push(known);
    while (this.#open.length > MOST_OPEN) this.#open.shift()?.model.close();
    return known.model;
  }

  /**
   * Takes up a pairing code. Rejects with an error whose message is a sentence for a person.
   * @param {string} given a link or a code
   * @param {string} name of this phone
   * @returns {Promise<Pairing>}
   */
  async pair(given, name) {
    const here = linkUrl(location.href);
    const link = parsePairUrl(given);
    const code = link?.code ?? normalizeCode(given);
    if (code === '') throw new Error(NO_CODE);
    const url = link?.url ?? here;
    try {
      const paired = await pair(url, code, name, this.#around);
      const pairing = await this.#pairings.add({ url, name: new URL(url).host, paired });
      await this.#drop(pairing.id);
      await this.load();
      return pairing;
    } catch (fault) {
      if (fault instanceof WireError && fault.code === 'unreachable' && url !== here) {
        throw new Error(`${fault.message} ${ELSEWHERE}`, { cause: fault });
      }
      throw fault;
    }
  }

  /** @param {string} id */
  async signOut(id) {
    await this.#drop(id);
    await this.#pairings.remove(id);
    await this.load();
  }

  /** Deletes everything that this browser keeps of the page. The page has to be loaded anew afterwards. */
  async forgetAll() {
    await Promise.all([...this.#homes.keys()].map((id) => this.#drop(id)));
    this.#database.close();
    await deleteDatabase();
    await forgetShell();
    localStorage.clear();
    sessionStorage.clear();
  }

  /** @param {string} id */
  async #drop(id) {
    const home = this.#homes.get(id);
    if (home === undefined) return;
    for (const one of this.#open) if (one.home === home) one.model.close();
    this.#open = this.#open.filter((one) => one.home !== home);
    this.#homes.delete(id);
    await home.close();
  }

  /** A pairing is called what its daemon calls the device. @param {Home} home */
  async #learnName(home) {
    const { welcome } = home.wire;
    const { id } = home.pairing;
    const known = this.state.pairings.find((one) => one.id === id);
    if (welcome === null || known === undefined || welcome.name === known.name) return;
    await this.#pairings.rename(id, welcome.name);
    this._set({ pairings: await this.#pairings.list() });
  }
}

const NO_CODE =
  'This is neither a pairing link nor a code: a code has 26 letters and digits. Get one with “waybread pair”.';
const ELSEWHERE =
  'If it runs, name it in page_daemons of the daemon that this page is from, and this page in its own allowed_origins.';
