// Texts from tools and people as elements. They are only ever text.

import { h } from '../../vendor/preact/preact.module.js';
import { partsOf, piecesOf } from './pieces.js';
import { address } from './routes.js';

/** @typedef {import('./pieces.js').Piece} Piece */
/** @typedef {{pairing: string, session: string, most: number}} Where a session, and the last number that it has given */

/**
 * @param {string} text
 * @param {Where} where
 */
export function pieces(text, where) {
  return piecesOf(text, where.most).map((piece) => piecesElement(piece, where));
}

/**
 * @param {Piece} piece
 * @param {Where} where
 */
function piecesElement(piece, where) {
  if (piece.kind === 'mark') return h('span', { class: 'mark', title: piece.title }, piece.text);
  if (piece.kind !== 'id') return piece.text;
  const { pairing, session } = where;
  return h('a', { class: 'id', href: address({ view: 'result', pairing, session, number: piece.number }) }, piece.text);
}

const CLASSES = { add: 'add', del: 'del', hunk: 'hunk' };

/**
 * A text as it was sent: ids and the elided line lead to results, diffs have colours.
 * @param {string} text
 * @param {Where} where
 * @param {boolean} diff
 */
export function sentText(text, where, diff) {
  const { pairing, session, most } = where;
  return partsOf(text, diff).map((part) => {
    if (part.kind === 'plain') return pieces(part.text, where);
    if (part.kind !== 'elided') return h('span', { class: CLASSES[part.kind] }, pieces(part.text, where));
    const { number, line } = part;
    if (number === 0 || number > most) return part.text;
    return h('a', { class: 'elided', href: address({ view: 'result', pairing, session, number, line }) }, part.text);
  });
}
