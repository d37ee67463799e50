// One line of a result: of a very long one, a part at a time. And where one is in millions of them.

import { Component, h } from '../../vendor/preact/preact.module.js';
import { LINE_CHARS } from '../core/result.js';
import { countChars, firstOf } from '../core/texts.js';
import { diffKind, number as written, pieces } from './text.js';

/** @typedef {import('../core/types.js').Line} Line */
/** @typedef {import('../core/types.js').Found} Found */
/** @typedef {import('../core/result.js').ResultWindows} Source */
/** @typedef {import('./text.js').Where} Where */

/**
 * A part of a line: where it begins in UTF-16 units (`start`) and in characters (`from_char`).
 * @typedef {{start: number, from_char: number, text: string, last: boolean}} LinePart
 */

/**
 * `found` are the places in this line, `places` how many; `current` is one of them. `onMark` is told what is to be seen.
 * `onProblem` is told why another part of it cannot be had.
 * @typedef {{number: number, line: Line | undefined, count: number, diff: boolean, where: Where,
 *   found: Found[] | undefined, places: number, current: Found | undefined, source: Source,
 *   onMark: (mark: Element) => void, onProblem: (fault: unknown) => void}} RowProps
 */

/** Of a line, so many characters stand before what is looked at. */
const CHARS_BEFORE = 2000;
const ENDING = '.goes-on:last-child';

/** @extends {Component<RowProps, {part: LinePart | null}>} */
export class Row extends Component {
  /** The place that was last led to. @type {Found | undefined} */
  #shown;
  /** What is to be seen when it is there. */
  #wanted = '';
  /** Counts the parts that were asked for: the last is shown. */
  #turn = 0;
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
    this.#turn += 1;
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
          : this.#button(`‹ from character ${written(part.from_char)}`, () => this.#back(part)),
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
      shown.push(h('mark', { class: place.from === current?.from ? 'current' : '' }, inside));
      done = to;
    }
    shown.push(...pieces(text.slice(done), where));
    return shown;
  }

  /** Leads to the place that is looked at, by way of another part where it stands there. */
  #lead() {
    const { current, onMark } = this.props;
    const part = this.#part;
    if (part === null) return;
    if (current !== this.#shown) {
      this.#shown = current;
      this.#wanted = current === undefined ? '' : '.current';
      if (current !== undefined && (current.from < part.start || current.to > part.start + part.text.length))
        void this.#show('.current', current.from, current.from_char, CHARS_BEFORE);
    }
    const wanted = this.#wanted === '' ? null : this.#element?.querySelector(this.#wanted);
    if (wanted == null) return;
    this.#wanted = '';
    onMark(wanted);
  }

  /** @param {LinePart} part */
  #on({ start, from_char, text }) {
    void this.#show('.goes-on', start + text.length, from_char + countChars(text), 0);
  }

  /** @param {LinePart} part */
  #back({ start, from_char }) {
    void this.#show(ENDING, start, from_char, LINE_CHARS / 2);
  }

  /**
   * Shows another part.
   * @param {string} wanted what is to be seen of it
   * @param {number} unit a place in the line,
   * @param {number} char and where that is in characters
   * @param {number} before how many characters ahead of it are shown, too
   */
  async #show(wanted, unit, char, before) {
    const turn = (this.#turn += 1);
    const { source, number, onProblem } = this.props;
    const from_char = Math.max(char - before, 0);
    const piece = await source.linePiece(number, from_char).catch(onProblem);
    if (turn !== this.#turn || !piece) return;
    const most = firstOf(piece.text, LINE_CHARS);
    const ahead = [...most].slice(0, char - from_char).join('');
    const text = wanted === ENDING ? ahead : most;
    const last = piece.next_char === null && text === piece.text;
    this.#wanted = wanted;
    this.setState({ part: { start: unit - ahead.length, from_char, text, last } });
  }
}

/**
 * Where one is in millions of lines: a line, and how many pixels of it are above. A bar for scrolling cannot tell that:
 * browsers end at some millions of pixels, and wrapped lines have heights that nobody knows before they are shown.
 */
export class Position {
  /** From 1. */
  line = 1;
  px = 0;
  #count;
  #heightOf;

  /**
   * @param {() => number} count of lines
   * @param {(line: number) => number} heightOf as measured, or as thought
   */
  constructor(count, heightOf) {
    this.#count = count;
    this.#heightOf = heightOf;
  }

  /**
   * @param {number} delta in pixels, up is negative
   * @param {number} view the height of what is seen
   */
  move(delta, view) {
    this.px += delta;
    while (this.px < 0 && this.line > 1) {
      this.line -= 1;
      this.px += this.#heightOf(this.line);
    }
    while (this.line < this.#count() && this.px >= this.#heightOf(this.line)) {
      this.px -= this.#heightOf(this.line);
      this.line += 1;
    }
    this.hold(view);
  }

  /**
   * Goes to a share of the whole way, from 0 to 1.
   * @param {number} share
   * @param {number} view
   */
  jump(share, view) {
    const units = Math.min(Math.max(share, 0), 1) * this.#units(this.#end(view));
    this.line = Math.min(Math.floor(units) + 1, Math.max(this.#count(), 1));
    this.px = (units - (this.line - 1)) * this.#heightOf(this.line);
    this.hold(view);
  }

  /**
   * How much of the whole way is gone, from 0 to 1.
   * @param {number} view
   */
  share(view) {
    const end = this.#units(this.#end(view));
    return end === 0 ? 0 : Math.min(this.#units(this) / end, 1);
  }

  /**
   * Keeps between the beginning and the end.
   * @param {number} view
   */
  hold(view) {
    const end = this.#end(view);
    if (this.line > end.line || (this.line === end.line && this.px > end.px)) [this.line, this.px] = [end.line, end.px];
    if (this.line < 1 || (this.line === 1 && this.px < 0)) [this.line, this.px] = [1, 0];
  }

  /**
   * The position in which the last line is the last that is seen.
   * @param {number} view
   */
  #end(view) {
    let line = Math.max(this.#count(), 1);
    let height = this.#heightOf(line);
    while (height < view && line > 1) {
      line -= 1;
      height += this.#heightOf(line);
    }
    return { line, px: Math.max(height - view, 0) };
  }

  /** @param {{line: number, px: number}} position */
  #units({ line, px }) {
    return line - 1 + px / this.#heightOf(line);
  }
}
