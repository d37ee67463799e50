// What is kept of one pairing for when there is no link: the list, the ends of sessions that were opened, windows of results.
//
// A tail is the end of a session's log, whole from its first entry up to `upto`. Its record and its entries are written in
// one transaction, so a page that dies, or another tab that writes, leaves an older tail at worst and never one with a hole.
// All is bounded; the sessions not opened for the longest time go first. A browser that keeps nothing changes nothing else.

/** @typedef {import('./types.js').Entry} Entry */
/** @typedef {import('./types.js').SessionRow} SessionRow */
/** @typedef {import('./types.js').Line} Line */
/** @typedef {import('./types.js').Surroundings} Surroundings */
/** @typedef {import('./database.js').Database} Database */
/** @typedef {import('./database.js').Write} Write */

export const MOST_TAILS = 64;
export const TAIL_ENTRIES = 400;
const TAIL_SLACK = 100;
/** A character takes up to two bytes: so this is 64 MiB. */
export const MOST_CHARS = 32 * 1024 * 1024;
const WINDOW_CHARS = 4 * 1024 * 1024;
const MOST_ROWS = 200;
const FLUSH_AFTER_MS = 300;
/** The record of the list as a whole; no session has an empty name. */
const LIST = '';

/**
 * `seqs` are those of the kept entries, ascending, `chars` their sizes.
 * @typedef {{upto: number, has_older: boolean, seqs: number[], chars: number[], as_of_ms: number}} Tail
 * @typedef {{pairing: string, session: string, row: SessionRow | null, tail: Tail | null, window_chars: number,
 *   opened_ms: number, as_of_ms: number, epoch?: string | null}} Kept
 */

export class Cache {
  /** Up to when the list was right; 0: there is none. */
  as_of_ms = 0;
  /** The log that all of it is of. @type {string | null} */
  epoch = null;
  #database;
  #pairing;
  #around;
  #mostChars;
  /** @type {Map<string, Kept>} */
  #kept = new Map();
  /** @type {Set<string>} */
  #changed = new Set();
  /** @type {Write[]} */
  #writes = [];
  /** @type {Promise<void>} */
  #flushing = Promise.resolve();
  /** @type {unknown} */
  #timer = null;
  #broken = false;

  /**
   * @param {Database} database
   * @param {string} pairing its id
   * @param {Pick<Surroundings, 'now' | 'later' | 'cancel'>} around
   * @param {number} [mostChars] of all that is kept
   */
  constructor(database, pairing, around, mostChars = MOST_CHARS) {
    this.#database = database;
    this.#pairing = pairing;
    this.#around = around;
    this.#mostChars = mostChars;
  }

