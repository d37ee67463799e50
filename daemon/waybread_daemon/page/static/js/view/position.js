// Where one is in millions of lines: a line, and how many pixels of it are above. A bar for scrolling cannot tell that:
// browsers end at some millions of pixels, and wrapped lines have heights that nobody knows before they are shown.

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
