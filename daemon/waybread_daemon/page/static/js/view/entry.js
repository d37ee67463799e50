// One entry of a transcript.

import { h } from '../../vendor/preact/preact.module.js';
import { isCut, oneLine, resultNumber } from '../core/texts.js';
import { counted, elidedAt, fold, number, plain, sentText, UNFOLD_CHARS, when, whole } from './text.js';
import { address } from './router.js';

/** @typedef {import('../core/types.js').Entry} Entry */
/** @typedef {import('./text.js').Where} Where */

/**
 * What cards of a session have in common: another one where any of it changes.
 * @typedef {{where: Where, taken_back: Set<string>, unfolded: Set<number>, wrap: boolean,
 *   unfold: (entry: Entry) => void}} Look
 */

const ROLES = { user: 'User', assistant: 'Assistant', system: 'System', summary: 'Summary' };
const SHOWN = new Set(['opened', 'turn', 'message', 'result', 'recall', 'taken_back', 'compacted']);

/** @param {Entry} entry whether it is of a kind that this page knows */
export function isShown(entry) {
  return SHOWN.has(entry.kind);
}

/** @param {Entry} entry about how high its card is, in pixels */
export function cardHeight(entry) {
  if (entry.kind === 'turn' || entry.kind === 'opened' || entry.kind === 'taken_back') return 56;
  const lines = Math.max(entry.text.length / 48, 1);
  return 72 + 18 * Math.min(lines, 22);
}

/**
 * @param {Entry} entry
 * @param {Look} look
 */
export function card(entry, look) {
  const gone = entry.turn !== '' && look.taken_back.has(entry.turn);
  if (entry.kind === 'turn') {
    return h(
      'h2',
      { class: `turn ${gone ? 'gone' : ''}` },
      h('span', { dir: 'auto' }, plain(`Turn ${entry.turn}`)),
      takenBack(gone),
      time(entry),
    );
  }
  if (entry.kind === 'opened') {
    return h('p', { class: 'rule' }, h('span', null, `Opened: ${kindName(entry.session_kind)}`), time(entry));
  }
  if (entry.kind === 'taken_back') {
    const said = `Taken back: ${entry.turns.length === 1 ? 'turn' : 'turns'} ${entry.turns.join(', ')}`;
    return h('p', { class: 'rule' }, h('span', { dir: 'auto' }, plain(said)), time(entry));
  }
  if (entry.kind === 'compacted') return compacted(entry, look, gone);
  return entry.kind === 'message' ? message(entry, look, gone) : result(entry, look, gone);
}

/** @param {string} kind */
function kindName(kind) {
  return kind === '' ? 'a session' : `${kind === 'agent' || kind === 'opaque' ? 'an' : 'a'} ${kind} session`;
}

/**
 * @param {Entry} entry
 * @param {Look} look
 * @param {boolean} gone
 */
function compacted(entry, look, gone) {
  return h(
    'div',
    { class: 'compacted' },
    h('p', { class: 'rule' }, h('span', null, 'Compacted'), takenBack(gone), time(entry)),
    entry.text === '' ? null : h('div', { class: `card ${gone ? 'gone' : ''}` }, body(entry, look, false)),
  );
}

/**
 * @param {Entry} entry
 * @param {Look} look
 * @param {boolean} gone
 */
function message(entry, look, gone) {
  const role = ROLES[/** @type {keyof typeof ROLES} */ (entry.role)] ?? entry.role;
  return h(
    'article',
    { class: `card message ${entry.role in ROLES ? entry.role : ''} ${gone ? 'gone' : ''}`, 'aria-label': role },
    h('div', { class: 'head' }, h('span', { class: 'role' }, role), takenBack(gone), time(entry)),
    body(entry, look, false),
  );
}

/**
 * @param {Entry} entry
 * @param {Look} look
 * @param {boolean} gone
 */
function result(entry, look, gone) {
  const number = resultNumber(entry.result);
  const recall = entry.kind === 'recall';
  const tool = recall ? 'recall' : entry.tool;
  const diff = entry.body === 'change';
  const asked = askedFor(entry);
  return h(
    'article',
    {
      class: `card result ${entry.error ? 'error' : ''} ${gone ? 'gone' : ''}`,
      'aria-label': `${entry.result} ${tool}`,
    },
    h(
      'div',
      { class: 'head' },
      h('a', { class: 'id', href: address({ ...look.where, view: 'result', number }) }, entry.result),
      h('span', { class: 'tool-name', dir: 'auto' }, plain(tool)),
      entry.error ? label('error', 'error') : null,
      entry.stub_of !== null ? label('stub', `stub of ${entry.stub_of}`) : null,
      entry.capped ? label('capped', 'capped') : null,
      diff && !entry.error ? label('diff', 'diff') : null,
      recall ? label('recall', 'recall') : null,
      takenBack(gone),
      time(entry),
    ),
    asked === '' ? null : h('p', { class: 'asked', dir: 'ltr' }, plain(asked)),
    body(entry, look, diff),
  );
}

/**
 * @param {Entry} entry
 * @param {Look} look
 * @param {boolean} diff
 */
