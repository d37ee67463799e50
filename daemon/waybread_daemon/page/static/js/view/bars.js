// What one does with lines: find a text, go to a line, copy.

import { h } from '../../vendor/preact/preact.module.js';
import { useEffect, useRef, useState } from '../../vendor/preact/hooks.module.js';
import { Observable } from '../core/observable.js';
import { number, size } from './format.js';
import { icon, useModel } from './frame.js';

/** @typedef {import('../core/result.js').ResultWindows} Source */
/** @typedef {import('../core/types.js').Found} Found */

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
      if (!signal.aborted)
        this._set({ running: false, done: 1, at: this.state.at < 0 && found.length > 0 ? 0 : this.state.at });
    } catch (fault) {
      if (!signal.aborted)
        this._set({ running: false, problem: fault instanceof Error ? fault.message : String(fault) });
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
    if (at < 0) return `${found.length} above${share}`;
    const more = running ? ' so far' : found.length >= MOST_FOUND ? ' or more' : '';
    return `${at + 1} of ${found.length}${more}${share}`;
  }
}

/** @param {{finding: Finding, near: () => number}} props */
export function FindBar({ finding, near }) {
  const state = useModel(finding);
  const [text, setText] = useState('');
  /** @type {{current: HTMLInputElement | null}} */
  const field = useRef(null);
  useEffect(() => field.current?.focus(), []);
  const some = state.found.length > 0;
  return h(
    'form',
    {
      class: 'panel',
      role: 'search',
      onSubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        if (text !== state.text) void finding.start(text, near());
        else finding.step(1);
      },
    },
    h('input', {
      ref: field,
      type: 'search',
      'aria-label': 'Find in this text',
      placeholder: 'Find',
      autocomplete: 'off',
      autocapitalize: 'off',
      spellcheck: false,
      enterkeyhint: 'search',
      value: text,
      onInput: (/** @type {Event} */ event) => setText(/** @type {HTMLInputElement} */ (event.target).value),
      onKeyDown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== 'Enter' || !event.shiftKey) return;
        event.preventDefault();
        finding.step(-1);
      },
    }),
    h('button', { class: 'tool', type: 'submit', 'aria-label': 'Find, or the next place' }, icon('search')),
    h(
      'button',
      {
        class: 'tool',
        type: 'button',
        disabled: !some,
        'aria-label': 'The place before',
        onClick: () => finding.step(-1),
      },
      icon('up'),
    ),
    h(
      'button',
      {
        class: 'tool',
        type: 'button',
        disabled: !some,
        'aria-label': 'The next place',
        onClick: () => finding.step(1),
      },
      icon('down'),
    ),
    state.running ? h('button', { class: 'button', type: 'button', onClick: () => finding.stop() }, 'Stop') : null,
    h('output', { class: 'count' }, finding.sentence),
  );
}

/** @param {{count: number, go: (line: number) => void}} props */
export function LineBar({ count, go }) {
  const [text, setText] = useState('');
  /** @type {{current: HTMLInputElement | null}} */
  const field = useRef(null);
  useEffect(() => field.current?.focus(), []);
  return h(
    'form',
    {
      class: 'panel',
      onSubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        const line = Number(text.replace(/[^\d]/g, ''));
        if (line > 0) go(Math.min(line, count));
      },
    },
    h('label', { for: 'line' }, `Line, 1 to ${number(count)}`),
    h('input', {
      id: 'line',
      ref: field,
      inputMode: 'numeric',
      autocomplete: 'off',
      value: text,
      onInput: (/** @type {Event} */ event) => setText(/** @type {HTMLInputElement} */ (event.target).value),
    }),
    h('button', { class: 'button', type: 'submit' }, 'Go'),
  );
}

/** @param {{source: Source, first: number, last: number}} props */
export function CopyBar({ source, first, last }) {
  const [said, say] = useState('');
  const [loading, setLoading] = useState(false);
  /** All of it, where the browser wants to be tapped once more. */
  const [ready, setReady] = useState(/** @type {string | null} */ (null));
  const abort = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => () => abort.current?.abort(), []);
  const failed = (/** @type {unknown} */ fault) => say(fault instanceof Error ? fault.message : String(fault));
  const copySeen = async () => {
    try {
      const lines = await source.lines(first, last - first + 1);
      await copyText(lines.map((line) => line.text).join('\n'));
      say(lines.some((line) => line.cut) ? 'Copied; very long lines in part.' : 'Copied.');
    } catch (fault) {
      failed(fault);
    }
  };
  const copyAll = async () => {
    const controller = new AbortController();
    abort.current = controller;
    setLoading(true);
    say('0 %');
    try {
      const { signal } = controller;
      const onProgress = (/** @type {{line: number, lines: number}} */ { line, lines }) =>
        say(`${lines === 0 ? 100 : Math.floor((100 * line) / lines)} %`);
      const text = await source.wholeText({ signal, onProgress });
      try {
        await copyText(text);
        say(`Copied ${size(text.length)}.`);
      } catch {
        setReady(text);
        say('');
      }
    } catch (fault) {
      if (controller.signal.aborted) say('');
      else failed(fault);
    } finally {
      setLoading(false);
    }
  };
  const copyReady = async () => {
    try {
      await copyText(ready ?? '');
      say('Copied.');
      setReady(null);
    } catch (fault) {
      failed(fault);
    }
  };
  return h(
    'div',
    { class: 'panel' },
    h('button', { class: 'button', onClick: copySeen }, `Lines ${number(first)}–${number(last)}`),
    ready === null
      ? h('button', { class: 'button', disabled: loading, onClick: copyAll }, 'Everything')
      : h('button', { class: 'button', onClick: copyReady }, `Copy ${size(ready.length)} now`),
    loading ? h('button', { class: 'button', onClick: () => abort.current?.abort() }, 'Cancel') : null,
    h('output', { class: 'count' }, said),
  );
}

/**
 * Copies, also where the page came over an address that is not encrypted. Has to be called while a person's tap or key is
 * fresh. Rejects where the browser does not allow it (any more).
 * @param {string} text
 * @returns {Promise<void>}
 */
async function copyText(text) {
  if (navigator.clipboard !== undefined && window.isSecureContext) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'unseen';
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (!copied) throw new Error('The browser does not allow to copy.');
}
