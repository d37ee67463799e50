// What one does with lines: find a text, go to a line, copy.

import { h } from '../../vendor/preact/preact.module.js';
import { useEffect, useRef, useState } from '../../vendor/preact/hooks.module.js';
import { Observable } from '../core/observable.js';
import { number, size } from './text.js';
import { icon, useModel } from './frame.js';

/** @typedef {import('../core/result.js').ResultWindows} Source */
/** @typedef {import('../core/types.js').Found} Found */
/** @typedef {import('../core/types.js').Progress} Progress */

/** More places than this are not counted. */
const MOST_FOUND = 10_000;

/**
 * `at` is which of the places is looked at. `running` until all was searched; `searched` is how much of it
 * was, empty for all. `problem` is a sentence for a person, or empty.
 * @typedef {{text: string, found: Found[], at: number, running: boolean, searched: string, problem: string}} FindingState
 */

/** @extends {Observable<FindingState>} */
export class Finding extends Observable {
  /** The places of each line. @type {Map<number, Found[]>} */
  byLine = new Map();
  #source;
  #abort = new AbortController();

  /** @param {Source} source */
  constructor(source) {
    super({ text: '', found: [], at: 0, running: false, searched: '', problem: '' });
    this.#source = source;
  }

  get current() {
    return this.state.found[this.state.at];
  }

  /**
   * Searches from where one is to the end, then what is above: in this order the places count. The first of them is the one
   * looked at.
   * @param {string} text
   * @param {number} near a line
   * @returns {Promise<void>}
   */
  async start(text, near) {
    this.clear();
    if (text === '') {
      this._set({ problem: 'Type what to find.' });
      return;
    }
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    /** @type {Found[]} */
    const found = [];
    this._set({ text, found, running: true, searched: '0 %' });
    const onProgress = (/** @type {Progress} */ progress) => {
      if (!signal.aborted) this._set({ searched: share(progress, near) });
    };
    try {
      for await (const places of this.#source.find(text, { from: near, signal, onProgress })) {
        if (signal.aborted) return;
        for (const place of places) {
          found.push(place);
          const beside = this.byLine.get(place.line);
          if (beside === undefined) this.byLine.set(place.line, [place]);
          else beside.push(place);
        }
        // The list grows; the state tells that it did.
        this._set({ found });
        if (found.length >= MOST_FOUND) break;
      }
      if (!signal.aborted) this._set({ running: false, searched: '' });
    } catch (fault) {
      if (!signal.aborted) this._set({ running: false, problem: /** @type {Error} */ (fault).message });
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
    this._set({ text: '', found: [], at: 0, searched: '', problem: '' });
  }

  /** @param {number} by 1 for the next place, -1 for the one before */
  step(by) {
    const { found, at } = this.state;
    const next = (at + by + found.length) % found.length;
    const place = found[next];
    if (place === undefined) return;
    // Another one, so that it is led to although it was before: one may have gone elsewhere meanwhile.
    found[next] = { ...place };
    this._set({ at: next });
  }

  /** How it stands, for a person. */
  get sentence() {
    const { text, found, at, searched, problem } = this.state;
    if (problem !== '' || text === '') return problem;
    const so_far = searched === '' ? '' : ` so far, ${searched} searched`;
    if (found.length === 0) return so_far === '' ? 'Not found' : `None${so_far}`;
    return `${at + 1} of ${found.length}${found.length >= MOST_FOUND ? ' or more' : so_far}`;
  }
}

/**
 * How far a walk is, for a person: by lines, or within the first one.
 * @param {Progress} progress
 * @param {number} [near] where it began
 */
function share({ line, lines, units }, near = 1) {
  const percent = Math.floor((100 * ((line - near + lines) % lines)) / lines);
  return percent > 0 ? `${percent} %` : size(units);
}

/** @param {{finding: Finding, near: () => number}} props */
export function FindBar({ finding, near }) {
  const state = useModel(finding);
  const [text, setText] = useState('');
  /** @type {{current: HTMLInputElement | null}} */
  const field = useRef(null);
  /** @type {{current: HTMLButtonElement | null}} */
  const submit = useRef(null);
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    // The button that stops it is gone, with the focus.
    if (document.activeElement === document.body) submit.current?.focus();
  }, [state.running]);
  const searched = text !== '' && text === state.text;
  const go = (/** @type {number} */ by) => {
    if (searched) finding.step(by);
    else void finding.start(text, near());
  };
  return h(
    'form',
    {
      class: 'panel',
      role: 'search',
      onSubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        go(1);
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
        go(-1);
      },
    }),
    h(
      'button',
      { ref: submit, class: 'tool', type: 'submit', 'aria-label': searched ? 'The next place' : 'Find' },
      icon(searched ? 'down' : 'search'),
    ),
    h(
      'button',
      {
        class: 'tool',
        type: 'button',
        disabled: state.found.length === 0,
        'aria-label': 'The place before',
        onClick: () => go(-1),
      },
      icon('up'),
    ),
    state.running ? h('button', { class: 'button', type: 'button', onClick: () => finding.stop() }, 'Stop') : null,
    h('output', { class: 'count', 'aria-busy': state.running }, finding.sentence),
  );
}

/** @param {{count: number, go: (line: number) => void}} props */
export function LineBar({ count, go }) {
  const [text, setText] = useState('');
  const [said, say] = useState('');
  /** @type {{current: HTMLInputElement | null}} */
  const field = useRef(null);
  useEffect(() => field.current?.focus(), []);
  return h(
    'form',
    {
      class: 'panel',
      onSubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        // Thousands may be set apart.
        const line = Number(text.replace(/[\s,.'’](?=\d{3})/g, ''));
        const there = Number.isInteger(line) && line >= 1 && line <= count;
        say(there ? `Line ${number(line)}.` : `A line from 1 to ${number(count)}.`);
        if (there) go(line);
      },
    },
    h('label', { for: 'line' }, `Line, 1 to ${number(count)}`),
    h('input', {
      id: 'line',
      ref: field,
      inputMode: 'numeric',
      autocomplete: 'off',
      value: text,
      onInput: (/** @type {Event} */ event) => {
        setText(/** @type {HTMLInputElement} */ (event.target).value);
        say('');
      },
    }),
    h('button', { class: 'button', type: 'submit' }, 'Go'),
    h('output', { class: 'count' }, said),
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
  const failed = (/** @type {any} */ fault) => say(fault.message);
  const copySeen = async () => {
    try {
      const lines = await source.lines(first, last - first + 1);
      await copyText(lines.map((line) => line.text).join('\n').replace(/\r$/, ''));
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
      const onProgress = (/** @type {Progress} */ progress) => say(share(progress));
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
    // One button, which keeps the focus.
    h(
      'button',
      { class: 'button', onClick: loading ? () => abort.current?.abort() : ready === null ? copyAll : copyReady },
      loading ? 'Cancel' : ready === null ? 'Everything' : `Copy ${size(ready.length)} now`,
    ),
    h('output', { class: 'count', 'aria-busy': loading }, said),
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
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'unseen';
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  focused?.focus();
  if (!copied) throw new Error('The browser does not allow to copy.');
}
