// Where lines come from: a stored result by windows, or a text that was sent.

import { countChars } from '../core/entries.js';
import { LINE_CHARS } from '../core/result.js';

/** @typedef {import('../core/types.js').Line} Line */
/** @typedef {import('../core/types.js').Found} Found */
/** @typedef {import('../core/types.js').Progress} Progress */

/**
 * What a view of lines needs. `ResultWindows` is one, too.
 * @typedef {{
 *   meta: {tool: string, lines: number | null},
 *   lines(first: number, count: number): Promise<Line[]>,
 *   linePiece(line: number, from_char: number): Promise<{text: string, next_char: number | null}>,
 *   find(text: string, how: {signal: AbortSignal, onProgress: (progress: Progress) => void}): AsyncGenerator<Found, void>,
 *   wholeText(how: {signal: AbortSignal, onProgress: (progress: Progress) => void}): Promise<string>
 * }} Source
 */

/** A text that is here as a whole. */
export class TextSource {
  meta;
  #text;
  #lines;

  /** @param {string} text */
  constructor(text) {
    this.#text = text;
    this.#lines = text.split('\n');
    if (this.#lines.at(-1) === '') this.#lines.pop();
    this.meta = { tool: '', lines: this.#lines.length };
  }

  /**
   * @param {number} first
   * @param {number} count
   * @returns {Promise<Line[]>}
   */
  async lines(first, count) {
    return this.#lines.slice(first - 1, first - 1 + count).map((text, at) => ({
      number: first + at,
      text: text.length > LINE_CHARS ? cutAt(text, LINE_CHARS) : text,
      cut: text.length > LINE_CHARS,
    }));
  }

  /**
   * @param {number} line
   * @param {number} from_char
   */
  async linePiece(line, from_char) {
    const text = [...(this.#lines[line - 1] ?? '')].slice(from_char, from_char + LINE_CHARS).join('');
    const next = from_char + countChars(text);
    return { text, next_char: next < countChars(this.#lines[line - 1] ?? '') ? next : null };
  }

  /**
   * @param {string} text
   * @param {{signal: AbortSignal}} how
   * @returns {AsyncGenerator<Found, void>}
   */
  async *find(text, { signal }) {
    const pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu');
    for (const [at, line] of this.#lines.entries()) {
      for (const { index, 0: found } of line.matchAll(pattern)) {
        if (signal.aborted) return;
        yield { line: at + 1, from: index, to: index + found.length };
      }
    }
  }

  async wholeText() {
    return this.#text;
  }
}

/**
 * @param {string} text
 * @param {number} end
 */
export function cutAt(text, end) {
  return text.slice(0, (text.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? end - 1 : end);
}
