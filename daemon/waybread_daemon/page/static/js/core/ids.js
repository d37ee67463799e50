// Ids of results as they stand in texts: `#0012`, the number in lower-case hex, at least four digits.

const ID = /(?<![0-9A-Za-z_#&/])#([0-9a-f]{4,14})(?![0-9A-Za-z_])/g;

/**
 * @param {number} number
 * @returns {string} `#0012` for 18
 */
export function resultId(number) {
  return `#${number.toString(16).padStart(4, '0')}`;
}

/**
 * @param {string} id as `resultId` writes it, or without its `#`
 * @returns {number} 0 where it is none
 */
export function resultNumber(id) {
  const digits = id.startsWith('#') ? id.slice(1) : id;
  const number = /^[0-9a-f]{4,14}$/.test(digits) ? parseInt(digits, 16) : 0;
  return Number.isSafeInteger(number) && resultId(number) === `#${digits}` ? number : 0;
}

/**
 * Where ids stand in a text: in brackets, stubs, elided lines, tables, or anywhere else.
 *
 * A colour or a commit looks like an id. `most` is the last number that the session has given: what is beyond it is no id.
 * @param {string} text
 * @param {number} [most]
 * @returns {{start: number, end: number, number: number}[]}
 */
export function findIds(text, most = Number.MAX_SAFE_INTEGER) {
  const found = [];
  for (const match of text.matchAll(ID)) {
    const number = resultNumber(match[0]);
    if (number >= 1 && number <= most) found.push({ start: match.index, end: match.index + match[0].length, number });
  }
  return found;
}
