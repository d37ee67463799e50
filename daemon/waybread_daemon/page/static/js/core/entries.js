// What can be read off an entry of the log.

/** @typedef {import('./types.js').Entry} Entry */

const LAST_LINE_CHARS = 200;
const LAST_LINE_LOOK = 4096;

/**
 * @param {string} text
 * @returns {number} its length in characters (code points), as the wire counts
 */
export function countChars(text) {
  let pairs = 0;
  for (let at = 0; at < text.length; at += 1) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800) pairs += 1;
  }
  return text.length - pairs;
}

/**
 * Whether a page or push brought only the beginning of its text.
 * @param {Entry} entry
 */
export function isCut(entry) {
  return entry.text.length < entry.text_chars || countChars(entry.text) < entry.text_chars;
}

/**
 * Control characters as escapes, so that a text stays in its line: as brackets show a path.
 * @param {string} text
 */
export function oneLine(text) {
  return text.replace(/[\0-\x1f\x7f-\x9f\u2028\u2029]/g, (char) => {
    const named = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[char];
    const code = char.charCodeAt(0);
    return named ?? (code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`);
  });
}

/**
 * The last line of a text that says something, as lists of sessions show it: at most 200 characters, on one line.
 * @param {string} text
 */
export function lastLine(text) {
  // Only the end is looked at: a line that began before it is shown from there on.
  const lines = text.slice(-LAST_LINE_LOOK).split('\n');
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const line = /** @type {string} */ (lines[at]).replace(/^[\t-\r ]+|[\t-\r ]+$/g, '');
    if (line !== '') return [...oneLine(line)].slice(0, LAST_LINE_CHARS).join('');
  }
  return '';
}
