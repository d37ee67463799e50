// One line of a result. Of a very long one, a part at a time.

import { Component, h } from '../../vendor/preact/preact.module.js';
import { countChars } from '../core/entries.js';
import { LINE_CHARS } from '../core/result.js';
import { number as written } from './format.js';
import { diffKind, firstOf, pieces } from './text.js';

/** @typedef {import('../core/types.js').Line} Line */
/** @typedef {import('../core/types.js').Found} Found */
/** @typedef {import('../core/result.js').ResultWindows} Source */
/** @typedef {import('./text.js').Where} Where */

/**
 * A part of a line: where it begins in UTF-16 units (`start`) and in characters (`from_char`).
 * @typedef {{start: number, from_char: number, text: string, last: boolean}} LinePart
 */

/**
 * `found` are the places in this line, `places` how many; `current` is one of them, and `onMark` is told when it is shown.
 * @typedef {{number: number, line: Line | undefined, count: number, diff: boolean, where: Where,
 *   found: Found[] | undefined, places: number, current: Found | undefined, source: Source,
 *   onMark: (mark: Element) => void}} RowProps
 */

/** @extends {Component<RowProps, {part: LinePart | null}>} */
export class Row extends Component {
  /** @type {LinePart[]} */
  #before = [];
  /** The place that was last led to. @type {Found | undefined} */
  #shown;
  #gone = false;
  /** @type {Element | null} */
  #element = null;

  /** @param {RowProps} props */
  constructor(props) {
    super(props);
    this.state = { part: null };
  }

  /** @override @param {Readonly<RowProps>} next @param {Readonly<{part: LinePart | null}>} state */
  shouldComponentUpdate(next, state) {
    const { line, places, current, count } = this.props;
    const same = next.line === line && next.places === places && next.current === current && next.count === count;
    return !same || state.part !== this.state.part;
  }

  /** @override */
  componentDidMount() {
    this.#lead();
  }

  /** @override */
  componentDidUpdate() {
    this.#lead();
  }

  /** @override */
  componentWillUnmount() {
    this.#gone = true;
  }

  /** @override */
  render() {
    const { number, line, count, diff } = this.props;
    const part = this.#part;
    const kind = diff && part !== null ? diffKind(part.text) : 'plain';
    return h(
      'div',
      {
        class: `row ${kind}`,
        role: 'listitem',
        'aria-setsize': count,
        'aria-posinset': number,
        'data-line': number,
        ref: (/** @type {Element | null} */ element) => (this.#element = element),
      },
      h('span', { class: 'number', 'aria-hidden': 'true' }, number),
      h(
        'code',
        null,
        part === null || part.start === 0
          ? null
          : this.#button(`‹ from character ${written(part.from_char)}`, () => this.#back()),
        part === null ? h('span', { class: 'waiting' }, '…') : this.#marked(part),
        line?.cut === true && part?.last === false ? this.#button('the line goes on ›', () => this.#on(part)) : null,
      ),
    );
  }

  /** @returns {LinePart | null} */
  get #part() {
    const { line } = this.props;
    return (
      this.state.part ?? (line === undefined ? null : { start: 0, from_char: 0, text: line.text, last: !line.cut })
    );
  }

  /**
   * @param {string} text
   * @param {() => void} onClick
   */
  #button(text, onClick) {
    return h('button', { class: 'goes-on', onClick }, text);
  }

  /** @param {LinePart} part */
  #marked({ start, text }) {
    const { where, found = [], current } = this.props;
    const shown = [];
    let done = 0;
    for (const place of found) {
      const from = Math.max(place.from - start, done);
      const to = Math.min(place.to - start, text.length);
      if (from >= to) continue;
      shown.push(...pieces(text.slice(done, from), where));
      // Not a link: what is found must be seen, and an id may be found in part.
      const inside = pieces(text.slice(from, to), { ...where, most: 0 });
      shown.push(h('mark', { class: place === current ? 'current' : '' }, inside));
      done = to;
    }
    shown.push(...pieces(text.slice(done), where));
    return shown;
  }

  /** Leads to the part in which the place that is looked at stands. */
  #lead() {
    const { current, line } = this.props;
    const part = this.#part;
    if (current === this.#shown || line === undefined || part === null) return;
    if (current !== undefined && (current.from < part.start || current.from >= part.start + part.text.length)) {
      void this.#show(current.from, current.from < part.start ? null : part);
      return;
    }
    this.#shown = current;
    const mark = this.#element?.querySelector('.current') ?? null;
    if (mark !== null) this.props.onMark(mark);
  }

  /** @param {LinePart} part */
  #on(part) {
    this.#before.push(part);
    void this.#show(part.start + part.text.length, part);
  }

  #back() {
    const before = this.#before.pop();
    if (before !== undefined) this.setState({ part: before });
    else void this.#show(0, null);
  }

  /**
   * @param {number} unit in the line
   * @param {LinePart | null} after a part that is not behind it
   */
  async #show(unit, after) {
    const { source, number } = this.props;
    let { start, from_char } = after ?? { start: 0, from_char: 0 };
    for (;;) {
      const { text, next_char } = await source.linePiece(number, from_char);
      if (this.#gone) return;
      let at = 0;
      while (at < text.length) {
        const part = firstOf(text.slice(at), LINE_CHARS);
        const last = next_char === null && at + part.length >= text.length;
        if (unit < start + part.length || last) {
          this.setState({ part: { start, from_char, text: part, last } });
          return;
        }
        at += part.length;
        start += part.length;
        from_char += countChars(part);
      }
      if (next_char === null) return;
      from_char = next_char;
    }
  }
}
