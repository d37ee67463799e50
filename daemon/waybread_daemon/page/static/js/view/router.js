// The address bar: which view is shown, and where in it one was.

import { Observable } from '../core/observable.js';
import { address, parseAddress } from './routes.js';

/** @typedef {import('./routes.js').Route} Route */

const PLACES = 'waybread-places';
const MOST_PLACES = 60;

/**
 * `key` is that of the entry in the browser's history.
 * @extends {Observable<{route: Route, key: string}>}
 */
export class Router extends Observable {
  /** Where one was in each view of the history, and what one left it by. @type {Map<string, {place?: any, left?: string}>} */
  #places = new Map(readPlaces());
  #depth = -1;
  /** The address that the page was opened with, where it carries a pairing code. */
  offered = '';
  /** Called with a later one. @type {(address: string) => void} */
  onPairing = () => {};

  constructor() {
    super({ route: parseAddress(location.hash), key: '' });
    history.scrollRestoration = 'manual';
    this.#look();
    // Browsers differ in which of them they fire.
    addEventListener('popstate', () => this.#look());
    addEventListener('hashchange', () => this.#look());
    addEventListener('pagehide', () => {
      sessionStorage.setItem(PLACES, JSON.stringify([...this.#places].slice(-MOST_PLACES)));
    });
  }

  /**
   * Where one is and was in the view that is shown. A view takes it once, when it begins: what it tells later counts for
   * itself alone, also when one has just left it.
   */
  spot() {
    const { key } = this.state;
    const places = this.#places;
    const tell = (/** @type {{place?: unknown, left?: string}} */ told) => {
      const before = places.get(key);
      places.delete(key);
      places.set(key, { ...before, ...told });
    };
    return {
      place: places.get(key)?.place,
      left: places.get(key)?.left ?? '',
      setPlace: (/** @type {unknown} */ place) => tell({ place }),
      setLeft: (/** @type {string} */ left) => tell({ left }),
      /** Says in the address on which line one is. */
      noteLine: (/** @type {number} */ line) => {
        const { route } = this.state;
        if (this.state.key !== key || route.line === line || (line === 1 && route.line === 0)) return;
        route.line = line;
        history.replaceState(history.state, '', address(route));
      },
    };
  }

  /**
   * @param {Partial<Route> & {view: Route['view']}} route
   * @param {{replace?: boolean}} [how]
   */
  go(route, { replace = false } = {}) {
    if (replace) history.replaceState({ depth: this.#depth }, '', address(route));
    else history.pushState(null, '', address(route));
    this.#look();
  }

  /**
   * Goes back where one came from, or up where one came from outside.
   * @param {Partial<Route> & {view: Route['view']}} up
   */
  back(up) {
    if (this.#depth > 0) history.back();
    else this.go(up, { replace: true });
  }

  #look() {
    if (location.hash.startsWith('#pair=')) {
      // A code must not stay where others can read it.
      this.offered = location.href;
      history.replaceState(history.state, '', '#/pair');
      this.onPairing(this.offered);
    }
    const known = /** @type {{key?: string, depth?: number} | null} */ (history.state);
    const key = known?.key ?? Math.random().toString(36).slice(2);
    const depth = known?.depth ?? this.#depth + 1;
    if (known?.key !== key) history.replaceState({ key, depth }, '');
    this.#depth = depth;
    this._set({ route: parseAddress(location.hash), key });
  }
}

/** @returns {[string, {place?: unknown, left?: string}][]} */
function readPlaces() {
  try {
    return JSON.parse(sessionStorage.getItem(PLACES) ?? '[]');
  } catch {
    return [];
  }
}
