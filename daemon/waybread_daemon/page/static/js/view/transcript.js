// A session as it goes on: its turns, what was said and what the tools gave.

import { h } from '../../vendor/preact/preact.module.js';
import { useEffect, useMemo, useRef, useState } from '../../vendor/preact/hooks.module.js';
import { card, cardHeight, isShown } from './entry.js';
import { Frame, icon, NOT_KEPT, Notice, useAround, useModel, useMostResults, useSpot, Waiting } from './frame.js';
import { address } from './router.js';
import { number, plain } from './text.js';
import { VirtualList } from './virtual_list.js';

/** @typedef {import('../core/types.js').Entry} Entry */
/** @typedef {import('../core/home.js').Home} Home */
/** @typedef {import('../core/transcript.js').SessionModel} SessionModel */
/** @typedef {import('./router.js').Route} Route */
/** @typedef {import('./virtual_list.js').ListPlace} ListPlace */

const ANNOUNCE_EVERY_MS = 8000;
/** Which long texts are shown whole, as long as a session is open. @type {WeakMap<SessionModel, Set<number>>} */
const unfoldedOf = new WeakMap();
const seqOf = (/** @type {Entry} */ entry) => entry.seq;
/** Stands ahead of the first entry where that is not the session's first. */
const BEFORE = /** @type {Entry} */ ({ seq: 0, kind: '', text: '' });

/** @param {{home: Home, route: Route, model: SessionModel}} props */
export function Transcript({ home, route, model }) {
  const { household } = useAround();
  const { row } = useModel(model);
  const { wrap } = useModel(household);
  const up = { view: /** @type {const} */ ('sessions'), pairing: route.pairing };
  const title = row === null || row.title === '' ? route.session : row.title;
  return h(
    Frame,
    {
      title,
      up,
      home,
      below:
        row === null || row.directory === ''
          ? null
          : h('p', { class: 'sub', dir: 'ltr' }, h('span', null, plain(row.directory))),
      actions: [
        h(
          'button',
          {
            class: 'tool',
            'aria-pressed': wrap,
            'aria-label': 'Wrap lines',
            title: 'Wrap lines',
            onClick: () => household.setWrap(!wrap),
          },
          icon('wrap'),
        ),
        h(
          'a',
          {
            class: 'tool',
            href: address({ ...route, view: 'files' }),
            'aria-label': 'Files read',
            title: 'Files read',
          },
          icon('files'),
        ),
      ],
    },
    h(Entries, { home, model, pairing: route.pairing, wrap }),
  );
}

/** @param {{home: Home, model: SessionModel, pairing: string, wrap: boolean}} props */
function Entries({ home, model, pairing, wrap }) {
  const spot = useSpot();
  const { away } = useModel(home);
  const { session, entries, has_older, taken_back, loading, problem, row } = useModel(model);
  const [unfolded, setUnfolded] = useState(unfoldedOf.get(model) ?? new Set());
  /** @type {{current: VirtualList<Entry> | null}} */
  const list = useRef(null);
  const items = useMemo(() => [...(has_older ? [BEFORE] : []), ...entries.filter(isShown)], [entries, has_older]);
  const most = useMostResults(entries, row?.results ?? 0);
  const where = useMemo(() => ({ pairing, session, most }), [pairing, session]);
  // A text tells of results that were there before it: what is shown already does not change when more come.
  where.most = most;
  const look = useMemo(() => {
    const unfold = (/** @type {Entry} */ { seq }) => {
      const next = new Set(unfolded);
      if (!next.delete(seq)) next.add(seq);
      unfoldedOf.set(model, next);
      setUnfolded(next);
    };
    return { where, taken_back, unfolded, wrap, unfold };
  }, [where, taken_back, unfolded, wrap, away]);
  // What came since one last was at the end.
  const last = items.at(-1)?.seq ?? 0;
  const [seen, setSeen] = useState(/** @type {number | null} */ (spot.place?.seen ?? null));
  const place = useRef(/** @type {ListPlace | undefined} */ (spot.place));
  const isAtEnd = place.current === undefined || place.current.end;
  const fresh = seen === null ? 0 : countAfter(items, seen);
  const onPlace = (/** @type {ListPlace} */ next) => {
    place.current = next;
    const now = next.end ? null : (seen ?? last);
    spot.setPlace({ ...next, seen: now });
    setSeen(now);
  };
  if (items.length === 0) {
    return loading && problem === '' ? h(Waiting, { home }) : h(Notice, null, problem || 'Nothing was said yet.');
  }
  return h(
    'div',
    { class: 'stage' },
    problem === '' ? null : h('p', { class: 'banner', role: 'alert' }, problem),
    h(/** @type {any} */ (VirtualList), {
      key: session,
      items,
      keyOf: seqOf,
      estimate: cardHeight,
      render: (/** @type {Entry} */ entry) =>
        entry === BEFORE
          ? h('p', { class: 'rule' }, away ? NOT_KEPT : 'Loading what was before…')
          : card(entry, look),
      look,
      label: 'Transcript',
      end: true,
      from: has_older ? null : 0,
      lead: has_older,
      whole: !has_older,
      place: spot.place,
      onPlace,
      onNearStart: () => void model.loadOlder(),
      control: list,
    }),
    h(
      'button',
      { class: 'to-end', hidden: isAtEnd, onClick: () => list.current?.toEnd() },
      fresh === 0 ? 'To the end' : `${number(fresh)} new`,
      icon('down'),
    ),
    h(Announced, { last, items }),
  );
}

/**
 * Tells those who do not see it that something came, not too often.
 * @param {{last: number, items: Entry[]}} props
 */
function Announced({ last, items }) {
  const [text, tell] = useState('');
  const told = useRef(last);
  const now = useRef(items);
  now.current = items;
  useEffect(() => {
    if (told.current === last) return undefined;
    const timer = setTimeout(() => {
      const count = countAfter(now.current, told.current);
      told.current = now.current.at(-1)?.seq ?? 0;
      tell(count === 1 ? 'One new entry' : `${count} new entries`);
    }, ANNOUNCE_EVERY_MS);
    return () => clearTimeout(timer);
  }, [last > told.current]);
  return h('p', { class: 'unseen', role: 'status', 'aria-live': 'polite' }, text);
}

/**
 * @param {Entry[]} items
 * @param {number} seq
 */
function countAfter(items, seq) {
  let count = 0;
  while (count < items.length && /** @type {Entry} */ (items[items.length - 1 - count]).seq > seq) count += 1;
  return count;
}
