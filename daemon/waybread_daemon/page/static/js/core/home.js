// A pairing as a person sees it: the link, the sessions, and the transcripts that are open. All of it live.

import { Cache, TAIL_ENTRIES } from './cache.js';
import { isCut } from './texts.js';
import { WireError } from './frames.js';
import { Follow, LIST_LIMIT } from './follow.js';
import { Observable } from './observable.js';
import { ResultWindows } from './result.js';
import { rowAfter, SessionModel, wholeRow } from './transcript.js';
import { Wire } from './wire.js';

/** @typedef {import('./types.js').Entry} Entry */
/** @typedef {import('./types.js').HomeState} HomeState */
/** @typedef {import('./types.js').Pairing} Pairing */
/** @typedef {import('./types.js').SessionList} SessionList */
/** @typedef {import('./types.js').SessionRow} SessionRow */
/** @typedef {import('./types.js').Surroundings} Surroundings */
/** @typedef {import('./database.js').Database} Database */

/** How long a row may lack what only the list knows: the directory, and sizes. */
const RELIST_AFTER_MS = 1500;
const RELIST_ROWS = 30;
/** Tails brought up to date for times without a link; more would cost a phone's volume. */
const FRESH_TAILS = 8;
const NOTE_LIVE_EVERY_MS = 60_000;
/** A link that breaks for a moment is no news. */
const TELL_AFTER_MS = 700;

/** @extends {Observable<HomeState>} */
export class Home extends Observable {
  pairing;
  wire;
  cache;
  #around;
  #follow;
  /** @type {Map<string, SessionRow>} */
  #rows = new Map();
  /** Rows with a smaller `head` were not loaded. */
  #bottom = 0;
  /** @type {Map<string, SessionModel>} */
  #open = new Map();
  /** Sessions whose kept tail is whole up to the cursor. @type {Set<string>} */
  #whole = new Set();
  #live = false;
  #sorting = false;
  /** @type {unknown} */
  #relisting = null;
  /** @type {unknown} */
  #noting = null;
  #closed = false;
  /** What is kept is there: before, nothing may be added to it. @type {Promise<void>} */
  #loaded;

  /**
   * @param {Pairing} pairing
   * @param {Database} database
   * @param {Surroundings} around
   * @param {{most_chars?: number}} [how] `most_chars`: what the cache may hold
   */
  constructor(pairing, database, around, { most_chars } = {}) {
    const wire = new Wire(pairing.url, pairing.token, around);
    super({ link: wire.state, away: false, sessions: [], loaded_all: false, loading: true, as_of_ms: 0 });
    this.pairing = pairing;
    this.wire = wire;
    this.cache = new Cache(database, pairing.id, around, most_chars);
    this.#around = around;
    this.#follow = new Follow(
      wire,
      {
        listed: (list) => this.#listed(list),
        entry: (entry) => this.#entry(entry),
        followed: () => this.#followed(),
        reset: () => this.#reset(),
      },
      around,
    );
    wire.subscribe(() => this.#linkChanged());
    this.#loaded = this.#load();
  }

  /** Shows what is kept, then links and stays linked. @returns {Promise<void>} when what is kept is there */
  async start() {
    await this.#loaded;
    if (!this.#closed) this.wire.start(this.cache.as_of_ms || this.pairing.paired_ms);
  }

  async #load() {
    const rows = await this.cache.load();
    for (const row of rows) this.#rows.set(row.session, row);
    const { as_of_ms, epoch } = this.cache;
    this.#follow.epoch = epoch;
    this.#tell({ as_of_ms, loading: as_of_ms === 0, away: !this.#around.online() });
    this.#linkChanged();
  }

