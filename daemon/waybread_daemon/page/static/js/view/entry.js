// One entry of a transcript.

import { h } from '../../vendor/preact/preact.module.js';
import { isCut } from '../core/entries.js';
import { resultNumber } from '../core/ids.js';
import { askedFor } from './asked.js';
import { counted, when, wholeTime } from './format.js';
import { fold, UNFOLD_CHARS } from './pieces.js';
import { address } from './routes.js';
import { pieces, sentText } from './text.js';

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
    return h('h2', { class: `turn ${gone ? 'gone' : ''}` }, h('span', { dir: 'auto' }, `Turn ${entry.turn}`), takenBack(gone), time(entry));
  }
  if (entry.kind === 'opened') {
    return h('p', { class: 'rule' }, h('span', null, `Opened: ${kindName(entry.session_kind)}`), time(entry));
  }
  if (entry.kind === 'taken_back') {
    const names = entry.turns.join(', ');
    return h('p', { class: 'rule' }, h('span', { dir: 'auto' }, `Taken back: ${entry.turns.length === 1 ? 'turn' : 'turns'} ${names}`), time(entry));
  }
  if (entry.kind === 'compacted') return compacted(entry, look);
  return entry.kind === 'message' ? message(entry, look, gone) : result(entry, look, gone);
}

/** @param {string} kind */
function kindName(kind) {
  return kind === '' ? 'a session' : `${kind === 'agent' || kind === 'opaque' ? 'an' : 'a'} ${kind} session`;
}

/**
 * @param {Entry} entry
 * @param {Look} look
 */
function compacted(entry, look) {
  return h(
    'div',
    { class: 'compacted' },
    h('p', { class: 'rule' }, h('span', null, 'Compacted: a summary replaces what is above'), time(entry)),
    entry.text === '' ? null : h('div', { class: 'card' }, body(entry, look, false)),
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
  const { where } = look;
  const { pairing, session } = where;
  const number = resultNumber(entry.result);
  const recall = entry.kind === 'recall';
  const tool = recall ? 'recall' : entry.tool;
  const diff = entry.body === 'change';
  const asked = askedFor(entry);
  return h(
    'article',
    { class: `card result ${entry.error ? 'error' : ''} ${gone ? 'gone' : ''}`, 'aria-label': `${entry.result} ${tool}` },
    h(
      'div',
      { class: 'head' },
      h('a', { class: 'id', href: address({ view: 'result', pairing, session, number }) }, entry.result),
      h('span', { class: 'tool-name', dir: 'auto' }, tool),
      entry.error ? label('error', 'error') : null,
      entry.stub_of !== null ? label('stub', `stub of ${entry.stub_of}`) : null,
      entry.capped ? label('capped', 'capped') : null,
      diff && !entry.error ? label('diff', 'diff') : null,
      recall ? label('recall', 'recall') : null,
      takenBack(gone),
      time(entry),
    ),
    asked === '' ? null : h('p', { class: 'asked', dir: 'ltr' }, pieces(asked, { ...where, most: 0 })),
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
  const folded = unfolded.has(entry.seq) && !cut ? { head: entry.text, lines: 0, chars: 0, tail: '' } : fold(entry.text);
  const text = (/** @type {string} */ part) =>
    part === ''
      ? null
      : h(human ? 'div' : 'pre', { class: 'text', dir: human ? 'auto' : 'ltr' }, sentText(part, where, diff));
  return h(
    'div',
    { class: `body ${human ? 'human' : wrap ? 'wrap' : 'lines'}` },
    text(folded.head),
    more(entry, look, folded, cut),
    text(folded.tail),
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
  const left = lines > 0 && !cut ? counted(lines, 'more line') : counted(chars + entry.text_chars - entry.text.length, 'more character');
  if (!cut && entry.text.length <= UNFOLD_CHARS) {
    return h('button', { class: 'fold', 'aria-expanded': 'false', onClick: () => look.unfold(entry) }, `Show ${left}`);
  }
  const { pairing, session } = look.where;
  return h('a', { class: 'fold', href: address({ view: 'sent', pairing, session, seq: entry.seq }) }, `Show all: ${left}`);
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
  return h('time', { dateTime: new Date(at_ms).toISOString(), title: wholeTime(at_ms) }, when(at_ms));
}
