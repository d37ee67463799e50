// A result in full, behind its id; or a text of the transcript as it was sent, or what its tool was asked.

import { h } from '../../vendor/preact/preact.module.js';
import { useEffect, useMemo, useRef, useState } from '../../vendor/preact/hooks.module.js';
import { resultId } from '../core/texts.js';
import { ResultWindows } from '../core/result.js';
import { CopyBar, FindBar, Finding, LineBar } from './bars.js';
import { allAskedFor, askedFor } from './entry.js';
import { counted, number as written, plain } from './text.js';
import { Frame, icon, NOT_KEPT, Notice, useAround, useModel, useMostResults, useSpot, Waiting } from './frame.js';
import { Rows } from './rows.js';
import { address } from './router.js';

/** @typedef {import('../core/types.js').Entry} Entry */
/** @typedef {import('../core/home.js').Home} Home */
/** @typedef {import('../core/transcript.js').SessionModel} SessionModel */
/** @typedef {import('./router.js').Route} Route */
/** @typedef {import('../core/types.js').Request} Request */

const CHANGES = new Set(['edit', 'multiedit', 'apply_patch', 'write']);
const NOTE_AFTER_MS = 500;

/** @param {{home: Home, route: Route, model: SessionModel}} props */
export function Result({ home, route, model }) {
  const { link } = useModel(home);
  const { entries, loading } = useModel(model);
  const [older, setOlder] = useState(/** @type {Entry | undefined} */ (undefined));
  const [seq, setSeq] = useState(0);
  const id = resultId(route.number);
  const entry = useMemo(() => entries.find((one) => one.result === id), [entries, id]) ?? older;
  const load = async () => {
    const source = home.results(route.session, route.number);
    await source.lines(Math.max(route.line, 1), 1);
    setSeq(source.meta.seq);
    return source;
  };
  useEffect(() => {
    // Its lines are there without it; where there is no link it is asked for again when there is one.
    if (!entry && !loading && seq > 0) model.entry(seq).then((one) => one.result === id && setOlder(one), () => {});
  }, [link, loading, seq]);
  return h(Lines, { home, route, model, entry, name: id, ready: true, load });
}

/** @param {{home: Home, route: Route, model: SessionModel}} props */
export function Sent({ home, route, model }) {
  const { entries, loading } = useModel(model);
  const [older, setOlder] = useState(/** @type {Entry | undefined} */ (undefined));
  const entry = useMemo(() => entries.find((one) => one.seq === route.seq), [entries, route.seq]) ?? older;
  const load = async () => {
    const one = entry ?? (await model.entry(route.seq));
    setOlder(one);
    return textSource(route.view === 'asked' ? allAskedFor(one) : await model.fullText(one));
  };
  const name = `${entry?.result || 'Text'} as ${route.view}`;
  return h(Lines, { home, route, model, entry, name, ready: !loading || entry !== undefined, load });
}

/**
 * `ready`: whether it can be loaded yet. Without a link it is tried again when there is one.
 * @param {{home: Home, route: Route, model: SessionModel, entry: Entry | undefined, name: string, ready: boolean,
 *   load: () => Promise<ResultWindows>}} props
 */
function Lines({ home, route, model, entry, name, ready, load }) {
  const { household } = useAround();
  const { link } = useModel(home);
  const { wrap } = useModel(household);
  const { entries, row } = useModel(model);
  const [source, setSource] = useState(/** @type {ResultWindows | null} */ (null));
  const [problem, tell] = useState('');
  const most = useMostResults(entries, row?.results ?? 0);
  useEffect(() => {
    if (source !== null || !ready) return undefined;
    let left = false;
    load().then(
      (loaded) => {
        if (left) return;
        tell('');
        setSource(loaded);
      },
      (fault) => !left && tell(isLost(fault) ? '' : sentenceOf(fault, name)),
    );
    return () => {
      left = true;
    };
    // One that was not there yet comes with its entry.
  }, [link, ready, entry?.seq]);
  const tool = source?.meta.tool || entry?.tool || (entry?.kind === 'recall' ? 'recall' : '');
  const asked = entry === undefined ? '' : askedFor(entry);
  const lines = source?.meta.lines ?? null;
  const changes = entry === undefined ? CHANGES.has(tool) : entry.body === 'change' && !entry.error;
  const diff = changes && route.view !== 'asked';
  const { session, pairing } = route;
  const as = (/** @type {'sent' | 'asked'} */ view) =>
    entry === undefined || view === route.view || (view === 'asked' && asked === '')
      ? null
      : h('a', { href: address({ ...route, view, seq: entry.seq, line: 0 }) }, `as ${view}`);
  return h(
    Frame,
    {
      title: tool === '' ? name : `${name} ${tool}`,
      up: { view: 'transcript', pairing, session },
      home,
      below: h(
        'p',
        { class: 'sub' },
        asked === '' ? null : h('span', { class: 'code', dir: 'ltr' }, plain(asked)),
        lines === null ? null : h('span', null, counted(lines, 'line')),
        as('sent'),
        as('asked'),
      ),
    },
    problem !== ''
      ? h(Notice, null, problem)
      : source === null || lines === null
        ? h(Waiting, { home })
        : h(Shown, { home, source, count: lines, route, wrap, most, diff }),
  );
}

/**
 * @param {{home: Home, source: ResultWindows, count: number, route: Route, wrap: boolean, most: number,
 *   diff: boolean}} props
 */
