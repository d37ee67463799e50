// A long list of items of any height, of which only those near what is seen are in the page.
//
// It holds on to what a person looks at: the first item in sight, or the end. Whatever is measured, loaded ahead or put
// behind, that stays where it is.

import { Component, h } from '../../vendor/preact/preact.module.js';

/** @typedef {import('../../vendor/preact/preact.module.js').ComponentChildren} Children */

const OVERSCAN_PX = 900;
const END_PX = 24;
/** Heights settle after the second look; more are for those that change each other. */
const MOST_LOOKS = 6;

/**
 * Where one is in a list: an item and how far its beginning is above, or the end.
 * @typedef {{key: string | number | null, px: number, end: boolean}} ListPlace
 */

/**
 * `render` is called anew for an item only when the item itself or `look` differs. `end`: begins at the end and stays
 * there. `from`: the number of the first item among all, null where nobody knows. `lead`: the first item only tells of what
 * is not loaded: it is not held on to.
 * @template T
 * @typedef {{items: readonly T[], keyOf: (item: T) => string | number, estimate: (item: T) => number,
 *   render: (item: T) => Children, look: unknown, label: string, end?: boolean, lead?: boolean, from: number | null, whole: boolean,
 *   place?: ListPlace | undefined, onPlace: (place: ListPlace) => void, onNearStart?: () => void,
 *   onNearEnd?: () => void, control?: {current: VirtualList<T> | null}}} ListProps
 */

/**
 * @template T
 * @extends {Component<ListProps<T>, {height: number}>}
 */
export class VirtualList extends Component {
  /** @type {Heights<T>} */
  heights;
  /** @type {ListPlace} */
  place;
  /** @type {HTMLElement | null} */
  #scroller = null;
  /** The items in the page by their keys. @type {Map<string | number, HTMLElement>} */
  #slots = new Map();
  /** A function for each, which stays the same. @type {Map<string | number, (slot: HTMLElement | null) => void>} */
  #refs = new Map();
  /** The numbers of the items in the page. @type {number[]} */
  #shown = [];
  /** @type {string | number | null} */
  #focused = null;
  /** @type {ResizeObserver | null} */
  #resized = null;
  #looks = 0;
  /** As the scroller had it last. */
  #top = 0;
  /** Whether a text in it is selected: it would go with what leads away from it. */
  #selected = false;

  /** @param {ListProps<T>} props */
  constructor(props) {
    super(props);
    this.state = { height: 0 };
    this.heights = new Heights(props.keyOf, props.estimate);
    this.place = props.place ?? { key: null, px: 0, end: props.end === true };
  }

