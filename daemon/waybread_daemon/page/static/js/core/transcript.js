// One session as a person reads it: its entries, whole from the first that is had to the end, and live; and its row of the
// list, kept up to date by what the log tells.
//
// What was kept is there at once. Then the end comes from the daemon, as of a moment at or behind the follow's cursor; what
// the follow told meanwhile waits and is put behind it. So nothing is missing between the two, and a `seq` is there once.

import { WireError } from './frames.js';
import { Observable } from './observable.js';
import { countChars, isCut, lastLine, resultNumber } from './texts.js';

/** @typedef {import('./types.js').Entry} Entry */
/** @typedef {import('./types.js').Page} Page */
/** @typedef {import('./types.js').ReadRow} ReadRow */
/** @typedef {import('./types.js').SessionRow} SessionRow */
/** @typedef {import('./types.js').TextPiece} TextPiece */
/** @typedef {import('./types.js').TranscriptState} TranscriptState */
/** @typedef {import('./wire.js').Wire} Wire */

const PAGE_ENTRIES = 200;

/**
 * What a transcript needs of its home. `joined`: its entries are whole up to the follow's cursor. `closed`: nobody looks
 * at it any more. `gone`: the daemon has no such session.
 * @typedef {{wire: Wire, joined(model: SessionModel): void, closed(model: SessionModel): void,
 *   gone(session: string): void}} Host
 */

/** @extends {Observable<TranscriptState>} */
export class SessionModel extends Observable {
  /** How many views look at it; its home counts. */
  users = 0;
  /** Whether its entries are whole up to the follow's cursor. */
  joined = false;
  /** The log was seen up to here. */
  upto = 0;
  #host;
  /** What came before the end that was asked for. @type {Entry[]} */
  #waiting = [];
  /** What came in this turn of the loop: a long transcript is not copied for each entry of a page. @type {Entry[]} */
  #added = [];
  /** Which question for the end is the present one. */
  #asking = 0;
  /** @type {Map<number, Promise<string>>} */
  #texts = new Map();

  /**
   * @param {string} session
   * @param {Host} host
   * @param {SessionRow | null} row
   */
  constructor(session, host, row) {
    super({
      session,
      row,
      entries: [],
      has_older: false,
      older_loading: false,
      taken_back: new Set(),
      loading: true,
      gone: false,
      log: 0,
      problem: '',
      as_of_ms: 0,
    });
    this.#host = host;
  }

  /** The view leaves. The last one to leave ends the model. */
  close() {
    this.users -= 1;
    if (this.users === 0) this.#host.closed(this);
  }

