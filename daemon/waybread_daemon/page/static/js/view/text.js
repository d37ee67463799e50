// Texts from tools and people: in pieces, each of one kind, and as elements. They are only ever text. Numbers and times as
// people read them.

import { h } from '../../vendor/preact/preact.module.js';
import { countChars, findIds, firstOf, resultNumber, visible } from '../core/texts.js';
import { address } from './router.js';

/** @typedef {{pairing: string, session: string, most: number}} Where a session, and the last number that it has given */

/**
 * `text`; `mark`: stands for a character that would not be seen (`title` says which); `id`: of the result `number`.
 * @typedef {{kind: 'text' | 'mark' | 'id', text: string, title: string, number: number}} Piece
 * A part of a text by lines. `elided`: the line of a capped result, whose result is `number`, and `line` the first that is
 * left out there.
 * @typedef {{kind: 'plain' | 'add' | 'del' | 'hunk' | 'elided', text: string, number: number, line: number}} Part
 */

/** The head of a capped result has as much as fits of so many lines and characters. */
const CAP_HEAD_LINES = 200;
const CAP_HEAD_CHARS = 20_000;
const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/**
 * @param {string} text
 * @param {number} most the last number that the session has given
 * @returns {Piece[]}
 */
function piecesOf(text, most) {
  /** @type {Piece[]} */
  const pieces = [];
  let done = 0;
  const plain = (/** @type {number} */ end) => {
    for (const piece of visible(text.slice(done, end))) pieces.push({ ...piece, number: 0 });
  };
  for (const { start, end, number } of findIds(text, most)) {
    plain(start);
    pieces.push({ kind: 'id', text: text.slice(start, end), title: '', number });
    done = end;
  }
  plain(text.length);
  return pieces;
}

/**
 * Where the elided line of a capped result stands in its text. What was capped may quote such lines, also with this id:
 * sessions count alike.
 * @param {string} text
 * @param {string} id of the result
 * @returns {number} -1 where there is none
 */
export function elidedAt(text, id) {
  let at = -1;
  for (const { index } of text.matchAll(new RegExp(`^\\[\\d+ lines elided, full output ${id}\\]$`, 'gm'))) {
    // Behind its bracket; one that the head quotes is followed by the right one.
    const head = text.slice(text.indexOf('\n') + 1, index - 1);
    if (at < 0 || (linesIn(head) < CAP_HEAD_LINES && countChars(head) <= CAP_HEAD_CHARS)) at = index;
  }
  return at;
}

/**
 * The parts of a text as it was sent. They join to it exactly.
 * @param {string} text
 * @param {boolean} diff whether it holds diffs
 * @param {number} [before] lines that stand before it
 * @param {number} [elided] where its elided line begins, -1 where it has none
 * @returns {Part[]}
 */
