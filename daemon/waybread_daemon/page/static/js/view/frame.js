// What all views share: how they look at models, and what stands around each: where one is, the way back, the link.

import { createContext, h } from '../../vendor/preact/preact.module.js';
import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../../vendor/preact/hooks.module.js';
import { resultNumber, visible } from '../core/texts.js';
import { SAYS } from '../core/wire.js';
import { duration, plain, since } from './text.js';
import { address } from './router.js';

/** @typedef {import('../core/home.js').Home} Home */
/** @typedef {import('../core/types.js').Entry} Entry */
/** @typedef {import('../core/types.js').HomeState} HomeState */
/** @typedef {import('./router.js').Route} Route */
/** @typedef {import('../../vendor/preact/preact.module.js').ComponentChildren} Children */
/** @typedef {import('./router.js').Router} Router */
/** @typedef {import('./household.js').Household} Household */

/** @type {import('../../vendor/preact/preact.module.js').Context<{router: Router, household: Household}>} */
const Around = createContext(/** @type {any} */ (null));
export const Provide = Around.Provider;

/** The address bar and what is open. */
export function useAround() {
  return useContext(Around);
}

/** Where one is in the view that is shown, as long as it is. */
export function useSpot() {
  const { router } = useAround();
  return useMemo(() => router.spot(), [router]);
}

/** @type {Set<() => void>} */
const waiting = new Set();

/**
 * Calls at the next frame, once however often it is asked: however much comes, a view is made once a frame.
 * @param {() => void} run
 */
function atFrame(run) {
  if (waiting.size === 0) {
    requestAnimationFrame(() => {
      const now = [...waiting];
      waiting.clear();
      for (const one of now) one();
    });
  }
  waiting.add(run);
}

/**
 * The state of a model, made anew when that changes.
 * @template {object} S
 * @param {import('../core/observable.js').Observable<S>} model
 * @returns {Readonly<S>}
 */
export function useModel(model) {
  const [, again] = useState(0);
  useLayoutEffect(() => {
    const seen = model.state;
    const tell = () => again((count) => count + 1);
    const end = model.subscribe(() => atFrame(tell));
    if (model.state !== seen) atFrame(tell);
    return () => {
      waiting.delete(tell);
      end();
    };
  }, [model]);
  return model.state;
}

