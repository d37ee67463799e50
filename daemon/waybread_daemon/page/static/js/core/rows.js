// A session's row of the list, kept up to date by what the log tells.

import { isCut, lastLine } from './entries.js';
import { resultNumber } from './ids.js';

/** @typedef {import('./types.js').Entry} Entry */
/** @typedef {import('./types.js').SessionRow} SessionRow */

const NEW_ROW = {
  title: '',
  directory: '',
  results: 0,
  last_line: '',
  raw_bytes: 0,
  stored_bytes: 0,
};

/**
 * A row as the list gives it. An older daemon's rows lack what came later.
 * @param {SessionRow} row
 * @returns {SessionRow}
 */
export function wholeRow(row) {
  return { ...NEW_ROW, ...row };
}

/**
 * A row after the next entry of its session.
 * @param {SessionRow | undefined} row
 * @param {Entry} entry
 * @returns {SessionRow | undefined} undefined where only the list knows the session
 */
export function rowAfter(row, entry) {
  const { session, seq, at_ms } = entry;
  if (row === undefined) {
    if (entry.kind !== 'opened') return undefined;
    const times = { head: seq, opened_ms: at_ms, changed_ms: at_ms };
    return { ...NEW_ROW, session, kind: entry.session_kind, title: entry.title, ...times };
  }
  // The list may have been newer than the log is told.
  if (seq <= row.head) return row;
  const says = (entry.kind === 'message' || entry.kind === 'result') && !isCut(entry) ? lastLine(entry.text) : '';
  return {
    ...row,
    head: seq,
    changed_ms: at_ms,
    results: Math.max(row.results, resultNumber(entry.result)),
    last_line: says === '' ? row.last_line : says,
  };
}
