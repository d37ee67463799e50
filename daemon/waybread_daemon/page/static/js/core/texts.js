// What can be read off a text: how long it is, its last line, ids of results, and characters that nobody would see.

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
 * Its beginning, without half of a character.
 * @param {string} text
 * @param {number} end
 */
export function firstOf(text, end) {
  return text.slice(0, (text.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? end - 1 : end);
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

/** Ids of results as they stand in texts: `#0012`, the number in lower-case hex, at least four digits. */
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

// Text from tools is text. What would not be seen in it, or would turn the order of what is seen, becomes a mark.

// Control characters (a line end and a tab are no such), the soft hyphen, zero-width and bidirectional controls, line
// and paragraph separators, the byte-order mark, tags, variation selectors, and the invisible operators.
const HIDDEN =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e03ff}]/u;

// Where some of them do their work: in emoji, keys and flags among them, and as joiners between letters of the scripts that
// need them.
const JOINED = 'Arab Syrc Mand Nkoo Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr Java';
const LETTER = `(?=[\\p{L}\\p{M}])[${JOINED.replace(/(\w+) ?/g, '\\p{scx=$1}')}]`;
const EMOJI = '\\p{Extended_Pictographic}[\ufe0e\ufe0f\\p{Emoji_Modifier}]?';
const FLAG = '\u{1f3f4}\u{e0067}\u{e0062}[\u{e0061}-\u{e007a}]{3}\u{e007f}';
const WORKING = `${FLAG}|${EMOJI}(?:\u200d${EMOJI})*|[#*0-9]\ufe0f\u20e3|${LETTER}[\u200c\u200d](?=${LETTER})`;
const EACH = new RegExp(`${WORKING}|(${HIDDEN.source})`, 'gu');

/** @type {{[code: number]: string}} */
const NAMES = {
  0x00: 'null',
  0x07: 'bell',
  0x08: 'backspace',
  0x0d: 'carriage return',
  0x1b: 'escape',
  0x7f: 'delete',
  0xad: 'soft hyphen',
  0x61c: 'Arabic letter mark',
  0x200b: 'zero width space',
  0x200c: 'zero width non-joiner',
  0x200d: 'zero width joiner',
  0x200e: 'left-to-right mark',
  0x200f: 'right-to-left mark',
  0x2028: 'line separator',
  0x2029: 'paragraph separator',
  0x202a: 'left-to-right embedding',
  0x202b: 'right-to-left embedding',
  0x202c: 'pop directional formatting',
  0x202d: 'left-to-right override',
  0x202e: 'right-to-left override',
  0x2060: 'word joiner',
  0x2066: 'left-to-right isolate',
  0x2067: 'right-to-left isolate',
  0x2068: 'first strong isolate',
  0x2069: 'pop directional isolate',
  0xfeff: 'byte-order mark',
};

/**
 * @param {string} char
 * @returns {{text: string, kind: 'mark', title: string}}
 */
function mark(char) {
  const code = char.codePointAt(0) ?? 0;
  const number = code.toString(16).toUpperCase().padStart(4, '0');
  // Controls below space have pictures of their own, as has delete.
  const text =
    code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : `\u27e8U+${number}\u27e9`;
  return { text, kind: 'mark', title: `U+${number} ${NAMES[code] ?? 'invisible character'}` };
}

/**
 * A text in pieces: what is shown as it is, and marks that stand for characters nobody would see.
 * @param {string} text
 * @returns {{text: string, kind: 'text' | 'mark', title: string}[]}
 */
export function visible(text) {
  if (!HIDDEN.test(text)) return text === '' ? [] : [{ text, kind: 'text', title: '' }];
  /** @type {{text: string, kind: 'text' | 'mark', title: string}[]} */
  const pieces = [];
  let shown = 0;
  for (const match of text.matchAll(EACH)) {
    if (match[1] === undefined) continue;
    if (match.index > shown) pieces.push({ text: text.slice(shown, match.index), kind: 'text', title: '' });
    pieces.push(mark(match[1]));
    shown = match.index + match[0].length;
  }
  if (shown < text.length) pieces.push({ text: text.slice(shown), kind: 'text', title: '' });
  return pieces;
}
