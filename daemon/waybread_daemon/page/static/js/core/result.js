// A stored result in full, however long: its lines by windows, and walks through all of it.

import { resultId } from './ids.js';

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

/** @typedef {{lines: Line[], tool: string, count: number}} Block */

export class ResultWindows {
  /** @type {ResultMeta} */
  meta = { tool: '', lines: null };
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
   * Lines of the result, fewer at its end. Without a link, what is not kept waits for the link. Rejects with `WireError`.
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
    const shown = await this.#show(line, 1, from_char, null);
    return { text: shown.next_char === null ? withoutEnding(shown.text) : shown.text, next_char: shown.next_char };
  }

  /**
   * Every place where a text stands, upper and lower case alike, from a line on to the end. Ends when the signal aborts.
   * @param {string} text without a line end
   * @param {{from?: number, signal?: AbortSignal, onProgress?: (progress: Progress) => void}} [how]
   * @returns {AsyncGenerator<Found, void>}
   */
  async *find(text, { from = 1, signal, onProgress } = {}) {
    // Lower case may be longer than what it is of, so the text itself is searched, with an expression that takes both.
    const pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu');
    if (text === '') return;
    let line = from;
    let at = 0;
    // The end of what was searched of a line that goes on: a place may begin in it.
    let rest = '';
    for await (const piece of this.#walk(from, signal ?? null, onProgress)) {
      const parts = piece.split('\n');
      for (const [index, part] of parts.entries()) {
        const held = rest + part;
        const start = at - rest.length;
        let searched = 0;
        for (const match of held.matchAll(pattern)) {
          yield { line, from: start + match.index, to: start + match.index + match[0].length };
          searched = match.index + match[0].length;
        }
        if (index < parts.length - 1) {
          line += 1;
          at = 0;
          rest = '';
        } else {
          at += part.length;
          rest = held.slice(Math.max(searched, held.length - text.length + 1));
        }
      }
    }
  }

  /**
   * All of it, exactly. Rejects with `WireError`, or with the signal's reason.
   * @param {{signal?: AbortSignal, onProgress?: (progress: Progress) => void}} [how]
   * @returns {Promise<string>}
   */
  async wholeText({ signal, onProgress } = {}) {
    const pieces = [];
    for await (const piece of this.#walk(1, signal ?? null, onProgress)) pieces.push(piece);
    return pieces.join('');
  }

  /**
   * The pieces of the body from a line on, which join to it exactly.
   * @param {number} from
   * @param {AbortSignal | null} signal
   * @param {((progress: Progress) => void) | undefined} onProgress
   */
  async *#walk(from, signal, onProgress) {
    let offset = from;
    let from_char = 0;
    for (;;) {
      const shown = await this.#show(offset, WALK_LINES, from_char, signal);
      if (shown.text !== '') yield shown.text;
      const ended = shown.next_char === null;
      onProgress?.({ line: ended ? shown.last : offset, lines: shown.lines });
      if (shown.next_char !== null) from_char = shown.next_char;
      else if (shown.last >= shown.lines || shown.last === 0) return;
      else [offset, from_char] = [shown.last + 1, 0];
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
    this.meta = { tool: block.tool, lines: block.count };
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
      const shown = await this.#show(next, end - next + 1, 0, null);
      const last = Math.min(shown.last, end);
      const texts = shown.text.split('\n');
      // The last text is what stands behind the last ending: nothing, or a line that the answer had no room for.
      const whole = shown.next_char === null ? last - next + 1 : texts.length - 1;
      for (const text of texts.slice(0, Math.max(whole, 0))) lines.push(windowLine(next++, text));
      if (shown.next_char !== null) {
        const text = texts.at(-1) ?? '';
        // A line that fills an answer of its own is shown by its beginning; another one is asked for again.
        if (whole === 0 || text.length > LINE_CHARS) lines.push({ number: next++, text: beginning(text), cut: true });
      }
      if (next > last || last === 0) return { lines, tool: shown.tool, count: shown.lines };
    }
  }

  /**
   * @param {number} offset
   * @param {number} limit
   * @param {number} from_char
   * @param {AbortSignal | null} signal
   * @returns {Promise<Shown>}
   */
  async #show(offset, limit, from_char, signal) {
    const where = { session: this.session, result: resultId(this.number), offset, limit, from_char };
    const shown = await this.#wire.request({ type: 'show', ...where }, { signal });
    this.meta = { tool: shown.tool, lines: shown.lines };
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
  return { number, text: cut ? beginning(text) : text, cut };
}

/**
 * As much of a long line as a window shows, without half of a character.
 * @param {string} text
 */
function beginning(text) {
  const end = (text.charCodeAt(LINE_CHARS - 1) & 0xfc00) === 0xd800 ? LINE_CHARS - 1 : LINE_CHARS;
  return text.slice(0, end);
}

/** @param {string} text */
function withoutEnding(text) {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}
