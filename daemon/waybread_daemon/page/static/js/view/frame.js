// What stands around every view: where one is, the way back, and how the link is.

import { h } from '../../vendor/preact/preact.module.js';
import { useEffect, useLayoutEffect, useRef, useState } from '../../vendor/preact/hooks.module.js';
import { clock, duration } from './format.js';
import { icon } from './icons.js';
import { address } from './routes.js';
import { useAround, useModel, useNow, useSpot } from './use.js';

/** @typedef {import('../core/home.js').Home} Home */
/** @typedef {import('../core/types.js').HomeState} HomeState */
/** @typedef {import('./routes.js').Route} Route */
/** @typedef {import('../../vendor/preact/preact.module.js').ComponentChildren} Children */

/** A link that breaks for a moment is no news. */
const TELL_AFTER_MS = 700;
const REFOCUS_AFTER_MS = 50;

/**
 * `up`: where back leads when one came from outside. `below`: what stands under the title.
 * @param {{title: string, up?: Partial<Route> & {view: Route['view']}, home?: Home | null, actions?: Children,
 *   below?: Children, children?: Children}} props
 */
export function Frame({ title, up, home, actions, below, children }) {
  const { router, household } = useAround();
  const spot = useSpot();
  /** @type {{current: HTMLElement | null}} */
  const head = useRef(null);
  /** @type {{current: HTMLElement | null}} */
  const main = useRef(null);
  useLayoutEffect(() => {
    document.title = title === 'Waybread' ? title : `${title} · Waybread`;
  }, [title]);
  useEffect(() => {
    // On the first view the browser's own order holds. Back where one was, the link that one left by has the focus.
    if (arrived) head.current?.focus({ preventScroll: true });
    arrived = true;
    if (spot.left === '') return undefined;
    const timer = setTimeout(() => {
      const left = main.current?.querySelector(`a[href="${CSS.escape(spot.left)}"]`);
      if (left instanceof HTMLElement) left.focus({ preventScroll: true });
    }, REFOCUS_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  const leave = (/** @type {MouseEvent} */ event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#/"]') : null;
    if (link !== null) spot.setLeft(link.getAttribute('href') ?? '');
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
      h('div', { class: 'titles' }, h('h1', { ref: head, tabIndex: -1, dir: 'auto' }, title), below),
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
  const { link } = state;
  const now = useNow();
  const [told, tell] = useState(false);
  const linked = link.kind === 'linked';
  useEffect(() => {
    const timer = setTimeout(() => tell(!linked), linked ? 0 : TELL_AFTER_MS);
    return () => clearTimeout(timer);
  }, [linked]);
  const sentence = sentenceOf(state);
  const shown = told && sentence !== '';
  return h(
    'div',
    { class: `link-state ${shown ? `banner ${link.kind}` : ''}` },
    h('span', { role: 'status', 'aria-live': 'polite' }, shown ? sentence : linked ? h('span', { class: 'unseen' }, 'Linked') : ''),
    // Changes every minute, which nobody wants to have read out.
    shown ? h('span', { class: 'age' }, ` ${ageOf(state, now)}`) : null,
  );
}

/** @param {HomeState} state */
function sentenceOf({ link }) {
  if (link.kind === 'reconnecting') return `Reconnecting since ${clock(link.since_ms)}.`;
  if (link.kind === 'offline') return `Offline since ${clock(link.since_ms)}.`;
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
