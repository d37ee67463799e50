// Everything that the page has open: the pairings, a home for each that was looked at, and the sessions in them.

import { linkUrl, pair, Pairings } from '../core/pairings.js';
import { deleteDatabase, Memory, openDatabase } from '../core/database.js';
import { Home } from '../core/home.js';
import { Observable } from '../core/observable.js';
import { allowed, forgetShell, keepShell, otherTabs } from '../core/surroundings.js';

/** @typedef {import('../core/types.js').Pairing} Pairing */
/** @typedef {import('../core/types.js').Surroundings} Surroundings */
/** @typedef {import('../core/database.js').Database} Database */
/** @typedef {import('../core/transcript.js').SessionModel} SessionModel */

/** Sessions that stay open after one has left them, so that the way back is short. */
const MOST_OPEN = 3;
const WRAP = 'waybread-wrap';

/**
 * `ready`: what is kept was read. `wrap`: whether lines from tools are wrapped. `notice`: a sentence where this browser
 * keeps nothing, or empty.
 * @typedef {{pairings: Pairing[], ready: boolean, wrap: boolean, updated: boolean, notice: string}} HouseholdState
 */

/** @extends {Observable<HouseholdState>} */
export class Household extends Observable {
  /** Called when everything that was kept is gone. */
  onForgotten = () => {};
  /** The home that was looked at last. @type {Home | null} */
  looked = null;
  /** @type {Database} */
  #database = new Memory();
  #around;
  /** Which pairing is meant where an address names none: another tab may sign out of it. */
  #first = '';
  /** Nothing may be kept from then on, until a person pairs again, here or in another tab. */
  #forgotten = false;
  /** @type {Map<string, Home>} */
  #homes = new Map();
  /** The last one is the one looked at. @type {{home: Home, model: SessionModel}[]} */
  #open = [];
  /** Tells the other tabs that the pairings are others now, or that all is forgotten. @type {(all: boolean) => void} */
  #tell = otherTabs((all) => {
    if (all) this.#forget();
    else void (this.#forgotten ? this.load() : this.#look());
  });

  /** @param {Surroundings} around */
  constructor(around) {
    const wrap = allowed(() => localStorage.getItem(WRAP)) === 'on';
    super({ pairings: [], ready: false, wrap, updated: false, notice: '' });
    this.#around = around;
  }

  /** Reads what is kept, and keeps the page. */
  async load() {
    await this.#use(await openDatabase());
    void keepShell(() => this._set({ updated: true }));
  }

  get #pairings() {
    return new Pairings(this.#database);
  }

  /** @param {Database} database */
  async #use(database) {
    this.#forgotten = false;
    this.#database = database;
    database.onGone = () => this.#forget();
    await this.#look();
  }

  /** Takes over what is kept now: another tab may have changed it. */
  async #look() {
    const database = this.#database;
    const pairings = await this.#pairings.list().catch(() => null);
    if (database !== this.#database || this.#forgotten) return;
    if (pairings === null) {
      // It opens and cannot be read.
      if (!this.state.ready) await this.#use(new Memory());
      return;
    }
    this._set({ pairings, ready: true, notice: database instanceof Memory ? KEEPS_NOTHING : '' });
    for (const { pairing } of this.#homes.values()) {
      if (!pairings.some(({ id, token }) => id === pairing.id && token === pairing.token)) void this.#drop(pairing.id);
    }
  }

  /** Everything that this browser keeps is gone, or about to be. */
  #forget() {
    this.#database.onGone = () => {};
    this.#database.close();
    this.#forgotten = true;
    this.#database = new Memory();
    this._set({ pairings: [], notice: NOTHING_KEPT });
    for (const id of this.#homes.keys()) void this.#drop(id);
    allowed(() => localStorage.clear());
    allowed(() => sessionStorage.clear());
    this.onForgotten();
  }

  /** The page is left, or comes back as it was. @param {boolean} left */
  rest(left) {
    this.#database.rest(left);
  }

  wake() {
    if (document.hidden) this.keep();
    void this.#look();
    for (const home of this.#homes.values()) home.wake();
  }

  /** The page may end at any moment from now on. */
  keep() {
    for (const home of this.#homes.values()) home.keep();
  }

  /** @param {boolean} wrap */
  setWrap(wrap) {
    allowed(() => localStorage.setItem(WRAP, wrap ? 'on' : 'off'));
    this._set({ wrap });
  }

  /**
   * @param {string} id that of a pairing, or '' for the first
   * @param {boolean} [anew] whether '' may come to mean another one than before: not where one reads a session
   * @returns {Home | null}
   */
  home(id, anew) {
    const { pairings } = this.state;
    if (anew || this.#first === '') this.#first = pairings[0]?.id ?? '';
    const pairing = pairings.find((one) => one.id === (id || this.#first));
    if (pairing === undefined) return null;
    const known = this.#homes.get(pairing.id);
    const home = known ?? new Home(pairing, this.#database, this.#around);
    this.looked = home;
    if (known === undefined) {
      this.#homes.set(pairing.id, home);
      home.wire.subscribe(() => void this.#learnName(home));
      void home.start();
    }
    return home;
  }

  /**
   * What to call a pairing: its name, and where others have the same, what tells them apart.
   * @param {Pairing} pairing
   */
  called({ id, name, url, device }) {
    const alike = this.state.pairings.filter((one) => one.name === name && one.id !== id);
    if (alike.length === 0) return name;
    return `${name} (${alike.some((one) => one.url === url) ? device : new URL(url).host})`;
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
   * @param {{url: string, code: string}} offer
   * @param {string} name of this phone
   * @returns {Promise<Pairing>}
   */
  async pair({ url, code }, name) {
    const paired = await pair(url, code, name, this.#around, linkUrl(location.href));
    if (this.#forgotten) await this.load();
    const pairing = await this.#pairings.add({ url, name: new URL(url).host, paired });
    this.#tell(false);
    await this.#look();
    return pairing;
  }

  /** @param {string} id */
  async signOut(id) {
    await this.#pairings.remove(id);
    this.#tell(false);
    await this.#look();
  }

  /** Deletes everything that this browser keeps of the page, in all its tabs. */
  async forgetAll() {
    this.#tell(true);
    // A tab that sleeps and does not let go of the database has an empty one at least.
    const cleared = Promise.all(this.state.pairings.map(({ id }) => this.#pairings.remove(id)));
    this.#forget();
    const deleted = Promise.any([cleared, deleteDatabase()]).catch(() => this._set({ notice: NOT_DELETED }));
    // A tab that froze while it read holds up the first of them for as long as it sleeps.
    await Promise.all([deleted, forgetShell()]);
  }

  /** @param {string} id */
  async #drop(id) {
    const home = this.#homes.get(id);
    if (home === undefined) return;
    for (const one of this.#open) if (one.home === home) one.model.close();
    this.#open = this.#open.filter((one) => one.home !== home);
    this.#homes.delete(id);
    if (this.looked === home) this.looked = null;
    await home.close();
  }

  /** A pairing is called what its daemon calls the device. @param {Home} home */
  async #learnName(home) {
    const { welcome } = home.wire;
    const { id } = home.pairing;
    const known = this.state.pairings.find((one) => one.id === id);
    if (welcome === null || known === undefined || welcome.name === known.name) return;
    // Another tab may have signed out of it.
    await this.#pairings.rename(id, welcome.name).catch(() => {});
    this.#tell(false);
    await this.#look();
  }
}

const KEEPS_NOTHING = 'This browser keeps nothing for this page: pair again each time it is loaded.';
const NOTHING_KEPT = 'Everything that this browser kept for this page was deleted.';
const NOT_DELETED = 'This browser did not delete what it keeps for this page.';
