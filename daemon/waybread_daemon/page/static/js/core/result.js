// A stored result in full, however long: its lines by windows, and walks through all of it.

import { countChars, firstOf, resultId } from './texts.js';

/** @typedef {import('./types.js').Line} Line */
/** @typedef {import('./types.js').Found} Found */
/** @typedef {import('./types.js').Progress} Progress */
/** @typedef {import('./types.js').ResultMeta} ResultMeta */
/** @typedef {import('./types.js').Shown} Shown */
/** @typedef {import('./wire.js').Wire} Wire */
/** @typedef {import('./cache.js').Cache} Cache */

/** Lines of a window. They are aligned, so that a window is fetched, kept and shown as one. */
export const BLOCK_LINES = 250;
/** Of a longer line only so many UTF-16 units stand in a window; `linePiece` has the rest. */
export const LINE_CHARS = 20_000;
const MOST_BLOCKS = 40;
/** The most that one `show` gives. */
const WALK_LINES = 2000;
/** Answers that a walk has on their way. */
const WALK_AHEAD = 3;
/** An answer with less has room for more lines. */
const SMALL_UNITS = 50_000;
/** Places that are told at once. */
const MOST_PLACES = 1000;

/** `seq` as in `Shown`. @typedef {{lines: Line[], tool: string, count: number, seq?: number}} Block */

export class ResultWindows {
  /** @type {ResultMeta} */
  meta = { tool: '', lines: null, seq: 0 };
  session;
  number;
  #wire;
  #cache;
  /** In the order of their last use. @type {Map<number, Promise<Block>>} */
  #blocks = new Map();

  /**
   * @param {Wire} wire
   * @param {Cache} cache
   * @param {string} session
   * @param {number} number
   */
  constructor(wire, cache, session, number) {
    this.session = session;
    this.number = number;
    this.#wire = wire;
    this.#cache = cache;
  }

  /**
   * Lines of the result, fewer at its end. Rejects with `WireError`, also where they are not kept and there is no link.
   * @param {number} first from 1
   * @param {number} count
   * @returns {Promise<Line[]>}
   */
  async lines(first, count) {
    const firstBlock = Math.floor((first - 1) / BLOCK_LINES);
    const lastBlock = Math.floor((first + count - 2) / BLOCK_LINES);
    const wanted = [];
    for (let block = firstBlock; block <= lastBlock; block += 1) {
      if (this.meta.lines !== null && block > 0 && block * BLOCK_LINES >= this.meta.lines) break;
      wanted.push(this.#block(block));
    }
    const blocks = await Promise.all(wanted);
    const lines = blocks.flatMap((block) => block.lines);
    return lines.filter((line) => line.number >= first && line.number < first + count);
  }

  /**
   * A piece of a line that is longer than a window shows.
   * @param {number} line
   * @param {number} from_char counted in code points; 0 and the `next_char` of each piece lead through the line
   * @returns {Promise<{text: string, next_char: number | null}>}
   */
  async linePiece(line, from_char) {
    const { text, next_char } = await this.#show(line, 1, from_char);
    return { text: next_char === null ? text.replace(/\n$/, '') : text, next_char };
  }

  /**
   * Every place where a text stands, upper and lower case alike: from a line to the end, then from the beginning. Some at a
   * time. Rejects with `WireError`, or with the signal's reason.
   * @param {string} text without a line end
   * @param {{from?: number, signal?: AbortSignal | null, onProgress?: (progress: Progress) => void}} [how]
   * @returns {AsyncGenerator<Found[], void>}
   */
  async *find(text, { from = 1, signal = null, onProgress } = {}) {
    // Lower case may be longer than what it is of, so the text itself is searched, with an expression that takes both.
    const pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu');
    if (text === '') return;
    /** @type {[number, number][]} */
    const ranges = [[from, Infinity], [1, from - 1]];
    for (const [first, last] of ranges) {
      let held = '';
      // Up to `at` of what is held, all was searched. There, the line and what stands before it in that line.
      let at = 0;
      let [line, units, chars] = [first, 0, 0];
      const pass = (/** @type {number} */ end) => {
        const lines = held.slice(at, end).split('\n');
        if (lines.length > 1) [line, units, chars] = [line + lines.length - 1, 0, 0];
        const passed = lines.at(-1) ?? '';
        units += passed.length;
        chars += countChars(passed);
        at = end;
      };
      for await (const piece of this.#walk(first, last, signal, onProgress)) {
        held = held.slice(at) + piece;
        at = 0;
        /** @type {Found[]} */
        const places = [];
        for (const { index, 0: found } of held.matchAll(pattern)) {
          pass(index);
          places.push({ line, from: units, to: units + found.length, from_char: chars });
          pass(index + found.length);
          if (places.length === MOST_PLACES) yield places.splice(0);
        }
        // A place may begin in what is left.
        pass(Math.max(at, held.length - text.length + 1));
        yield places;
      }
    }
  }

  /**
   * All of it, exactly. Rejects with `WireError`, or with the signal's reason.
   * @param {{signal?: AbortSignal | null, onProgress?: (progress: Progress) => void}} [how]
   * @returns {Promise<string>}
   */
  async wholeText({ signal = null, onProgress } = {}) {
    const pieces = [];
    for await (const piece of this.#walk(1, Infinity, signal, onProgress)) pieces.push(piece);
    return pieces.join('');
  }

  /**
   * The pieces of the body from a line to another, which join to it exactly. Those that come next are on their way while one
   * is looked at.
   * @param {number} from
   * @param {number} to
   * @param {AbortSignal | null} signal
   * @param {((progress: Progress) => void) | undefined} onProgress
   */
  async *#walk(from, to, signal, onProgress) {
    const how = { signal };
    const asked = [];
    let next = from;
    let lines = WALK_LINES;
    let units = 0;
    for (;;) {
      while (asked.length < WALK_AHEAD && next <= Math.min(this.meta.lines ?? from, to)) {
        const limit = Math.min(lines, to - next + 1);
        const first = this.#show(next, limit, 0, how);
        // Told where it is waited for, if that is still done.
        first.catch(() => {});
        asked.push({ offset: next, limit, first });
        next += limit;
      }
      const window = asked.shift();
      if (window === undefined) return;
      const { offset, limit, first } = window;
      /** @type {number | null} */
      let from_char = 0;
      while (from_char !== null) {
        /** @type {Shown} */
        const shown = from_char === 0 ? await first : await this.#show(offset, limit, from_char, how);
        from_char = shown.next_char;
        if (shown.text !== '') yield shown.text;
        units += shown.text.length;
        onProgress?.({ line: from_char === null ? shown.last : offset, lines: shown.lines, units });
        // So many lines that an answer has room for them, and is filled well.
        if (from_char !== null) lines = Math.ceil(shown.text.split('\n').length * 0.9);
        else if (shown.text.length < SMALL_UNITS) lines = Math.min(lines * 2, WALK_LINES);
      }
    }
  }

  /**
   * @param {number} number
   * @returns {Promise<Block>}
   */
  #block(number) {
    let block = this.#blocks.get(number);
    if (block === undefined) {
      block = this.#loadBlock(number);
      block.catch(() => this.#blocks.delete(number));
    }
    this.#blocks.delete(number);
    this.#blocks.set(number, block);
    if (this.#blocks.size > MOST_BLOCKS) {
      const [oldest] = this.#blocks.keys();
      if (oldest !== undefined) this.#blocks.delete(oldest);
    }
    return block;
  }

  /** @param {number} number */
  async #loadBlock(number) {
    let block = await this.#cache.window(this.session, this.number, number);
    if (block === null) {
      block = await this.#fetchBlock(number);
      this.#cache.putWindow(this.session, this.number, number, block);
    }
    this.meta = { tool: block.tool, lines: block.count, seq: block.seq ?? 0 };
    return block;
  }