/** The time, every half minute. */
function useNow() {
  const [now, set] = useState(Date.now());
  useLayoutEffect(() => {
    const timer = setInterval(() => set(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/**
 * The last number that the session has given, as far as one knows.
 * @param {Entry[]} entries
 * @param {number} results as the list has it
 */
export function useMostResults(entries, results) {
  return useMemo(() => {
    for (let at = entries.length - 1; at >= 0; at -= 1) {
      const number = resultNumber(entries[at]?.result ?? '');
      if (number > 0) return Math.max(number, results);
    }
    return results;
  }, [entries, results]);
}

const REFOCUS_AFTER_MS = 50;
const REFOCUS_LOOKS = 100;

/**
 * `up`: where back leads when one came from outside. `home`: whose link is told of, if not that of the one looked at last.
 * `below`: what stands under the title.
 * @param {{title: string, up?: Partial<Route> & {view: Route['view']}, home?: Home | null, actions?: Children,
 *   below?: Children, children?: Children}} props
 */
export function Frame({ title, up, home: given, actions, below, children }) {
  const { router, household } = useAround();
  const home = given === undefined ? household.looked : given;
  const spot = useSpot();
  /** @type {{current: HTMLElement | null}} */
  const head = useRef(null);
  /** @type {{current: HTMLElement | null}} */
  const main = useRef(null);
  useLayoutEffect(() => {
    const shown = visible(title).map((piece) => piece.text);
    document.title = `${shown.join('')} · Waybread`;
  }, [title]);
  useEffect(() => {
    // On the first view the browser's own order holds. Back where one was, the link that one left by has the focus.
    if (arrived) head.current?.focus({ preventScroll: true });
    arrived = true;
    if (spot.left === null) return undefined;
    const { key, href, at } = spot.left;
    // The link is there when what is kept was read, or the daemon has answered.
    let looks = 0;
    const timer = setInterval(() => {
      const within = key === '' ? main.current : main.current?.querySelector(`[data-key="${CSS.escape(key)}"]`);
      const links = within?.querySelectorAll(`a[href="${CSS.escape(href)}"]`);
      const link = /** @type {HTMLElement | undefined} */ (links?.[at]);
      const elsewhere = ![head.current, document.body].includes(/** @type {any} */ (document.activeElement));
      if (link !== undefined && !elsewhere) link.focus({ preventScroll: true });
      if (link !== undefined || elsewhere || ++looks > REFOCUS_LOOKS) clearInterval(timer);
    }, REFOCUS_AFTER_MS);
    return () => clearInterval(timer);
  }, []);
  const leave = (/** @type {MouseEvent} */ event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#/"]') : null;
    if (link === null) return;
    const slot = /** @type {HTMLElement | null} */ (link.closest('[data-key]'));
    const href = link.getAttribute('href') ?? '';
    const alike = [
      ...(slot ?? /** @type {HTMLElement} */ (main.current)).querySelectorAll(`a[href="${CSS.escape(href)}"]`),
    ];
    spot.setLeft({ key: slot?.dataset['key'] ?? '', href, at: alike.indexOf(link) });
  };
  const { updated } = useModel(household);
  return h(
    'div',
    { class: 'frame' },
    h('button', { class: 'skip', onClick: () => main.current?.focus() }, 'Skip to the content'),
    h(
      'header',
      { class: 'top' },
      up === undefined
        ? null
        : h(
            'a',
            {
              class: 'tool back',
              href: address(up),
              'aria-label': 'Back',
              onClick: (/** @type {MouseEvent} */ event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                event.preventDefault();
                router.back(up);
              },
            },
            icon('back'),
          ),
      h('div', { class: 'titles' }, h('h1', { ref: head, tabIndex: -1, dir: 'auto' }, plain(title)), below),
      actions,
      home == null ? null : h(LinkDot, { home, key: home.pairing.id }),
    ),
    home == null ? null : h(LinkBanner, { home, key: home.pairing.id }),
    updated
      ? h(
          'div',
          { class: 'banner', role: 'status' },
          'A newer version of this page is there. ',
          h('button', { class: 'inline', onClick: () => location.reload() }, 'Load it'),
        )
      : null,
    h('main', { ref: main, tabIndex: -1, 'aria-label': title, onClick: leave }, children),
  );
}

let arrived = false;

/** @param {{home: Home}} props */
function LinkDot({ home }) {
  const { link, as_of_ms } = useModel(home);
  const live = link.kind === 'linked' && as_of_ms === null;
  return h('span', { class: `dot ${live ? 'live' : link.kind}`, 'aria-hidden': 'true' }, live ? 'live' : '');
}

/** @param {{home: Home}} props */
function LinkBanner({ home }) {
  const state = useModel(home);
  const { link, away } = state;
  const now = useNow();
  const linked = link.kind === 'linked';
  const sentence = sentenceOf(state);
  const shown = away && sentence !== '';
  return h(
    'div',
    { class: `link-state ${shown ? `banner ${link.kind}` : ''}`, ...(shown ? { role: 'region', 'aria-label': 'Link' } : {}) },
    h(
      'span',
      { role: 'status', 'aria-live': 'polite' },
      shown ? sentence : linked ? h('span', { class: 'unseen' }, 'Linked') : '',
    ),
    // Changes every minute, which nobody wants to have read out.
    shown ? h('span', { class: 'age' }, ` ${ageOf(state, now)}`) : null,
  );
}

/** @param {HomeState} state */
function sentenceOf({ link }) {
  // A reason of the daemon's own is no matter of the network, which comes and goes by itself.
  const why = link.why.startsWith(SAYS) ? ` ${link.why}` : '';
  if (link.kind === 'reconnecting') return `Reconnecting since ${since(link.since_ms)}.${why}`;
  if (link.kind === 'offline') return `Offline since ${since(link.since_ms)}.`;
  return link.kind === 'refused' ? link.why : '';
}

/**
 * @param {HomeState} state
 * @param {number} now
 */
function ageOf({ as_of_ms }, now) {
  if (as_of_ms === null) return '';
  if (as_of_ms === 0) return 'Nothing was loaded yet.';
  return `What you see is ${duration(Math.max(now - as_of_ms, 0))} old.`;
}

/** @param {{children?: Children}} props */
export function Notice({ children }) {
  return h('p', { class: 'notice', role: 'status' }, children);
}

/** What stands where something would, if there were a link. It comes by itself when there is one. */
export const NOT_KEPT = 'Not kept here: it needs the link.';

/** In the place of what is on its way. @param {{home: Home}} props */
export function Waiting({ home }) {
  return h(Notice, null, useModel(home).away ? NOT_KEPT : 'Loading…');
}

/** Small pictures, made of lines. */
const PATHS = {
  back: 'M15 5l-7 7 7 7',
  files: 'M6 3h8l4 4v14H6zM14 3v4h4',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M13 5v4M7 15v4',
  search: 'M11 4a7 7 0 1 0 0 14a7 7 0 0 0 0-14M16 16l5 5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  wrap: 'M4 6h16M4 12h13a3 3 0 0 1 0 6h-4M15 15l-3 3 3 3M4 18h4',
  up: 'M6 15l6-6 6 6',
  down: 'M6 9l6 6 6-6',
  close: 'M6 6l12 12M18 6L6 18',
  line: 'M5 5v14M9 12h11M16 8l4 4-4 4',
};

/** @param {keyof typeof PATHS} name */
export function icon(name) {
  return h(
    'svg',
    { class: `icon ${name}`, viewBox: '0 0 24 24', 'aria-hidden': 'true' },
    h('path', { d: PATHS[name] }),
  );
}
