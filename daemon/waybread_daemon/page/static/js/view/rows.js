// Lines, of which only those near what is seen are in the page: thousands or millions of them.

import { Component, h } from '../../vendor/preact/preact.module.js';
import { BLOCK_LINES } from '../core/result.js';
import { Position, Row } from './row.js';

/** @typedef {import('../core/types.js').Line} Line */
/** @typedef {import('../core/types.js').Found} Found */
/** @typedef {import('../core/result.js').ResultWindows} Source */
/** @typedef {import('./text.js').Where} Where */

/** Browsers end at some millions of pixels: a longer way is scaled to this. */
const MOST_PX = 6_000_000;
const OVERSCAN_LINES = 24;
const MOST_LINES = 3000;
/** So many windows are asked for at once: an impatient thumb passes over the others. */
const MOST_ASKED = 2;
const REST_MS = 140;
const MOST_LOOKS = 6;

/**
 * `onSeen` is told the first and last line in sight, and whether all of them are here. `link`: with another one, what could not
 * be had is asked for again.
 * @typedef {{source: Source, count: number, wrap: boolean, diff: boolean, where: Where, start: {line: number, px: number},
 *   current: Found | undefined, found: Map<number, Found[]>, link: object,
 *   onSeen: (first: number, last: number, px: number, whole: boolean) => void,
 *   onProblem: (fault: unknown) => void, control: {current: Rows | null}}} RowsProps
 */

/** @extends {Component<RowsProps>} */
export class Rows extends Component {
  /** @type {HTMLElement | null} */
  #scroller = null;
  /** @type {HTMLElement | null} */
  #block = null;
  #height = 0;
  #rowHeight = 20;
  /** As the scroller had it last. */
  #top = 0;
  /** @type {Map<number, Line>} */
  #lines = new Map();
  /** Heights of wrapped lines. @type {Map<number, number>} */
  #heights = new Map();
  #asked = 0;
  /** Windows that were asked for and are not here. @type {Set<number>} */
  #missed = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #rest;
  /** @type {ResizeObserver | null} */
  #resized = null;
  #looks = 0;
  #toEnd = false;
  #first = 1;
  #last = 0;
  position = new Position(
    () => this.props.count,
    (line) => this.#heightOf(line),
  );

  /** @param {RowsProps} props */
  constructor(props) {
    super(props);
    this.position.line = Math.min(Math.max(props.start.line, 1), Math.max(props.count, 1));
    this.position.px = props.start.px;
  }

