// What views look at: a state that is replaced, never changed, and a call when it was.

/** @template {object} S */
export class Observable {
  /** @type {Set<() => void>} */
  #watchers = new Set();
  #telling = false;

  /** @param {S} state */
  constructor(state) {
    /** Read it, never change it. @type {Readonly<S>} */
    this.state = state;
  }

  /**
   * Calls `watcher` after changes: once for all those of a turn of the loop, however many.
   * @param {() => void} watcher
   * @returns {() => void} ends it
   */
  subscribe(watcher) {
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
    };
  }

  /** @param {Partial<S>} changed */
  _set(changed) {
    this.state = { ...this.state, ...changed };
    if (this.#telling || this.#watchers.size === 0) return;
    this.#telling = true;
    queueMicrotask(() => {
      this.#telling = false;
      for (const watcher of [...this.#watchers]) watcher();
    });
  }
}
