// A text from a tool in pieces, each of one kind: what views turn into elements, always as text.

import { findIds, resultNumber } from '../core/ids.js';
import { visible } from '../core/visible.js';

/**
 * `text`; `mark`: stands for a character that would not be seen (`title` says which); `id`: of the result `number`.
 * @typedef {{kind: 'text' | 'mark' | 'id', text: string, title: string, number: number}} Piece
 * A part of a text by lines. `elided`: the line of a capped result, whose result is `number`, and `line` the first that is
 * left out there.
 * @typedef {{kind: 'plain' | 'add' | 'del' | 'hunk' | 'elided', text: string, number: number, line: number}} Part
 */

const ELIDED = /^\[\d+ lines elided, full output (#[0-9a-f]{4,14})\]$/gm;

/**
 * @param {string} text
 * @param {number} most the last number that the session has given
 * @returns {Piece[]}
 */
export function piecesOf(text, most) {
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
 * The parts of a text as it was sent. They join to it exactly.
 * @param {string} text
 * @param {boolean} diff whether it holds diffs
 * @returns {Part[]}
 */
export function partsOf(text, diff) {
  /** @type {Part[]} */
  const parts = [];
  let done = 0;
  for (const match of text.matchAll(ELIDED)) {
    push(parts, text.slice(done, match.index), diff);
    // The bracket stands before the first line.
    const line = Math.max(1, linesIn(text.slice(0, match.index)));
    parts.push({ kind: 'elided', text: match[0], number: resultNumber(match[1] ?? ''), line });
    done = match.index + match[0].length;
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
export function linesIn(text) {
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
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const kind = diffKind(line);
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
 * shows all. The tail begins with the elided line, where there is one.
 * @param {string} text
 * @returns {{head: string, lines: number, chars: number, tail: string}}
 */
export function fold(text) {
  const all = linesIn(text);
  if (all < FOLD_LINES && text.length <= FOLD_CHARS) return { head: text, lines: 0, chars: 0, tail: '' };
  const head = firstLines(text, HEAD_LINES, HEAD_CHARS);
  ELIDED.lastIndex = 0;
  const elided = ELIDED.exec(text);
  const from = elided !== null && elided.index >= head.length ? elided.index : text.length;
  const tail = firstLines(text.slice(from), TAIL_LINES, TAIL_CHARS);
  const lines = all - linesIn(head) - linesIn(tail);
  return { head, lines: Math.max(lines, 0), chars: text.length - head.length - tail.length, tail };
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
    if (next < 0) return text.slice(0, Math.min(text.length, wholeAt(text, chars)));
    if (next + 1 > chars) break;
    end = next + 1;
  }
  return text.slice(0, end === 0 ? wholeAt(text, chars) : end);
}

/**
 * Where to cut without taking half of a character.
 * @param {string} text
 * @param {number} at
 */
function wholeAt(text, at) {
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 ? at - 1 : at;
}