export function partsOf(text, diff, before = 0, elided = -1) {
  /** @type {Part[]} */
  const parts = [];
  let done = 0;
  if (elided >= 0 && elided < text.length) {
    done = `${text}\n`.indexOf('\n', elided);
    push(parts, text.slice(0, elided), diff);
    // The bracket stands before the first line.
    const line = Math.max(1, before + linesIn(text.slice(0, elided)));
    const said = text.slice(elided, done);
    parts.push({ kind: 'elided', text: said, number: resultNumber(/#\w+/.exec(said)?.[0] ?? ''), line });
  }
  push(parts, text.slice(done), diff);
  return parts;
}

/**
 * @param {string} line of a diff
 * @returns {'plain' | 'add' | 'del' | 'hunk'}
 */
export function diffKind(line) {
  if (line.startsWith('@@ ')) return 'hunk';
  return line.startsWith('+') ? 'add' : line.startsWith('-') ? 'del' : 'plain';
}

/** @param {string} text @returns {number} how many line ends it has */
function linesIn(text) {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/**
 * @param {Part[]} parts
 * @param {string} text
 * @param {boolean} diff
 */
function push(parts, text, diff) {
  if (text === '') return;
  if (!diff) {
    parts.push({ kind: 'plain', text, number: 0, line: 0 });
    return;
  }
  // A note may stand behind the last hunk. What follows an elided line may begin within one.
  let [gone, come] = parts.length === 0 ? [0, 0] : [Infinity, Infinity];
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const hunk = HUNK.exec(line);
    const kind = hunk !== null || gone > 0 || come > 0 ? diffKind(line) : 'plain';
    if (hunk !== null) [gone, come] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)];
    else if (!line.startsWith('\\')) {
      if (kind !== 'add') gone -= 1;
      if (kind !== 'del') come -= 1;
    }
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += line;
    else parts.push({ kind, text: line, number: 0, line: 0 });
  }
}

/** More lines and characters than this are not shown in a transcript until they are asked for. */
const FOLD_LINES = 24;
const FOLD_CHARS = 3000;
const HEAD_LINES = 16;
const HEAD_CHARS = 2000;
const TAIL_LINES = 5;
const TAIL_CHARS = 800;
/** What is longer is never shown in a transcript: it has a view of its own. */
export const UNFOLD_CHARS = 60_000;

/**
 * What a transcript shows of a text at first. `lines` are whole lines that it does not, `chars` characters, 0 where it
 * shows all. The tail begins with the elided line, where there is one; `before` are the lines ahead of it.
 * @param {string} text
 * @param {number} elided where the elided line begins, -1 where there is none
 * @returns {{head: string, lines: number, chars: number, tail: string, before: number}}
 */
export function fold(text, elided) {
  const all = linesIn(text);
  if (all < FOLD_LINES && text.length <= FOLD_CHARS) return whole(text);
  const head = firstLines(text, HEAD_LINES, HEAD_CHARS);
  const from = elided >= head.length ? elided : text.length;
  const tail = firstLines(text.slice(from), TAIL_LINES, TAIL_CHARS);
  const lines = Math.max(all - linesIn(head) - linesIn(tail), 0);
  const before = linesIn(text.slice(0, from));
  return { head, lines, chars: text.length - head.length - tail.length, tail, before };
}

/** @param {string} text all of which is shown */
export function whole(text) {
  return { head: text, lines: 0, chars: 0, tail: '', before: 0 };
}

/**
 * @param {string} text
 * @param {number} lines
 * @param {number} chars
 */
function firstLines(text, lines, chars) {
  let end = 0;
  for (let count = 0; count < lines; count += 1) {
    const next = text.indexOf('\n', end);
    if (next < 0) return firstOf(text, chars);
    if (next + 1 > chars) break;
    end = next + 1;
  }
  return end === 0 ? firstOf(text, chars) : text.slice(0, end);
}

/**
 * @param {string} text
 * @param {Where} where
 */
export function pieces(text, where) {
  return piecesOf(text, where.most).map(({ kind, text: shown, title, number }) => {
    if (kind === 'mark') return h('span', { class: 'mark', title }, shown);
    return kind === 'id' ? h('a', { class: 'id', href: address({ ...where, view: 'result', number }) }, shown) : shown;
  });
}

const NOWHERE = { pairing: '', session: '', most: 0 };

/**
 * A title, a path, a name: without links.
 * @param {string} text
 */
export function plain(text) {
  return pieces(text, NOWHERE);
}

/**
 * A text as it was sent: ids and the elided line lead to results, diffs have colours.
 * @param {string} text
 * @param {Where} where
 * @param {boolean} diff
 * @param {number} before lines that stand before it
 * @param {number} elided where its elided line begins, -1 where it has none
 */
export function sentText(text, where, diff, before, elided) {
  return partsOf(text, diff, before, elided).map((part) => {
    if (part.kind === 'plain') return pieces(part.text, where);
    if (part.kind !== 'elided') return h('span', { class: part.kind }, pieces(part.text, where));
    const { number, line } = part;
    if (number === 0 || number > where.most) return part.text;
    return h('a', { class: 'elided', href: address({ ...where, view: 'result', number, line }) }, part.text);
  });
}

/** @param {Intl.DateTimeFormatOptions} options */
function lazy(options) {
  /** @type {Intl.DateTimeFormat | null} */
  let made = null;
  return (/** @type {number} */ at_ms) => (made ??= new Intl.DateTimeFormat(undefined, options)).format(at_ms);
}

const time = lazy({ hour: '2-digit', minute: '2-digit' });
const date = lazy({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const year = lazy({ day: 'numeric', month: 'short', year: 'numeric' });
const clock = lazy({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
export const wholeTime = lazy({ dateStyle: 'long', timeStyle: 'medium' });

/** @param {number} at_ms */
export function when(at_ms) {
  const [then, now] = [new Date(at_ms), new Date()];
  if (then.toDateString() === now.toDateString()) return time(at_ms);
  return then.getFullYear() === now.getFullYear() ? date(at_ms) : year(at_ms);
}

/** Today, with seconds. @param {number} at_ms */
export function since(at_ms) {
  return new Date(at_ms).toDateString() === new Date().toDateString() ? clock(at_ms) : when(at_ms);
}

/** @param {number} count */
export function number(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/**
 * @param {number} count
 * @param {string} one its name in the singular; the plural has an `s`
 */
export function counted(count, one) {
  return `${number(count)} ${one}${count === 1 ? '' : 's'}`;
}

/** @param {number} bytes */
export function size(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let at = 0;
  let value = bytes;
  while (value >= 999.5 && at < units.length - 1) [value, at] = [value / 1000, at + 1];
  return `${at > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}

/** @param {number} ms */
export function duration(ms) {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'less than a minute';
  if (minutes < 120) return counted(minutes, 'minute');
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? counted(hours, 'hour') : counted(Math.floor(hours / 24), 'day');
}
