// Addresses of views: all behind the `#`, which no server is ever told.

import { resultId, resultNumber } from '../core/ids.js';

/**
 * Where a person is. What does not apply is empty or 0. `pairing`: its id, where there are several. `line`: where to
 * begin in a result. `seq`: the entry whose text is shown as it was sent.
 * @typedef {{view: 'sessions' | 'pair' | 'settings' | 'transcript' | 'result' | 'sent' | 'files', pairing: string,
 *   session: string, number: number, seq: number, line: number}} Route
 */

/** @type {Route} */
const HOME = { view: 'sessions', pairing: '', session: '', number: 0, seq: 0, line: 0 };

/**
 * @param {Partial<Route> & {view: Route['view']}} given
 * @returns {string} `#/…`
 */
export function address(given) {
  const { view, pairing, session, number, seq, line } = { ...HOME, ...given };
  if (view === 'pair' || view === 'settings') return `#/${view}`;
  const prefix = pairing === '' ? '#/' : `#/d/${encodeURIComponent(pairing)}/`;
  if (view === 'sessions') return prefix;
  const at = `${prefix}s/${encodeURIComponent(session)}`;
  const from = line > 1 ? `?line=${line}` : '';
  if (view === 'result') return `${at}/r/${resultId(number).slice(1)}${from}`;
  if (view === 'sent') return `${at}/e/${seq}${from}`;
  return view === 'files' ? `${at}/files` : at;
}

/**
 * @param {string} hash as the browser has it
 * @returns {Route} the sessions, where it is no address of a view
 */
export function parseAddress(hash) {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?');
  const parts = path.split('/').map(decoded);
  const pairing = parts[0] === 'd' ? (parts[1] ?? '') : '';
  const [first, session = '', what, which = ''] = parts[0] === 'd' ? parts.slice(2) : parts;
  const home = { ...HOME, pairing };
  if (first === 'pair' || first === 'settings') return { ...HOME, view: first };
  if (first !== 's' || session === '') return home;
  const line = Number(new URLSearchParams(query).get('line') ?? 0);
  const at = { ...home, session, line: Number.isSafeInteger(line) && line > 0 ? line : 0 };
  const number = resultNumber(which.toLowerCase());
  if (what === 'r' && number > 0) return { ...at, view: 'result', number };
  if (what === 'e' && /^\d{1,15}$/.test(which)) return { ...at, view: 'sent', seq: Number(which) };
  return { ...at, view: what === 'files' ? 'files' : 'transcript', line: 0 };
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
