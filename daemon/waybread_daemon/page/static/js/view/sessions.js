// The sessions of a device, last changed first.

import { h } from '../../vendor/preact/preact.module.js';
import { useEffect, useMemo, useRef, useState } from '../../vendor/preact/hooks.module.js';
import { WireError } from '../core/frames.js';
import { Frame, icon, Notice, useAround, useModel, useSpot, Waiting } from './frame.js';
import { address } from './router.js';
import { counted, plain, size, when } from './text.js';
import { VirtualList } from './virtual_list.js';

/** @typedef {import('../core/types.js').SessionRow} SessionRow */
/** @typedef {import('../core/home.js').Home} Home */
/** @typedef {import('./router.js').Route} Route */

const ROW_PX = 92;
const nameOf = (/** @type {SessionRow} */ row) => row.session;
const rowHeight = () => ROW_PX;

/** @param {{home: Home, route: Route}} props */
export function Sessions({ home, route }) {
  const { household } = useAround();
  const { pairings } = useModel(household);
  const pairing = pairings.find((one) => one.id === home.pairing.id) ?? home.pairing;
  return h(
    Frame,
    {
      title: household.called(pairing),
      home,
      actions: h(
        'a',
        { class: 'tool', href: address({ view: 'settings' }), 'aria-label': 'Settings', title: 'Settings' },
        icon('settings'),
      ),
    },
    h(Devices, { now: home.pairing.id }),
    h(List, { home, pairing: route.pairing, key: home.pairing.id }),
  );
}

/** Leads to those that this browser is paired with. @param {{now: string}} props the id of the one that is looked at */
export function Devices({ now }) {
  const { household } = useAround();
  const { pairings } = useModel(household);
  if (pairings.length < 2) return null;
  return h(
    'nav',
    { class: 'tabs', 'aria-label': 'Devices' },
    pairings.map((one) =>
      h(
        'a',
        {
          key: one.id,
          href: address({ view: 'sessions', pairing: one.id }),
          'aria-current': one.id === now ? 'page' : undefined,
        },
        household.called(one),
      ),
    ),
  );
}

/** @param {{home: Home, pairing: string}} props */
function List({ home, pairing }) {
  const spot = useSpot();
  const { sessions, loaded_all, loading, as_of_ms, away } = useModel(home);
  // Before the log is followed nothing comes of asking, and the list, made anew, would ask again without end.
  const live = as_of_ms === null;
  const kept = spot.place;
  const [sought, seek] = useState(String(kept?.sought ?? ''));
  const [problem, tell] = useState('');
  const [loadingMore, setLoadingMore] = useState(false);
  const busy = useRef(false);
  const words = plainOf(sought).trim();
  const found = useMemo(
    () => (words === '' ? sessions : sessions.filter((row) => says(row, words))),
    [sessions, words],
  );
  const loadMore = async () => {
    if (busy.current || loaded_all || !live) return;
    busy.current = true;
    setLoadingMore(true);
    try {
      await home.moreSessions();
      tell('');
    } catch (fault) {
      if (!(fault instanceof WireError)) throw fault;
      tell(fault.message);
    } finally {
      busy.current = false;
      setLoadingMore(false);
    }
  };
  useEffect(() => {
    // What is sought may be among those that were not loaded yet.
    if (words !== '' && problem === '') void loadMore();
  }, [words, sessions.length, loaded_all, live]);
  const older = away && !loaded_all && sessions.length > 0;
  const items = useMemo(() => (older ? [...found, OLDER] : found), [found, older]);
  const empty =
    words !== '' ? (loadingMore ? 'Looking through older ones…' : 'No session has that in its title.') : NO_SESSIONS;
  return h(
    'div',
    { class: 'stage' },
    h(
      'form',
      { class: 'panel', role: 'search', onSubmit: (/** @type {Event} */ event) => event.preventDefault() },
      h('input', {
        type: 'search',
        'aria-label': 'Search by title',
        placeholder: 'Search by title',
        autocomplete: 'off',
        value: sought,
        onInput: (/** @type {Event} */ event) => {
          const { value } = /** @type {HTMLInputElement} */ (event.target);
          seek(value);
          spot.setPlace({ key: null, px: 0, end: false, sought: value });
        },
      }),
    ),
    problem === '' ? null : h('p', { class: 'banner', role: 'alert' }, problem),
    items.length === 0
      ? loading && sessions.length === 0
        ? h(Waiting, { home })
        : h(Notice, null, empty)
      : h(/** @type {any} */ (VirtualList), {
          key: words,
          items,
          keyOf: nameOf,
          estimate: rowHeight,
          render: (/** @type {SessionRow} */ row) =>
            row === OLDER
              ? h('p', { class: 'rule' }, 'Older ones are not kept here: they need the link.')
              : h(SessionLink, { row, pairing }),
          look: pairing,
          label: 'Sessions',
          from: 0,
          whole: loaded_all,
          place: kept?.sought === undefined || kept.sought === sought ? kept : undefined,
          onPlace: (/** @type {object} */ place) => spot.setPlace({ ...place, sought }),
          onNearEnd: () => {
            if (words === '') void loadMore();
          },
        }),
    loadingMore ? h('p', { class: 'over low', role: 'status' }, 'Loading older ones…') : null,
  );
}

/** Stands at the end of those that are kept. */
const OLDER = /** @type {SessionRow} */ ({ session: '' });
const NO_SESSIONS =
  'This device has no sessions yet. To see those of another one, pair with it: waybread pair --role viewer --device ID.';

/** @param {string} text however its letters are put together */
function plainOf(text) {
  return text.normalize().toLowerCase();
}

/**
 * @param {SessionRow} row
 * @param {string} words as `plainOf` gives them
 */
function says(row, words) {
  return plainOf(row.title || row.session).includes(words);
}

/** @param {{row: SessionRow, pairing: string}} props */
function SessionLink({ row, pairing }) {
  const { session, title, directory, results, last_line, raw_bytes, changed_ms } = row;
  return h(
    'a',
    { class: 'session', href: address({ view: 'transcript', pairing, session }) },
    h(
      'span',
      { class: 'head' },
      h('span', { class: 'title', dir: 'auto' }, plain(title || session)),
      h('time', { dateTime: new Date(changed_ms).toISOString() }, when(changed_ms)),
    ),
    last_line === '' ? null : h('span', { class: 'last', dir: 'auto' }, plain(last_line)),
    h(
      'span',
      { class: 'facts' },
      directory === '' ? null : h('span', { class: 'directory', dir: 'ltr' }, plain(directory)),
      h('span', null, counted(results, 'result')),
      raw_bytes === 0 ? null : h('span', null, size(raw_bytes)),
    ),
  );
}