  /**
   * @param {number} number
   * @returns {Promise<Block>}
   */
  async #fetchBlock(number) {
    /** @type {Line[]} */
    const lines = [];
    const end = (number + 1) * BLOCK_LINES;
    let next = number * BLOCK_LINES + 1;
    for (;;) {
      const shown = await this.#show(next, end - next + 1, 0);
      const last = Math.min(shown.last, end);
      const texts = shown.text.split('\n');
      // The last text is what stands behind the last ending: nothing, or a line that the answer had no room for.
      const whole = shown.next_char === null ? last - next + 1 : texts.length - 1;
      for (const text of texts.slice(0, Math.max(whole, 0))) lines.push(windowLine(next++, text));
      if (shown.next_char !== null) {
        const text = texts.at(-1) ?? '';
        // A line that fills an answer of its own is shown by its beginning; another one is asked for again.
        if (whole === 0 || text.length > LINE_CHARS) lines.push({ number: next++, text: firstOf(text, LINE_CHARS), cut: true });
      }
      if (next > last || last === 0) return { lines, tool: shown.tool, count: shown.lines, seq: shown.seq ?? 0 };
    }
  }

  /**
   * @param {number} offset
   * @param {number} limit
   * @param {number} from_char
   * @param {{signal?: AbortSignal | null, once?: boolean}} [how]
   * @returns {Promise<Shown>}
   */
  async #show(offset, limit, from_char, how = { once: true }) {
    const where = { session: this.session, result: resultId(this.number), offset, limit, from_char };
    const shown = await this.#wire.request({ type: 'show', ...where }, how);
    this.meta = { tool: shown.tool, lines: shown.lines, seq: shown.seq ?? 0 };
    return shown;
  }
}

/**
 * @param {number} number
 * @param {string} text without its `\n`
 * @returns {Line}
 */
function windowLine(number, text) {
  const cut = text.length > LINE_CHARS;
  return { number, text: cut ? firstOf(text, LINE_CHARS) : text, cut };
}
