// The address bar: which view is shown, and where in it one was. All of it is behind the `#`, which no server is told.

import { resultId } from '../core/texts.js';
import { Observable } from '../core/observable.js';
import { allowed } from '../core/surroundings.js';

/**
 * Where a person is. What does not apply is empty or 0. `pairing`: its id, where there are several. `number`: that of a
 * result, also 0 where its address has no id. `line`: where to begin in it. `seq`: the entry whose text is shown as it was
 * sent, or what its tool was asked.
 * @typedef {{view: 'sessions' | 'pair' | 'settings' | 'transcript' | 'result' | 'sent' | 'asked' | 'files', pairing: string,
 *   session: string, number: number, seq: number, line: number}} Route
 */

/** @type {Route} */
const HOME = { view: 'sessions', pairing: '', session: '', number: 0, seq: 0, line: 0 };

/**
 * @param {Partial<Route> & {view: Route['view'], most?: number}} given
 * @returns {string} `#/…`
 */
export function address(given) {
  const { view, pairing, session, number, seq, line } = { ...HOME, ...given };
  if (view === 'pair' || view === 'settings') return `#/${view}`;
  const prefix = pairing === '' ? '#/' : `#/d/${encodeURIComponent(pairing)}/`;
  if (view === 'sessions') return prefix;
  const at = `${prefix}s/${encodeURIComponent(session)}`;
  const from = line > 1 ? `?line=${line}` : '';
  if (view === 'result') return `${at}/r/${resultId(number).slice(1)}${from}`;
  if (view === 'sent') return `${at}/e/${seq}${from}`;
  if (view === 'asked') return `${at}/a/${seq}${from}`;
  return view === 'files' ? `${at}/files` : at;
}

/**
 * @param {string} hash as the browser has it
 * @returns {Route} the sessions, where it is no address of a view
 */
export function parseAddress(hash) {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?');
  const parts = path.split('/').map(decoded);
  const pairing = parts[0] === 'd' ? (parts[1] ?? '') : '';
  const [first, session = '', what, which = ''] = parts[0] === 'd' ? parts.slice(2) : parts;
  const home = { ...HOME, pairing };
  if (first === 'pair' || first === 'settings') return { ...HOME, view: first };
  if (first !== 's' || session === '') return home;
  const at = { ...home, session, line: positive(new URLSearchParams(query).get('line')) };
  // As recall takes it: the number decides, not how it is written. The view says where it is no id.
  const number = positive(`0x${which.trim().replace(/^#/, '')}`);
  if (what === 'r' && which !== '') return { ...at, view: 'result', number };
  const seq = positive(which);
  if (what === 'e' && seq > 0) return { ...at, view: 'sent', seq };
  if (what === 'a' && seq > 0) return { ...at, view: 'asked', seq };
  return { ...at, view: what === 'files' ? 'files' : 'transcript', line: 0 };
}

/** @param {string | null} text that is to be a whole number from 1; else it is 0 */
function positive(text) {
  const number = Number(text);
  return Number.isSafeInteger(number) && number > 0 ? number : 0;
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const PLACES = 'waybread-places';
const MOST_PLACES = 60;

/**
 * The link that one left a view by: in which item of a list, and which of those that lead there.
 * @typedef {{key: string, href: string, at: number}} Left
 */

/**
 * `key` is that of the entry in the browser's history.
 * @extends {Observable<{route: Route, key: string}>}
 */
export class Router extends Observable {
  /** Where one was in each view of the history, and what one left it by. @type {Map<string, {place?: any, left?: Left}>} */
  #places = new Map(allowed(() => JSON.parse(sessionStorage.getItem(PLACES) ?? '[]')));
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
      if (this.#places.size > 0) {
        allowed(() => sessionStorage.setItem(PLACES, JSON.stringify([...this.#places].slice(-MOST_PLACES))));
      }
    });
  }

  /** Nothing is known any more of where one was. */
  forget() {
    this.#places = new Map();
    this.go({ view: 'sessions' }, { replace: true });
  }

  /**
   * Where one is and was in the view that is shown. A view takes it once, when it begins: what it tells later counts for
   * itself alone, also when one has just left it.
   */
  spot() {
    const { key } = this.state;
    const places = this.#places;
    const tell = (/** @type {{place?: unknown, left?: Left}} */ told) => {
      const before = places.get(key);
      places.delete(key);
      places.set(key, { ...before, ...told });
    };
    return {
      place: places.get(key)?.place,
      left: places.get(key)?.left ?? null,
      setPlace: (/** @type {unknown} */ place) => tell({ place }),
      setLeft: (/** @type {Left} */ left) => tell({ left }),
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
    const route = parseAddress(location.hash);
    // One that leads nowhere becomes that of what is shown.
    const right = location.hash === '' ? '' : address(route);
    if (known?.key !== key || location.hash !== right) history.replaceState({ key, depth }, '', right || null);
    this.#depth = depth;
    this._set({ route, key });
  }
}
