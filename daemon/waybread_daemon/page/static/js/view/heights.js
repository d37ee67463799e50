// Where the items of a long list stand, each as high as it is or is thought to be.

/** @template T */
export class Heights {
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
