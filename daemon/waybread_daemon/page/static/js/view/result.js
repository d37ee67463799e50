// A result in full, behind its id; or a text of the transcript as it was sent.

import { h } from '../../vendor/preact/preact.module.js';
import { useEffect, useMemo, useRef, useState } from '../../vendor/preact/hooks.module.js';
import { WireError } from '../core/faults.js';
import { resultId } from '../core/ids.js';
import { ResultWindows } from '../core/result.js';
import { CopyBar, FindBar, Finding, LineBar } from './bars.js';
import { askedFor } from './entry.js';
import { counted, number as written } from './format.js';
import { Frame, icon, Notice, useAround, useModel, useSpot } from './frame.js';
import { Rows } from './rows.js';
import { address } from './router.js';
import { plain } from './text.js';
import { useMostResults } from './transcript.js';

/** @typedef {import('../core/types.js').Entry} Entry */
/** @typedef {import('../core/home.js').Home} Home */
/** @typedef {import('../core/transcript.js').SessionModel} SessionModel */
/** @typedef {import('./router.js').Route} Route */
/** @typedef {import('../core/types.js').Request} Request */

const CHANGES = new Set(['edit', 'multiedit', 'apply_patch', 'write']);
const NOTE_AFTER_MS = 500;

/** @param {{home: Home, route: Route}} props */
export function Result({ home, route }) {
  const { household } = useAround();
  const model = household.session(home, route.session);
  const { entries } = useModel(model);
  const id = resultId(route.number);
  const entry = useMemo(() => entries.find((one) => one.result === id), [entries, id]);
  const load = async () => {
    const source = home.results(route.session, route.number);
    await source.lines(Math.max(route.line, 1), 1);
    return source;
  };
  return h(Lines, { home, route, model, entry, name: id, load });
}

/** @param {{home: Home, route: Route}} props */
export function Sent({ home, route }) {
  const { household } = useAround();
  const model = household.session(home, route.session);
  const { entries, loading } = useModel(model);
  const entry = useMemo(() => entries.find((one) => one.seq === route.seq), [entries, route.seq]);
  const load = async () => {
    if (entry !== undefined) return textSource(await model.fullText(entry));
    const pieces = [];
    /** @type {number | null} */
    let from_char = 0;
    while (from_char !== null) {
      /** @type {import('../core/types.js').TextPiece} */
      const piece = await home.wire.request({ type: 'entry_text', seq: route.seq, from_char });
      pieces.push(piece.text);
      from_char = piece.next_char;
    }
    return textSource(pieces.join(''));
  };
  const name = entry === undefined || entry.result === '' ? 'Text as sent' : `${entry.result} as sent`;
  if (loading && entry === undefined) return h(Frame, { title: name, home, children: h(Notice, null, 'Loading…') });
  return h(Lines, { home, route, model, entry, name, load });
}

/**
 * @param {{home: Home, route: Route, model: SessionModel, entry: Entry | undefined, name: string,
 *   load: () => Promise<ResultWindows>}} props
 */
function Lines({ home, route, model, entry, name, load }) {
  const { household } = useAround();
  const { wrap } = useModel(household);
  const { entries, row } = useModel(model);
  const [source, setSource] = useState(/** @type {ResultWindows | null} */ (null));
  const [problem, tell] = useState('');
  const most = useMostResults(entries, row?.results ?? 0);
  useEffect(() => {
    let left = false;
    load().then(
      (loaded) => !left && setSource(loaded),
      (fault) => !left && tell(sentenceOf(fault, name)),
    );
    return () => {
      left = true;
    };
  }, []);
  const tool = source?.meta.tool || entry?.tool || (entry?.kind === 'recall' ? 'recall' : '');
  const asked = entry === undefined ? '' : askedFor(entry);
  const lines = source?.meta.lines ?? null;
  const diff = entry === undefined ? CHANGES.has(tool) : entry.body === 'change' && !entry.error;
  const { session, pairing } = route;
  const sent =
    route.view === 'result' && entry !== undefined ? address({ ...route, view: 'sent', seq: entry.seq, line: 0 }) : '';
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
        sent === '' ? null : h('a', { href: sent }, 'as sent'),
      ),
    },
    problem !== ''
      ? h(Notice, null, problem)
      : source === null || lines === null
        ? h(Notice, null, 'Loading…')
        : h(Shown, { source, count: lines, route, wrap, most, diff }),
  );
}

/** @param {{source: ResultWindows, count: number, route: Route, wrap: boolean, most: number, diff: boolean}} props */
function Shown({ source, count, route, wrap, most, diff }) {
  const { household } = useAround();
  const spot = useSpot();
  const finding = useMemo(() => new Finding(source), [source]);
  const { text } = useModel(finding);
  const [open, setOpen] = useState(/** @type {'find' | 'line' | 'copy' | ''} */ (''));
  const [seen, setSeen] = useState([1, 1]);
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
  const [first = 1, last = 1] = seen;
  const onSeen = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ px) => {
    spot.setPlace({ line: from, px });
    clearTimeout(noting.current);
    noting.current = setTimeout(() => spot.noteLine(from), NOTE_AFTER_MS);
    setSeen((now) => (now[0] === from && now[1] === to ? now : [from, to]));
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
    { class: 'stage' },
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
      onSeen,
      onProblem: tell,
      control: rows,
    }),
  );
}

const NOTHING = new Map();

/**
 * @param {unknown} fault
 * @param {string} name
 */
function sentenceOf(fault, name) {
  if (fault instanceof WireError) {
    if (fault.code === 'unknown_result') return `This session has no result ${name}.`;
    if (fault.code === 'gone' || fault.code === 'unknown_session') return 'This session is not there (any more).';
  }
  return fault instanceof Error ? fault.message : String(fault);
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
  source.meta = { tool: '', lines: lines.length };
  return source;
}