  /** @override */
  componentDidMount() {
    if (this.props.control !== undefined) this.props.control.current = this;
    this.#resized = new ResizeObserver(() => this.#settle());
    if (this.#scroller !== null) this.#resized.observe(this.#scroller);
    for (const slot of this.#slots.values()) this.#resized.observe(slot);
    document.addEventListener('selectionchange', this.#onSelection);
    this.#settle();
  }

  /** @override */
  componentDidUpdate() {
    this.#settle();
  }

  /** @override */
  componentWillUnmount() {
    this.#resized?.disconnect();
    document.removeEventListener('selectionchange', this.#onSelection);
    if (this.props.control !== undefined) this.props.control.current = null;
  }

  toEnd() {
    // What leads here goes away, and the focus would with it.
    this.#scroller?.focus({ preventScroll: true });
    this.#setPlace({ key: null, px: 0, end: true });
    this.forceUpdate();
  }

  /** @override */
  render() {
    const { items, keyOf, render, look, label, from, whole } = this.props;
    if (items !== this.heights.items) this.heights.setItems(items);
    const { height } = this.state;
    const top = this.#target(height);
    const shown = [];
    if (items.length > 0) {
      const first = this.heights.at(top - OVERSCAN_PX);
      const last = this.heights.at(top + height + OVERSCAN_PX);
      for (let at = first; at <= last; at += 1) shown.push(at);
      // What has the focus stays, or a keyboard would be lost.
      const focused = this.#focused === null ? -1 : this.heights.find(this.#focused);
      if (focused >= 0 && focused < first) shown.unshift(focused);
      if (focused > last) shown.push(focused);
    }
    this.#shown = shown;
    const total = from === null || !whole ? -1 : from + items.length;
    const slots = shown.map((at) => {
      const item = /** @type {T} */ (items[at]);
      const attributes = {
        key: keyOf(item),
        class: 'slot',
        role: 'listitem',
        'aria-setsize': total,
        'aria-posinset': (from ?? 0) + at + 1,
        'data-key': keyOf(item),
        style: { transform: `translateY(${this.heights.offset(at)}px)` },
        ref: this.#ref(keyOf(item)),
        onFocusIn: () => (this.#focused = keyOf(item)),
        onFocusOut: () => (this.#focused = null),
      };
      return h('div', attributes, h(Item, { item, look, render }));
    });
    return h(
      'div',
      {
        class: 'scroller',
        tabIndex: 0,
        role: 'group',
        'aria-label': label,
        ref: (/** @type {HTMLElement | null} */ scroller) => (this.#scroller = scroller),
        onScroll: () => this.#scrolled(),
      },
      h(
        'div',
        { class: 'sizer', role: 'list', 'aria-label': label, style: { height: `${this.heights.total}px` } },
        slots,
      ),
    );
  }

  /** @param {string | number} key */
  #ref(key) {
    let ref = this.#refs.get(key);
    if (ref === undefined) {
      ref = (slot) => {
        if (slot === null) {
          this.#slots.delete(key);
          this.#refs.delete(key);
        } else {
          this.#slots.set(key, slot);
          this.#resized?.observe(slot);
        }
      };
      this.#refs.set(key, ref);
    }
    return ref;
  }

  /** Measures what is there and puts in sight what one looks at. */
  #settle() {
    const scroller = this.#scroller;
    if (scroller === null) return;
    // What a person has scrolled may be told later.
    this.#scrolled();
    let news = false;
    for (const at of this.#shown) {
      const slot = this.#slots.get(this.heights.key(at) ?? '');
      if (slot !== undefined && this.heights.measured(at, slot.offsetHeight)) news = true;
    }
    const height = scroller.clientHeight;
    if ((news || height !== this.state.height) && this.#looks < MOST_LOOKS) {
      this.#looks += 1;
      this.setState({ height });
      return;
    }
    this.#looks = 0;
    const target = Math.round(this.#target(height));
    if (Math.abs(scroller.scrollTop - target) >= 1) {
      scroller.scrollTop = target;
      this.#top = scroller.scrollTop;
    }
    this.#tellEnds(target, height);
  }

  /**
   * Where the scroller has to be for what one looks at.
   * @param {number} height
   */
  #target(height) {
    const most = Math.max(this.heights.total - height, 0);
    if (this.place.end) return most;
    const at = this.place.key === null ? 0 : this.heights.find(this.place.key);
    return Math.min(Math.max(this.heights.offset(Math.max(at, 0)) + this.place.px, 0), most);
  }

  #scrolled() {
    const scroller = this.#scroller;
    if (scroller === null) return;
    const { scrollTop: top, clientHeight: height } = scroller;
    const delta = top - this.#top;
    if (Math.abs(delta) < 1) return;
    this.#top = top;
    // Further up and yet at the end: the list became shorter, nobody scrolled.
    if (delta < 0 && top + height > scroller.scrollHeight - 1) return;
    this.#notePlace(scroller);
  }

  #onSelection = () => {
    const scroller = this.#scroller;
    const chosen = getSelection();
    const selected = scroller?.contains(chosen?.anchorNode ?? null) === true && chosen?.isCollapsed === false;
    if (scroller === null || selected === this.#selected) return;
    this.#selected = selected;
    if (this.props.end === true) this.#notePlace(scroller);
  };

  /** @param {HTMLElement} scroller */
  #notePlace({ scrollTop: top, clientHeight: height }) {
    const at = Math.max(this.heights.at(top), this.props.lead === true ? 1 : 0);
    const end = this.props.end === true && !this.#selected && top + height >= this.heights.total - END_PX;
    this.#setPlace({ key: this.heights.key(at), px: top - this.heights.offset(at), end });
    this.setState({ height });
  }

  /** @param {ListPlace} place */
  #setPlace(place) {
    this.place = place;
    this.props.onPlace(place);
  }

  /**
   * @param {number} top
   * @param {number} height
   */
  #tellEnds(top, height) {
    if (top < height + OVERSCAN_PX) this.props.onNearStart?.();
    if (top + height * 2 + OVERSCAN_PX > this.heights.total) this.props.onNearEnd?.();
  }

}

/** @typedef {{item: any, look: unknown, render: (item: any) => Children}} ItemProps */

/** @extends {Component<ItemProps>} */
class Item extends Component {
  /** @override @param {Readonly<ItemProps>} next */
  shouldComponentUpdate(next) {
    return next.item !== this.props.item || next.look !== this.props.look;
  }