function Shown({ home, source, count, route, wrap, most, diff }) {
  const { household } = useAround();
  const { link, away } = useModel(home);
  const spot = useSpot();
  const finding = useMemo(() => new Finding(source), [source]);
  const { text } = useModel(finding);
  const [open, setOpen] = useState(/** @type {'find' | 'line' | 'copy' | ''} */ (''));
  const [seen, setSeen] = useState(/** @type {[number, number, boolean]} */ ([1, 1, true]));
  const [problem, tell] = useState('');
  /** @type {{current: Rows | null}} */
  const rows = useRef(null);
  const noting = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const { pairing, session } = route;
  const where = useMemo(() => ({ pairing, session, most }), [pairing, session, most]);
  const start = useMemo(() => spot.place ?? { line: Math.max(route.line, 1), px: 0 }, []);
  const current = finding.current;
  useEffect(() => () => finding.stop(), [finding]);
  useEffect(() => () => clearTimeout(noting.current), []);
  useEffect(() => {
    if (current !== undefined && rows.current !== null) rows.current.toSight(current.line);
  }, [current]);
  useEffect(() => tell(''), [link]);
  const [first, last, whole] = seen;
  /** @type {import('./rows.js').RowsProps['onSeen']} */
  const onSeen = (from, to, px, all) => {
    spot.setPlace({ line: from, px });
    clearTimeout(noting.current);
    noting.current = setTimeout(() => spot.noteLine(from), NOTE_AFTER_MS);
    setSeen((now) => (now[0] === from && now[1] === to && now[2] === all ? now : [from, to, all]));
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape' || open === '') return;
    event.preventDefault();
    if (finding.state.running) {
      finding.stop();
      return;
    }
    /** @type {HTMLElement | null} */
    const opener = /** @type {HTMLElement} */ (event.currentTarget).querySelector('[aria-expanded=true]');
    opener?.focus();
    opener?.click();
  };
  if (count === 0) return h(Notice, null, 'It is empty.');
  /** @type {(what: typeof open, name: string, picture: 'search' | 'line' | 'copy') => unknown} */
  const opener = (what, name, picture) =>
    h(
      'button',
      {
        class: 'tool named',
        'aria-expanded': open === what,
        onClick: () => {
          setOpen(open === what ? '' : what);
          if (open === 'find') finding.clear();
        },
      },
      icon(picture),
      name,
    );
  return h(
    'div',
    { class: 'stage', onKeyDown },
    h(
      'div',
      { class: 'bar', role: 'toolbar', 'aria-label': 'Lines' },
      /** @type {any} */ (opener('find', 'Find', 'search')),
      /** @type {any} */ (opener('line', 'Go to', 'line')),
      /** @type {any} */ (opener('copy', 'Copy', 'copy')),
      h(
        'button',
        { class: 'tool named', 'aria-pressed': wrap, onClick: () => household.setWrap(!wrap) },
        icon('wrap'),
        'Wrap',
      ),
      h('span', { class: 'seen' }, written(first), h('span', null, `–${written(last)}`)),
    ),
    open === 'find' ? h(FindBar, { finding, near: () => rows.current?.position.line ?? 1 }) : null,
    open === 'line' ? h(LineBar, { count, go: (/** @type {number} */ line) => rows.current?.toLine(line) }) : null,
    open === 'copy' ? h(CopyBar, { source, first, last }) : null,
    problem === '' ? null : h('p', { class: 'banner', role: 'alert' }, problem),
    h(Rows, {
      source,
      count,
      wrap,
      diff,
      where,
      start,
      current,
      found: text === '' ? NOTHING : finding.byLine,
      link,
      onSeen,
      onProblem: (/** @type {unknown} */ fault) => tell(isLost(fault) ? NOT_KEPT : sentenceOf(fault, '')),
      control: rows,
    }),
    away && !whole ? h('p', { class: 'over low', role: 'status' }, NOT_KEPT) : null,
  );
}

const NOTHING = new Map();

/** @param {any} fault whether there was no link, or not for long enough */
function isLost(fault) {
  return fault.code === 'link_lost';
}

/**
 * @param {any} fault
 * @param {string} name
 * @returns {string}
 */
function sentenceOf(fault, name) {
  return fault.code === 'unknown_result' ? `This session has no result ${name}.` : fault.message;
}

/**
 * A text that is here as a whole, read like a result.
 * @param {string} text
 * @returns {ResultWindows}
 */
function textSource(text) {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const wire = {
    /** @param {Request} request */
    async request(request) {
      if (request.type !== 'show') throw new Error(request.type);
      const { offset = 1, limit = 2000, from_char = 0 } = request;
      const shown = lines.slice(offset - 1, offset - 1 + limit);
      const joined = shown.join('');
      return {
        tool: '',
        text: from_char === 0 ? joined : [...joined].slice(from_char).join(''),
        first: shown.length === 0 ? 0 : offset,
        last: shown.length === 0 ? 0 : offset + shown.length - 1,
        lines: lines.length,
        next_char: null,
      };
    },
  };
  const cache = { window: async () => null, putWindow: () => undefined };
  const source = new ResultWindows(/** @type {any} */ (wire), /** @type {any} */ (cache), '', 0);
  source.meta = { tool: '', lines: lines.length, seq: 0 };
  return source;
}