  /** @override */
  componentDidMount() {
    this.props.control.current = this;
    this.#resized = new ResizeObserver((seen) => {
      const grew = this.#rowHeight !== this.#lineHeight();
      if (grew || seen.some((one) => one.target === this.#scroller)) this.#measureAll();
      else this.#settle();
    });
    if (this.#scroller !== null) this.#resized.observe(this.#scroller);
    if (this.#block !== null) this.#resized.observe(this.#block);
    this.#measureAll();
  }

  /** @override @param {RowsProps} before */
  componentDidUpdate(before) {
    if (before.wrap !== this.props.wrap) this.#heights.clear();
    if (before.link !== this.props.link) this.#missed.clear();
    this.#settle();
  }

  /** @override */
  componentWillUnmount() {
    this.#resized?.disconnect();
    clearTimeout(this.#rest);
    this.props.control.current = null;
  }

  /**
   * Puts the beginning of a line at the top, or near it.
   * @param {number} line
   * @param {number} [above] pixels that are to stay above it
   */
  toLine(line, above = 0) {
    this.position.line = Math.min(Math.max(line, 1), this.props.count);
    this.position.px = 0;
    this.#toEnd = line >= this.props.count;
    this.position.move(-above, this.#height);
    // Far within a long line there is nothing of the others.
    if (this.#scroller !== null) this.#scroller.scrollLeft = 0;
    this.forceUpdate();
  }

  /**
   * Puts a line in sight, where nothing of it is.
   * @param {number} line
   */
  toSight(line) {
    if (line < this.position.line || line > this.#lastSeen()) this.toLine(line, this.#height / 3);
  }

  /** @override */
  render() {
    const { count, wrap } = this.props;
    const { line, px } = this.position;
    this.#first = Math.max(line - OVERSCAN_LINES, 1);
    let above = px;
    for (let at = this.#first; at < line; at += 1) above += this.#heightOf(at);
    const rows = [];
    let height = -above;
    let at = this.#first;
    for (; at <= count && (height < this.#height || at < line + OVERSCAN_LINES); at += 1) {
      rows.push(this.#row(at));
      height += this.#heightOf(at);
    }
    for (const end = Math.min(at + OVERSCAN_LINES, count + 1); at < end; at += 1) {
      rows.push(this.#row(at));
    }
    this.#last = at - 1;
    return h(
      'div',
      {
        class: `rows ${wrap ? 'wrap' : ''}`,
        tabIndex: 0,
        role: 'group',
        'aria-label': 'Lines',
        ref: (/** @type {HTMLElement | null} */ scroller) => (this.#scroller = scroller),
        onScroll: () => this.#scrolled(),
        onKeyDown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
        style: { '--digits': String(count).length },
      },
      h(
        'div',
        { class: 'sizer', style: { height: `${this.#way() + this.#height}px` } },
        h(
          'div',
          {
            class: 'block',
            role: 'list',
            dir: 'ltr',
            'aria-label': 'Lines',
            ref: (/** @type {HTMLElement | null} */ block) => (this.#block = block),
            style: { transform: `translateY(${this.#top - above}px)` },
          },
          rows,
        ),
      ),
    );
  }

  /**
   * Puts what was found in sight, also within a line of many pages.
   * @param {Element} mark
   */
  #bring = (mark) => {
    const scroller = /** @type {HTMLElement} */ (this.#scroller);
    // The line may have another height by now.
    this.#measure();
    this.#toEnd = false;
    const [place, view] = [mark.getBoundingClientRect(), scroller.getBoundingClientRect()];
    const aside = place.left < view.left + view.width / 4 || place.right > view.right;
    if (aside) scroller.scrollLeft += place.left - view.left - view.width / 2;
    if (place.top >= view.top && place.bottom <= view.bottom) return;
    this.position.move(place.top - view.top - this.#height / 3, this.#height);
    this.forceUpdate();
  };

  /** @param {number} number */
  #row(number) {
    const { count, diff, where, found, current, source, onProblem } = this.props;
    const places = found.get(number);
    return h(Row, {
      key: number,
      number,
      line: this.#lines.get(number),
      count,
      diff,
      where,
      found: places,
      places: places?.length ?? 0,
      current: current?.line === number ? current : undefined,
      source,
      onMark: this.#bring,
      onProblem,
    });
  }

  /** @param {number} line */
  #heightOf(line) {
    return this.props.wrap ? (this.#heights.get(line) ?? this.#rowHeight) : this.#rowHeight;
  }

  /** How far the scroller goes, in pixels. */
  #way() {
    const { count, wrap } = this.props;
    const way = count * this.#rowHeight - this.#height;
    if (!wrap) return Math.min(Math.max(way, 0), MOST_PX);
    // Wrapped lines are higher than one knows: where they do not fit, there has to be some way to go.
    let known = 0;
    for (let line = 1; line <= count && known <= this.#height; line += 1) known += this.#heightOf(line);
    return known <= this.#height ? 0 : Math.min(Math.max(way * 2, this.#height * 3), MOST_PX);
  }

  /** Whether each pixel of the scroller is one of the lines. */
  get #exact() {
    return !this.props.wrap && this.props.count * this.#rowHeight - this.#height <= MOST_PX;
  }

  #scrolled() {
    if (this.#scroller === null) return;
    const { scrollTop: top, scrollHeight, clientHeight } = this.#scroller;
    const delta = top - this.#top;
    if (Math.abs(delta) < 0.5) return;
    this.#top = top;
    // Further up and yet at the end: the way became shorter, nobody scrolled.
    if (delta < 0 && top + clientHeight > scrollHeight - 1) return;
    const way = this.#way();
    const leaps = this.#exact || Math.abs(delta) > this.#height * 1.5;
    this.#toEnd = leaps && top >= way - 1;
    if (leaps) this.position.jump(this.#toEnd ? 1 : top / way, this.#height);
    else this.position.move(delta, this.#height);
    clearTimeout(this.#rest);
    if (!this.#exact) {
      const stuck = top <= 0 || top >= way - 1;
      this.#rest = setTimeout(() => this.#place(), stuck ? 0 : REST_MS);
    }
    this.forceUpdate();
  }

  /** Puts the scroller where the position is. */
  #place() {
    const scroller = this.#scroller;
    if (scroller === null) return;
    const { scrollTop } = scroller;
    const top = this.position.share(this.#height) * this.#way();
    if (Math.abs(scrollTop - top) < 1) return;
    scroller.scrollTop = top;
    this.#top = scroller.scrollTop;
    // It cannot go there where it has become higher, which is not measured yet: to try again at once would never end.
    if (this.#top !== scrollTop) this.forceUpdate();
  }

  /** How high a line is that is not wrapped: letters may grow while one reads. */
  #lineHeight() {
    const { lineHeight } = getComputedStyle(/** @type {HTMLElement} */ (this.#scroller));
    return parseFloat(lineHeight) || this.#rowHeight;
  }

  #measureAll() {
    const scroller = this.#scroller;
    if (scroller === null) return;
    this.#height = scroller.clientHeight;
    this.#rowHeight = this.#lineHeight();
    this.#heights.clear();
    this.forceUpdate();
  }

  /** Whether lines are of other heights than was known. */
  #measure() {
    let news = false;
    if (!this.props.wrap) return news;
    for (const element of this.#block?.children ?? []) {
      const line = Number(/** @type {HTMLElement} */ (element).dataset['line']);
      const height = /** @type {HTMLElement} */ (element).offsetHeight;
      if (this.#heights.get(line) === height) continue;
      this.#heights.set(line, height);
      news = true;
    }
    return news;
  }

  #settle() {
    // What a person has scrolled may be told later.
    this.#scrolled();
    const news = this.#measure();
    // Lines at the end turn out to be higher than was thought.
    if (this.#toEnd) this.position.jump(1, this.#height);
    this.position.hold(this.#height);
    if (news && this.#looks < MOST_LOOKS) {
      this.#looks += 1;
      this.forceUpdate();
      return;
    }
    this.#looks = 0;
    const scroller = this.#scroller;
    // A move by the program, or another height: the bar follows. A person's own scrolling is not disturbed.
    const top = this.position.share(this.#height) * this.#way();
    if (scroller !== null && this.#exact && Math.abs(scroller.scrollTop - top) >= 1) this.#place();
    else if (!this.#exact) {
      clearTimeout(this.#rest);
      this.#rest = setTimeout(() => this.#place(), REST_MS);
    }
    this.#load();
    const seen = this.#lastSeen();
    const { line, px } = this.position;
    // What is in sight is of one window or two.
    this.props.onSeen(line, seen, px, this.#lines.has(line) && this.#lines.has(seen));
  }

  #lastSeen() {
    let height = -this.position.px;
    let line = this.position.line;
    while (line < this.props.count && height + this.#heightOf(line) < this.#height) {
      height += this.#heightOf(line);
      line += 1;
    }
    return line;
  }

  /** Asks for what is in the page and not here. */
  #load() {
    let first = this.#first;
    const blockOf = (/** @type {number} */ line) => Math.floor((line - 1) / BLOCK_LINES);
    while (first <= this.#last && (this.#lines.has(first) || this.#missed.has(blockOf(first)))) first += 1;
    if (first > this.#last || this.#asked >= MOST_ASKED) return;
    const block = blockOf(first);
    this.#asked += 1;
    this.#missed.add(block);
    this.props.source
      .lines(block * BLOCK_LINES + 1, BLOCK_LINES)
      .then(
        (lines) => {
          for (const line of lines) this.#lines.set(line.number, line);
          if (lines.length > 0) this.#missed.delete(block);
          for (const number of this.#lines.keys()) {
            if (this.#lines.size <= MOST_LINES) break;
            if (number < this.#first || number > this.#last) this.#lines.delete(number);
          }
        },
        (fault) => {
          if (fault?.code !== 'link_lost') this.props.onProblem(fault);
        },
      )
      .finally(() => {
        this.#asked -= 1;
        this.forceUpdate();
      });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.target !== this.#scroller || event.altKey || event.shiftKey || event.metaKey) return;
    if (event.key === 'Home') this.toLine(1);
    else if (event.key === 'End') this.toLine(this.props.count);
    else return;
    event.preventDefault();
  }
}
