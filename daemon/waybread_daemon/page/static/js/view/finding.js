// Finding a text within lines: every place, one after the other, as they come.

import { Observable } from '../core/observable.js';

/** @typedef {import('../core/types.js').Found} Found */
/** @typedef {import('./sources.js').Source} Source */

/** More places than this are not counted. */
const MOST_FOUND = 10_000;

/**
 * `at` is which of the places is looked at, -1 for none yet. `running` until all was searched; `done` is how much of it was,
 * from 0 to 1. `problem` is a sentence for a person, or empty.
 * @typedef {{text: string, found: Found[], at: number, running: boolean, done: number, problem: string}} FindingState
 */

/** @extends {Observable<FindingState>} */
export class Finding extends Observable {
  /** The places of each line. @type {Map<number, Found[]>} */
  byLine = new Map();
  #source;
  #abort = new AbortController();

  /** @param {Source} source */
  constructor(source) {
    super({ text: '', found: [], at: -1, running: false, done: 0, problem: '' });
    this.#source = source;
  }

  get current() {
    return this.state.found[this.state.at];
  }

  /**
   * Searches from the beginning. The first place at or behind `near` is the one looked at.
   * @param {string} text
   * @param {number} near a line
   * @returns {Promise<void>}
   */
  async start(text, near) {
    this.stop();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    /** @type {Found[]} */
    const found = [];
    this.byLine = new Map();
    this._set({ text, found, at: -1, running: text !== '', done: 0, problem: '' });
    if (text === '') return;
    const onProgress = (/** @type {{line: number, lines: number}} */ { line, lines }) => {
      if (!signal.aborted) this._set({ done: lines === 0 ? 1 : line / lines });
    };
    try {
      for await (const place of this.#source.find(text, { signal, onProgress })) {
        if (signal.aborted) return;
        found.push(place);
        const beside = this.byLine.get(place.line);
        if (beside === undefined) this.byLine.set(place.line, [place]);
        else beside.push(place);
        // The list grows; the state tells that it did.
        const at = this.state.at < 0 && place.line >= near ? found.length - 1 : this.state.at;
        this._set({ found, at });
        if (found.length >= MOST_FOUND) break;
      }
      if (!signal.aborted) this._set({ running: false, done: 1, at: this.state.at < 0 && found.length > 0 ? 0 : this.state.at });
    } catch (fault) {
      if (!signal.aborted) this._set({ running: false, problem: fault instanceof Error ? fault.message : String(fault) });
    }
  }

  /** Ends the search; what was found stays. */
  stop() {
    this.#abort.abort();
    if (this.state.running) this._set({ running: false });
  }

  /** Nothing is searched any more. */
  clear() {
    this.stop();
    this.byLine = new Map();
    this._set({ text: '', found: [], at: -1, done: 0, problem: '' });
  }

  /** @param {number} by 1 for the next place, -1 for the one before */
  step(by) {
    const { found, at } = this.state;
    if (found.length > 0) this._set({ at: (at + by + found.length) % found.length });
  }

  /** How it stands, for a person. */
  get sentence() {
    const { text, found, at, running, done, problem } = this.state;
    if (problem !== '') return problem;
    if (text === '') return '';
    const share = running ? `, ${Math.floor(done * 100)} % searched` : '';
    if (found.length === 0) return running ? `None so far${share}` : 'Not found';
    const more = running ? ' so far' : found.length >= MOST_FOUND ? ' or more' : '';
    return `${at + 1} of ${found.length}${more}${share}`;
  }
}