  /**
   * Entries ahead of those that are there, if any. Does nothing while they come, or where there are none.
   * @returns {Promise<void>}
   */
  async loadOlder() {
    const first = this.state.entries[0];
    if (first === undefined || !this.state.has_older || this.state.older_loading) return;
    this._set({ older_loading: true });
    try {
      const page = await this.#host.wire.request({
        type: 'history',
        session: this.state.session,
        before: first.seq,
        limit: PAGE_ENTRIES,
      });
      // Meanwhile another end may have come, which these do not join.
      if (this.state.entries[0] !== first) return;
      const older = page.entries.filter((entry) => entry.seq < first.seq);
      this.#show([...older, ...this.state.entries], page.more);
    } catch (fault) {
      this.#tell(fault);
    } finally {
      this._set({ older_loading: false });
    }
  }

  /**
   * An entry of this session that is not loaded. Rejects with `WireError`, also where there is no link.
   * @param {number} seq
   * @returns {Promise<Entry>}
   */
  async entry(seq) {
    const { session } = this.state;
    const asked = { session, before: seq + 1, limit: 1 };
    const page = await this.#host.wire.request({ type: 'history', ...asked }, { once: true });
    const [entry] = page.entries;
    if (entry?.seq !== seq) throw new WireError('unknown_entry', `This session has no entry ${seq}.`);
    return entry;
  }

  /**
   * The whole text of an entry whose text was cut. Rejects with `WireError`.
   * @param {Entry} entry
   * @returns {Promise<string>}
   */
  fullText(entry) {
    if (!isCut(entry)) return Promise.resolve(entry.text);
    let whole = this.#texts.get(entry.seq);
    if (whole === undefined) {
      whole = this.#readText(entry);
      this.#texts.set(entry.seq, whole);
      whole.catch(() => this.#texts.delete(entry.seq));
    }
    return whole;
  }

  /**
   * The newest full read of each file. Rejects with `WireError`.
   * @returns {Promise<ReadRow[]>} oldest first
   */
  async reads() {
    return (await this.#host.wire.request({ type: 'reads', session: this.state.session })).reads;
  }

  /**
   * What was kept of it. Nothing happens where the daemon was faster.
   * @param {{entries: Entry[], upto: number, has_older: boolean}} kept
   */
  restore({ entries, upto, has_older }) {
    if (this.joined || this.state.gone || this.state.entries.length > 0) return;
    this.upto = upto;
    this.#show(entries, has_older);
  }

  /**
   * Asks for the end, as of now. The cursor has to be known: every entry behind it comes by `live`.
   * @returns {Promise<void>}
   */
  async join() {
    const asking = ++this.#asking;
    this.joined = false;
    this.#waiting = [];
    try {
      const { session } = this.state;
      const page = await this.#host.wire.request({ type: 'history', session, limit: PAGE_ENTRIES });
      if (asking === this.#asking) this.#joinTo(page);
    } catch (fault) {
      if (asking === this.#asking) this.#tell(fault);
    }
  }

  /** @param {Entry} entry the next one of this session */
  live(entry) {
    if (this.state.gone) {
      // Its address was known before it was opened.
      this.reset();
      void this.join();
    } else if (!this.joined) this.#waiting.push(entry);
    else if (entry.seq > this.upto) {
      this.upto = entry.seq;
      this.#added.push(entry);
      if (this.#added.length === 1) queueMicrotask(() => this.#showAdded());
    }
  }

  /** What is there is of another log. */
  reset() {
    this.#asking += 1;
    this.joined = false;
    this.upto = 0;
    this.#waiting = [];
    this.#added = [];
    this.#texts.clear();
    const log = this.state.log + 1;
    this._set({ entries: [], has_older: false, taken_back: new Set(), loading: true, gone: false, log, problem: '' });
  }

  /** It was deleted. */
  end() {
    this.reset();
    this._set({ gone: true, loading: false, row: null });
  }

  /** @param {{row?: SessionRow | null, as_of_ms?: number | null}} told by its home */
  told(told) {
    this._set(told);
  }

  #showAdded() {
    const added = this.#added;
    this.#added = [];
    if (added.length > 0) this.#show([...this.state.entries, ...added], this.state.has_older, added);
  }

  /** @param {Page} page the end of the session */
  #joinTo(page) {
    const first = page.entries[0]?.seq ?? Infinity;
    const before = this.state.entries.filter((entry) => entry.seq < first);
    // Up to `upto` nothing is missing: an end that begins no later joins what is there.
    const joins = this.state.entries.length > 0 && (first <= this.upto || page.entries.length === 0);
    const entries = joins ? [...before, ...page.entries] : page.entries;
    const has_older = joins && before.length > 0 ? this.state.has_older : page.more;
    const waiting = this.#waiting.filter((entry) => entry.seq > page.head);
    this.#waiting = [];
    this.joined = true;
    this.upto = waiting.at(-1)?.seq ?? page.head;
    this._set({ loading: false, problem: '' });
    this.#show([...entries, ...waiting], has_older);
    this.#host.joined(this);
  }

  /**
   * @param {Entry[]} entries
   * @param {boolean} has_older
   * @param {Entry[]} [added] those of them that are new, at the end, where the others are as before
   */
  #show(entries, has_older, added) {
    const told = (added ?? entries).filter((entry) => entry.kind === 'taken_back').flatMap((entry) => entry.turns);
    const known = added === undefined ? [] : this.state.taken_back;
    const taken_back = added !== undefined && told.length === 0 ? this.state.taken_back : new Set([...known, ...told]);
    this._set({ entries, has_older, taken_back, loading: this.state.loading && entries.length === 0 });
  }

  /** @param {Entry} entry */
  async #readText(entry) {
    const pieces = [entry.text];
    /** @type {number | null} */
    let from_char = countChars(entry.text);
    while (from_char !== null) {
      /** @type {TextPiece} */
      const piece = await this.#host.wire.request({ type: 'entry_text', seq: entry.seq, from_char });
      pieces.push(piece.text);
      from_char = piece.next_char;
    }
    return pieces.join('');
  }

  /** @param {unknown} fault */
  #tell(fault) {
    if (!(fault instanceof WireError)) throw fault;
    if (fault.code === 'gone' || fault.code === 'unknown_session') {
      this.#host.gone(this.state.session);
    } else if (fault.code !== 'link_lost') {
      this._set({ problem: fault.message });
    }
  }
}

const NEW_ROW = {
  title: '',
  directory: '',
  results: 0,
  last_line: '',
  raw_bytes: 0,
  stored_bytes: 0,
};

/**
 * A row as the list gives it. An older daemon's rows lack what came later.
 * @param {SessionRow} row
 * @returns {SessionRow}
 */
export function wholeRow(row) {
  return { ...NEW_ROW, ...row };
}

/**
 * A row after the next entry of its session.
 * @param {SessionRow | undefined} row
 * @param {Entry} entry
 * @returns {SessionRow | undefined} undefined where only the list knows the session
 */
export function rowAfter(row, entry) {
  const { session, seq, at_ms } = entry;
  if (row === undefined) {
    if (entry.kind !== 'opened') return undefined;
    const times = { head: seq, opened_ms: at_ms, changed_ms: at_ms };
    return { ...NEW_ROW, session, kind: entry.session_kind, title: entry.title, ...times };
  }
  // The list may have been newer than the log is told.
  if (seq <= row.head) return row;
  const says = (entry.kind === 'message' || entry.kind === 'result') && !isCut(entry) ? lastLine(entry.text) : '';
  return {
    ...row,
    head: seq,
    changed_ms: at_ms,
    results: Math.max(row.results, resultNumber(entry.result)),
    last_line: says === '' ? row.last_line : says,
  };
}
