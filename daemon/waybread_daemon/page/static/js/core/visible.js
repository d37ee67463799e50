// Text from tools is text. What would not be seen in it, or would turn the order of what is seen, becomes a mark.

// Control characters (a line end and a tab are no such), the soft hyphen, zero-width and bidirectional controls, line
// and paragraph separators, the byte-order mark, tags, variation selectors that hide data, and the invisible operators.
const HIDDEN =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\udb40[\udc00-\udfff]/;
const EACH = new RegExp(HIDDEN.source, 'g');

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
 * Whether a zero-width joiner or non-joiner does its work between two visible characters: emoji and several scripts need it.
 * @param {string} text
 * @param {number} at
 */
function joins(text, at) {
  const char = text[at];
  if (char !== '\u200d' && char !== '\u200c') return false;
  const before = text.slice(Math.max(0, at - 2), at);
  const after = text.slice(at + 1, at + 3);
  const joined = char === '\u200d' ? /^[\p{Extended_Pictographic}\p{L}\p{M}\u2640\u2642\u2695]/u : /^[\p{L}\p{M}]/u;
  return /[\p{Extended_Pictographic}\p{L}\p{M}\p{Emoji_Modifier}\ufe0f]$/u.test(before) && joined.test(after);
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
    if (joins(text, match.index)) continue;
    if (match.index > shown) pieces.push({ text: text.slice(shown, match.index), kind: 'text', title: '' });
    pieces.push(mark(match[0]));
    shown = match.index + match[0].length;
  }
  if (shown < text.length) pieces.push({ text: text.slice(shown), kind: 'text', title: '' });
  return pieces;
}