  /** Reads what is kept, but for the entries and windows themselves. @returns {Promise<SessionRow[]>} the list */
  async load() {
    /** @type {Kept[]} */
    const kept = await this.#database.all('sessions', [this.#pairing]).catch((fault) => this.#break([], fault));
    for (const one of kept) {
      if (one.session === LIST) ({ as_of_ms: this.as_of_ms, epoch: this.epoch = null } = one);
      else this.#kept.set(one.session, one);
    }
    return [...this.#kept.values()].flatMap((one) => (one.row === null ? [] : [one.row]));
  }

  /** @returns {string[]} sessions with a tail, the one opened last first */
  tails() {
    const kept = [...this.#kept.values()].filter((one) => one.tail !== null);
    return kept.sort((one, other) => other.opened_ms - one.opened_ms).map((one) => one.session);
  }

  /**
   * @param {string} session
   * @returns {Tail | null}
   */
  tail(session) {
    return this.#kept.get(session)?.tail ?? null;
  }

  /**
   * @param {string} session
   * @returns {Promise<{entries: Entry[], upto: number, has_older: boolean, as_of_ms: number} | null>}
   */
  async entries(session) {
    if (this.tail(session) === null) return null;
    await this.flush();
    const key = [this.#pairing, session];
    try {
      // The record as it is now: another tab may have written it.
      const record = /** @type {Kept | undefined} */ (await this.#database.get('sessions', key));
      const entries = /** @type {Entry[]} */ (await this.#database.all('entries', key));
      const tail = record?.tail ?? null;
      if (tail === null) return null;
      const there = new Map(entries.map((entry) => [entry.seq, entry]));
      let first = tail.seqs.length;
      while (first > 0 && there.has(/** @type {number} */ (tail.seqs[first - 1]))) first -= 1;
      const seqs = tail.seqs.slice(first);
      return {
        entries: seqs.map((seq) => /** @type {Entry} */ (there.get(seq))),
        upto: tail.upto,
        has_older: tail.has_older || first > 0,
        as_of_ms: tail.as_of_ms,
      };
    } catch (fault) {
      return this.#break(null, fault);
    }
  }

  /**
   * Keeps the list as it is now; sessions that are neither in it nor opened are let go.
   * @param {SessionRow[]} rows last changed first
   */
  putList(rows) {
    const listed = new Map(rows.slice(0, MOST_ROWS).map((row) => [row.session, row]));
    for (const [session, one] of this.#kept) {
      if (one.tail === null && one.window_chars === 0 && !listed.has(session)) this.drop(session);
    }
    for (const row of listed.values()) this.putRow(row);
  }

  /** @param {SessionRow} row */
  putRow(row) {
    this.#keep(row.session, { row });
  }

  /** @param {number} at_ms when everything kept was right */
  live(at_ms) {
    this.as_of_ms = at_ms;
    this.#changed.add(LIST);
    this.#later();
  }

  /** @param {string} session that a person opened */
  touch(session) {
    this.#keep(session, { opened_ms: this.#around.now() });
  }

  /**
   * Puts another tail in the place of what is kept of a session.
   * @param {string} session
   * @param {Entry[]} entries
   * @param {number} upto
   * @param {boolean} has_older whether there are entries before
   */
  replaceTail(session, entries, upto, has_older) {
    const last = entries.slice(-TAIL_ENTRIES);
    const older = has_older || last.length < entries.length;
    this.#writes.push({ store: 'entries', drop: [this.#pairing, session] });
    for (const entry of last) this.#putEntry(entry);
    const tail = { upto, has_older: older, seqs: last.map((entry) => entry.seq), chars: last.map(charsOf) };
    this.#keep(session, { tail: { ...tail, as_of_ms: this.#around.now() } });
  }

  /**
   * The next entry of a session whose tail is whole.
   * @param {Entry} entry
   */
  append(entry) {
    const tail = this.tail(entry.session);
    if (tail === null || entry.seq <= tail.upto) return;
    this.#putEntry(entry);
    tail.seqs.push(entry.seq);
    tail.chars.push(charsOf(entry));
    let { has_older } = tail;
    const over = tail.seqs.length - TAIL_ENTRIES;
    if (over > TAIL_SLACK) {
      tail.seqs.splice(0, over);
      tail.chars.splice(0, over);
      has_older = true;
      const first = /** @type {number} */ (tail.seqs[0]);
      this.#writes.push({ store: 'entries', drop: [this.#pairing, entry.session], last: first - 1 });
    }
    this.#keep(entry.session, { tail: { ...tail, has_older, upto: entry.seq, as_of_ms: this.#around.now() } });
  }

  /**
   * @param {string} session
   * @param {number} number
   * @param {number} block
   * @returns {Promise<{lines: Line[], tool: string, count: number, seq?: number} | null>} `count` is the result's length in
   *   lines, `seq` that of its entry
   */
  async window(session, number, block) {
    await this.flush();
    const kept = await this.#database.get('windows', [this.#pairing, session, number, block]).catch(() => undefined);
    return kept ?? null;
  }

  /**
   * @param {string} session
   * @param {number} number
   * @param {number} block
   * @param {{lines: Line[], tool: string, count: number, seq?: number}} window
   */
  putWindow(session, number, block, window) {
    let before = this.#kept.get(session)?.window_chars ?? 0;
    if (before > WINDOW_CHARS) {
      this.#writes.push({ store: 'windows', drop: [this.#pairing, session] });
      before = 0;
    }
    this.#write({ store: 'windows', put: { pairing: this.#pairing, session, number, block, ...window } });
    const chars = window.lines.reduce((sum, line) => sum + line.text.length, 0);
    this.#keep(session, { window_chars: before + chars });
  }

  /** @param {string} session all of it: it was deleted */
  drop(session) {
    this.#kept.delete(session);
    this.#changed.delete(session);
    this.#write({ store: 'sessions', drop: [this.#pairing, session] });
    this.#dropContent([this.#pairing, session]);
  }

  /** Everything of this pairing: its log is another one. */
  clear() {
    this.#kept.clear();
    this.#changed.clear();
    this.as_of_ms = 0;
    this.#writes = [];
    this.#write({ store: 'sessions', drop: [this.#pairing] });
    this.#dropContent([this.#pairing]);
  }

  /** Writes now what waits to be written. @returns {Promise<void>} */
  flush() {
    this.#evict();
    this.#around.cancel(this.#timer);
    this.#timer = null;
    const writes = this.#writes;
    for (const session of this.#changed) writes.push({ store: 'sessions', put: this.#record(session) });
    this.#writes = [];
    this.#changed.clear();
    if (writes.length > 0 && !this.#broken) {
      const written = this.#flushing.then(() => this.#database.write(writes, this.#pairing));
      this.#flushing = written.catch((fault) => {
        // The page was left meanwhile: if it comes back, they are written then.
        if (isLeft(fault)) this.#writes.unshift(...writes);
        else this.#break(undefined);
      });
    }
    return this.#flushing;
  }

  /** @param {string} session */
  #record(session) {
    if (session !== LIST) return /** @type {Kept} */ (this.#kept.get(session));
    return { pairing: this.#pairing, session, as_of_ms: this.as_of_ms, epoch: this.epoch };
  }

  /**
   * @param {string} session
   * @param {Partial<Kept>} changed
   */
  #keep(session, changed) {
    const fresh = { pairing: this.#pairing, session, row: null, tail: null, window_chars: 0, opened_ms: 0, as_of_ms: 0 };
    this.#kept.set(session, { ...(this.#kept.get(session) ?? fresh), ...changed });
    this.#changed.add(session);
    this.#later();
  }

  /** @param {Entry} entry */
  #putEntry(entry) {
    this.#write({ store: 'entries', put: { ...entry, pairing: this.#pairing } });
  }

  /** @param {Write} write */
  #write(write) {
    this.#writes.push(write);
    this.#later();
  }

  #later() {
    if (this.#timer === null) this.#timer = this.#around.later(() => void this.flush(), FLUSH_AFTER_MS);
  }

  #evict() {
    const opened = [...this.#kept.values()].filter((one) => one.tail !== null || one.window_chars > 0);
    opened.sort((one, other) => other.opened_ms - one.opened_ms);
    let chars = 0;
    let tails = 0;
    for (const one of opened) {
      chars += one.window_chars + (one.tail?.chars.reduce((sum, count) => sum + count, 0) ?? 0);
      tails += 1;
      if (chars <= this.#mostChars && tails <= MOST_TAILS) continue;
      this.#dropContent([this.#pairing, one.session]);
      this.#keep(one.session, { tail: null, window_chars: 0 });
    }
  }

  /** @param {string[]} drop */
  #dropContent(drop) {
    this.#write({ store: 'entries', drop });
    this.#write({ store: 'windows', drop });
  }

  /**
   * The browser does not keep things (any more): the page goes on without.
   * @template T
   * @param {T} instead
   * @param {unknown} [fault]
   */
  #break(instead, fault) {
    this.#broken ||= !isLeft(fault);
    return instead;
  }
}

/** Whether something failed only because the page was left. @param {any} fault */
function isLeft(fault) {
  return fault?.name === 'AbortError';
}

/** @param {Entry} entry */
function charsOf(entry) {
  return entry.text.length + entry.args_chars + 200;
}