  /** The page may end at any moment from now on. */
  keep() {
    if (this.#live) this.#noteLive();
    void this.cache.flush();
  }

  /** The page or the network may have come back, or gone. */
  wake() {
    if (this.#live) this.#noteLive();
    this.wire.wake();
  }

  /**
   * A session's transcript. Each view that gets it has to `close` it.
   * @param {string} session
   * @returns {SessionModel}
   */
  openSession(session) {
    void this.#loaded.then(() => this.cache.touch(session));
    const known = this.#open.get(session);
    const model = known ?? this.#openModel(session);
    if (known === undefined) void this.#fill(model);
    model.users += 1;
    return model;
  }

  /**
   * A result of a session, by windows.
   * @param {string} session
   * @param {number} number
   */
  results(session, number) {
    void this.#loaded.then(() => this.cache.touch(session));
    return new ResultWindows(this.wire, this.cache, session, number);
  }

  /** The next older sessions. Does nothing without a link. @returns {Promise<void>} */
  async moreSessions() {
    if (!this.#live || this.state.loaded_all) return;
    const before = this.#bottom;
    const list = await this.wire.request({ type: 'sessions', before, limit: LIST_LIMIT });
    if (before !== this.#bottom) return;
    for (const row of list.sessions) this.#rows.set(row.session, wholeRow(row));
    this.#bottom = list.sessions.at(-1)?.head ?? 0;
    this.#tell({ loaded_all: !list.more });
  }

  /** Ends the link and keeps what was had. @returns {Promise<void>} */
  close() {
    this.#closed = true;
    this.#around.cancel(this.#relisting);
    this.#around.cancel(this.#noting);
    this.wire.close();
    return this.cache.flush();
  }

  /** @param {string} session */
  #openModel(session) {
    const host = {
      wire: this.wire,
      joined: (/** @type {SessionModel} */ joined) => this.#joined(joined),
      closed: () => this.#open.delete(session),
      gone: () => this.#gone(session),
    };
    const model = new SessionModel(session, host, this.#rows.get(session) ?? null);
    this.#open.set(session, model);
    return model;
  }

  /** @param {SessionModel} model */
  async #fill(model) {
    await this.#loaded;
    const { session } = model.state;
    model.told({ row: this.#rows.get(session) ?? null, as_of_ms: this.#as_of(session) });
    // Before the first list nothing says from where on `live` tells: that list is going to let it join.
    const joining = this.#follow.cursor === null ? null : model.join();
    const kept = await this.cache.entries(session);
    if (kept !== null) model.restore(kept);
    await joining;
  }

  /**
   * Up to when what is kept of a session is right.
   * @param {string} session
   */
  #as_of(session) {
    const tail = this.cache.tail(session);
    if (tail === null) return 0;
    return tail.upto >= (this.#rows.get(session)?.head ?? Infinity) ? this.cache.as_of_ms : tail.as_of_ms;
  }

  /** @param {SessionModel} model */
  #joined(model) {
    const { session, entries, has_older } = model.state;
    this.cache.replaceTail(session, entries.slice(-TAIL_ENTRIES), model.upto, has_older || entries.length > TAIL_ENTRIES);
    this.#whole.add(session);
    if (this.#live) model.told({ as_of_ms: null });
  }

  /** @param {SessionList} list */
  #listed(list) {
    this.#rows.clear();
    for (const row of list.sessions) this.#rows.set(row.session, wholeRow(row));
    this.#bottom = list.sessions.at(-1)?.head ?? 0;
    this.cache.putList(list.sessions);
    this.#whole.clear();
    for (const session of this.cache.tails()) {
      const row = this.#rows.get(session);
      if (row !== undefined && (this.cache.tail(session)?.upto ?? 0) >= row.head) this.#whole.add(session);
      // What is not listed, though nothing older is left out, was deleted.
      if (row === undefined && !list.more) this.cache.drop(session);
    }
    this.#tell({ loaded_all: !list.more, loading: false });
    for (const model of this.#open.values()) {
      this.#whole.delete(model.state.session);
      model.told({ row: this.#rows.get(model.state.session) ?? null });
      void model.join();
    }
  }

  /** @param {Entry} entry */
  #entry(entry) {
    const { session } = entry;
    if (entry.kind === 'deleted') {
      this.#gone(session);
      return;
    }
    const row = rowAfter(this.#rows.get(session), entry);
    if (row !== undefined) {
      this.#rows.set(row.session, wholeRow(row));
      this.cache.putRow(row);
      this.#tell({});
    }
    if (row === undefined || entry.kind === 'opened' || entry.kind === 'result' || isCut(entry)) this.#relistSoon();
    if (this.#whole.has(session)) this.cache.append(entry);
    const model = this.#open.get(session);
    model?.told({ row: row ?? null });
    model?.live(entry);
  }

  #followed() {
    this.#live = true;
    this.cache.epoch = this.#follow.epoch;
    this.#noteLive();
    this.#tell({ as_of_ms: null, loading: false });
    for (const model of this.#open.values()) if (model.joined) model.told({ as_of_ms: null });
    void this.#freshen();
  }

  #reset() {
    this.cache.clear();
    this.#rows.clear();
    this.#whole.clear();
    this.#live = false;
    this.#tell({ loading: true, loaded_all: false, as_of_ms: 0 });
    for (const model of this.#open.values()) model.reset();
  }

  /** @param {string} session */
  #gone(session) {
    this.#rows.delete(session);
    this.#whole.delete(session);
    this.cache.drop(session);
    this.#tell({});
    this.#open.get(session)?.end();
  }

  #linkChanged() {
    const link = this.wire.state;
    if (link.kind === 'linked') this._set({ away: false });
    else this.#around.later(() => this._set({ away: this.wire.state.kind !== 'linked' }), TELL_AFTER_MS);
    if (link.kind !== 'linked' && this.#live) {
      this.#live = false;
      this.cache.live(link.since_ms);
      void this.cache.flush();
      this.#tell({ link, as_of_ms: link.since_ms });
      for (const model of this.#open.values()) if (model.joined) model.told({ as_of_ms: link.since_ms });
    } else {
      this._set({ link });
    }
  }

  #noteLive() {
    this.cache.live(this.wire.heard_ms);
    this.#around.cancel(this.#noting);
    this.#noting = this.#around.later(() => {
      if (this.#live) this.#noteLive();
    }, NOTE_LIVE_EVERY_MS);
  }

  /** Brings kept tails up to date, one after the other, and lets go of those whose session was deleted. */
  async #freshen() {
    let fresh = 0;
    for (const session of this.cache.tails()) {
      if (!this.#live || this.#closed) return;
      if (this.#whole.has(session) || this.#open.has(session)) continue;
      try {
        if (this.#rows.has(session) && fresh < FRESH_TAILS) {
          fresh += 1;
          const model = this.#openModel(session);
          model.users += 1;
          await this.#fill(model);
          model.close();
        } else if (!this.#rows.has(session)) {
          await this.wire.request({ type: 'history', session, limit: 1 });
        }
      } catch (fault) {
        if (!(fault instanceof WireError)) throw fault;
        if (fault.code === 'gone' || fault.code === 'unknown_session') this.#gone(session);
      }
    }
  }

  #relistSoon() {
    this.#relisting ??= this.#around.later(async () => {
      this.#relisting = null;
      if (!this.#live) return;
      try {
        const list = await this.wire.request({ type: 'sessions', limit: RELIST_ROWS }, { once: true });
        for (const row of list.sessions) {
          this.#rows.set(row.session, wholeRow(row));
          this.cache.putRow(row);
          this.#open.get(row.session)?.told({ row });
        }
        this.#tell({});
      } catch (fault) {
        if (!(fault instanceof WireError)) throw fault;
      }
    }, RELIST_AFTER_MS);
  }

  /** @param {Partial<HomeState>} changed */
  #tell(changed) {
    if (!this.#sorting) {
      // Once for all the entries of a page.
      this.#sorting = true;
      queueMicrotask(() => {
        this.#sorting = false;
        this._set({ sessions: [...this.#rows.values()].sort((one, other) => other.head - one.head) });
      });
    }
    this._set(changed);
  }
}
