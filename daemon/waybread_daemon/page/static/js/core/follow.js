// Follows a device's log: no entry is left out, none told twice, whatever happens to the link.
//
// The list of sessions comes first, and the cursor is the log's end as the list knew it; from there on every entry comes
// by `sync` and then by pushes. When the link breaks, the next one goes on from the cursor. A cursor too far behind
// starts anew from the list, because so much is had faster by looking at the ends. Another epoch, or a log that is
// shorter than the cursor, is another log: everything starts over.

import { WireError } from './frames.js';

/** @typedef {import('./types.js').Entry} Entry */
/** @typedef {import('./types.js').Push} Push */
/** @typedef {import('./types.js').SessionList} SessionList */
/** @typedef {import('./types.js').Surroundings} Surroundings */
/** @typedef {import('./types.js').Welcome} Welcome */
/** @typedef {import('./wire.js').Wire} Wire */

/** More entries than this are not caught up with one by one. */
export const MOST_BEHIND = 2000;
export const LIST_LIMIT = 200;
const AGAIN_AFTER_MS = 1000;

/**
 * Who is told. `listed`: the sessions as of the cursor, and all entries after it are going to follow. `entry`: the next one.
 * `followed`: everything up to now was told. `reset`: what was told before is of another log.
 * @typedef {{listed(list: SessionList): void, entry(entry: Entry): void, followed(): void, reset(): void}} Told
 */

export class Follow {
  /** The last `seq` looked at; null before the first list. @type {number | null} */
  cursor = null;
  /** Which log was told of, also by an earlier page; null where none was. @type {string | null} */
  epoch = null;
  #wire;
  #told;
  #around;
  /** Which run is the present one: an older one finds that it is no more. */
  #run = 0;
  #following = false;
  /** @type {Push[]} */
  #early = [];

  /**
   * @param {Wire} wire
   * @param {Told} told
   * @param {Pick<Surroundings, 'later'>} around
   */
  constructor(wire, told, around) {
    this.#wire = wire;
    this.#told = told;
    this.#around = around;
    wire.onLinked = (welcome) => void this.#begin(welcome);
    wire.onPush = (push) => {
      // A push may be read in the same turn as the page before it, and must not overtake that.
      if (this.#following) this.#take(push);
      else this.#early.push(push);
    };
  }

  /** @param {Welcome} welcome */
  async #begin(welcome) {
    const run = ++this.#run;
    this.#following = false;
    this.#early = [];
    try {
      if (this.epoch !== null && this.epoch !== welcome.epoch) this.#startOver();
      this.epoch = welcome.epoch;
      if (this.cursor === null || welcome.head - this.cursor > MOST_BEHIND) await this.#list(run, welcome.head);
      await this.#sync(run);
    } catch (fault) {
      if (!(fault instanceof WireError)) throw fault;
      if (run !== this.#run) return;
      if (fault.code === 'link_lost' || fault.code === 'refused') return;
      if (fault.code === 'reset') {
        this.#startOver();
        void this.#begin(welcome);
        return;
      }
      this.#around.later(() => {
        if (run === this.#run && this.#wire.state.kind === 'linked') void this.#begin(welcome);
      }, AGAIN_AFTER_MS);
    }
  }

  #startOver() {
    this.cursor = null;
    this.#told.reset();
  }

  /**
   * @param {number} run
   * @param {number} head of the log before the list was asked for
   */
  async #list(run, head) {
    const list = await this.#wire.request({ type: 'sessions', limit: LIST_LIMIT }, { once: true });
    if (run !== this.#run) return;
    // The list is newer than the greeting, and as new as the last change that it tells of.
    this.cursor = Math.max(head, list.sessions[0]?.head ?? 0);
    this.#told.listed(list);
  }

  /** @param {number} run */
  async #sync(run) {
    let more = true;
    while (more) {
      if (run !== this.#run || this.cursor === null) return;
      const from = { after: this.cursor, epoch: this.epoch ?? '' };
      const page = await this.#wire.request({ type: 'sync', ...from, follow: true }, { once: true });
      if (run !== this.#run) return;
      for (const entry of page.entries) this.#tell(entry);
      this.cursor = Math.max(this.cursor, page.next);
      ({ more } = page);
      if (page.head - page.next > MOST_BEHIND) await this.#list(run, page.head);
    }
    this.#following = true;
    const early = this.#early;
    this.#early = [];
    for (const push of early) this.#take(push);
    if (this.#following) this.#told.followed();
  }

  /** @param {Push} push */
  #take(push) {
    if (push.type === 'entry') {
      this.#tell(push.entry);
    } else if (push.type === 'lagged') {
      this.cursor = Math.max(this.cursor ?? 0, push.next);
      this.#following = false;
      const { welcome } = this.#wire;
      // Not from the greeting's head: that is long past.
      if (welcome !== null) void this.#begin({ ...welcome, head: this.cursor });
    }
  }

  /** @param {Entry} entry */
  #tell(entry) {
    if (this.cursor !== null && entry.seq <= this.cursor) return;
    this.cursor = entry.seq;
    this.#told.entry(entry);
  }
}