  /** @override */
  render() {
    return this.props.render(this.props.item);
  }
}

/**
 * Where the items stand, each as high as it is or is thought to be.
 * @template T
 */
class Heights {
  /** @type {readonly T[]} */
  items = [];
  #keyOf;
  #estimate;
  /** @type {Map<string | number, number>} */
  #measured = new Map();
  /** @type {number[]} */
  #sizes = [];
  /** `#offsets[n]` is where item n begins; right up to `#valid`. @type {number[]} */
  #offsets = [0];
  #valid = 0;
  #found = -1;

  /**
   * @param {(item: T) => string | number} keyOf
   * @param {(item: T) => number} estimate in pixels
   */
  constructor(keyOf, estimate) {
    this.#keyOf = keyOf;
    this.#estimate = estimate;
  }

  /** @param {readonly T[]} items */
  setItems(items) {
    const before = this.items;
    const last = before.length - 1;
    // Items are mostly put behind those that are there.
    const grew = last >= 0 && items.length > last && before[0] === items[0] && before[last] === items[last];
    const from = grew ? before.length : 0;
    this.items = items;
    this.#sizes.length = from;
    this.#valid = Math.min(this.#valid, from);
    for (let at = from; at < items.length; at += 1) {
      const item = /** @type {T} */ (items[at]);
      this.#sizes.push(this.#measured.get(this.#keyOf(item)) ?? this.#estimate(item));
    }
  }

  /**
   * @param {number} at
   * @param {number} px
   * @returns {boolean} whether this is news
   */
  measured(at, px) {
    const item = this.items[at];
    if (item === undefined) return false;
    this.#measured.set(this.#keyOf(item), px);
    if (this.#sizes[at] === px) return false;
    this.#sizes[at] = px;
    this.#valid = Math.min(this.#valid, at);
    return true;
  }

  /** @param {number} at its number, or that of items for the end of all */
  offset(at) {
    for (; this.#valid < at; this.#valid += 1) {
      this.#offsets[this.#valid + 1] = (this.#offsets[this.#valid] ?? 0) + (this.#sizes[this.#valid] ?? 0);
    }
    return this.#offsets[at] ?? 0;
  }

  get total() {
    return this.offset(this.items.length);
  }

  /**
   * @param {number} px
   * @returns {number} the item that stands there, or the nearest
   */
  at(px) {
    let low = 0;
    let high = this.items.length - 1;
    this.offset(this.items.length);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.offset(middle) <= px) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  /**
   * @param {string | number} key
   * @returns {number} -1 where there is none
   */
  find(key) {
    // It is asked for the same one again and again.
    if (this.key(this.#found) !== key) this.#found = this.items.findIndex((item) => this.#keyOf(item) === key);
    return this.#found;
  }

  /** @param {number} at */
  key(at) {
    const item = this.items[at];
    return item === undefined ? null : this.#keyOf(item);
  }
}