function body(entry, look, diff) {
  const { where, unfolded, unfold, wrap } = look;
  const human = entry.kind === 'message';
  const cut = isCut(entry);
  const elided = entry.capped ? elidedAt(entry.text, entry.result) : -1;
  const folded = unfolded.has(entry.seq) && !cut ? whole(entry.text) : fold(entry.text, elided);
  const text = (/** @type {string} */ part, /** @type {number} */ before, /** @type {number} */ at) =>
    part === ''
      ? null
      : h(
          human ? 'div' : 'pre',
          { class: 'text', dir: human ? 'auto' : 'ltr' },
          sentText(part, where, diff, before, at),
        );
  return h(
    'div',
    { class: `body ${human ? 'human' : wrap ? 'wrap' : 'lines'}` },
    text(folded.head, 0, elided),
    more(entry, look, folded, cut),
    text(folded.tail, folded.before, 0),
    unfolded.has(entry.seq) && !cut
      ? h('button', { class: 'fold', 'aria-expanded': 'true', onClick: () => unfold(entry) }, 'Show less')
      : null,
  );
}

/**
 * @param {Entry} entry
 * @param {Look} look
 * @param {{lines: number, chars: number}} folded
 * @param {boolean} cut
 */
function more(entry, look, { lines, chars }, cut) {
  if (chars === 0 && !cut) return null;
  const left =
    lines > 0 && !cut
      ? counted(lines, 'more line')
      : counted(chars + entry.text_chars - entry.text.length, 'more character');
  if (!cut && entry.text.length <= UNFOLD_CHARS) {
    return h('button', { class: 'fold', 'aria-expanded': 'false', onClick: () => look.unfold(entry) }, `Show ${left}`);
  }
  return h('a', { class: 'fold', href: address({ ...look.where, view: 'sent', seq: entry.seq }) }, `Show all: ${left}`);
}

/** @param {boolean} gone */
function takenBack(gone) {
  return gone ? label('taken', 'taken back') : null;
}

/**
 * @param {string} kind
 * @param {string} text
 */
function label(kind, text) {
  return h('span', { class: `label ${kind}` }, text);
}

/** @param {Entry} entry */
function time({ at_ms }) {
  return h('time', { dateTime: new Date(at_ms).toISOString() }, when(at_ms));
}

const MOST_CHARS = 300;
const PATHS = [
  'path',
  'file_path',
  'filePath',
  'file',
  'filename',
  'absolute',
  'paths',
  'files',
  'directory',
  'dir',
  'cwd',
];
const COMMANDS = ['command', 'cmd', 'script', 'code'];
const PATTERNS = ['pattern', 'query', 'regex', 'glob', 'url', 'prompt', 'name'];
/** What each tool is first asked by name; the others by what they are asked most. @type {{[tool: string]: string[]}} */
const FIRST = {
  bash: COMMANDS,
  shell: COMMANDS,
  grep: PATTERNS,
  search: PATTERNS,
  glob: PATTERNS,
};

/**
 * @param {Entry} entry of a result
 * @returns {string} empty where it was asked nothing
 */
export function askedFor(entry) {
  const { args, args_chars } = entry;
  const names = Object.keys(args);
  if (names.length === 0) {
    return args_chars > 2
      ? `What was asked has ${number(args_chars)} characters: the page does not get them, “waybread export” does.`
      : '';
  }
  const main = firstOf(args, [...(FIRST[entry.tool] ?? []), ...COMMANDS, ...PATTERNS, ...PATHS]);
  if (main === null) return short(JSON.stringify(args));
  const [name, said] = main;
  const where = PATHS.includes(name) ? null : firstOf(args, PATHS);
  const parts = [said];
  if (where !== null) parts.push(`in ${where[1]}`);
  if (isNumber(args['offset'])) parts.push(`from line ${args['offset']}`);
  if (isNumber(args['limit'])) parts.push(`${args['limit']} lines`);
  return short(parts.join(' · '));
}

/**
 * All that a tool was asked: each argument begins a line, and what goes on in further ones is indented.
 * @param {Entry} entry of a result
 */
export function allAskedFor(entry) {
  const lines = Object.entries(entry.args).map(([name, value]) => {
    const said = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    return `${oneLine(name)}: ${said.replaceAll('\n', '\n  ')}`;
  });
  return lines.join('\n') || askedFor(entry);
}

/**
 * @param {{[name: string]: unknown}} args
 * @param {string[]} names
 * @returns {[string, string] | null}
 */
function firstOf(args, names) {
  for (const name of names) {
    const value = args[name];
    if (typeof value === 'string' && value !== '') return [name, value];
    if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')) {
      return [name, value.join(', ')];
    }
  }
  return null;
}

/** @param {unknown} value */
function isNumber(value) {
  return typeof value === 'number';
}

/** @param {string} text */
function short(text) {
  const line = oneLine(text.slice(0, MOST_CHARS * 2).trim());
  return line.length > MOST_CHARS ? `${line.slice(0, MOST_CHARS)}…` : line;
}
