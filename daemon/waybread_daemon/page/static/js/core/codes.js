// Pairing codes: 26 characters of Crockford's base32 (128 bits), written in groups, and the addresses that carry them.

const LENGTH = 26;
/** @type {{[char: string]: string}} */
const LOOKALIKES = { O: '0', I: '1', L: '1' };

/**
 * A code as typed or read by a camera: case, spaces, `-` and characters that look alike do not matter.
 * @param {string} text
 * @returns {string} its 26 characters, or '' where it is no code
 */
export function normalizeCode(text) {
  const bare = text.toUpperCase().replace(/[\s\-\u2010-\u2015]/g, '');
  const code = bare.replace(/[OIL]/g, (char) => LOOKALIKES[char] ?? char);
  return code.length === LENGTH && /^[0-9A-HJKMNP-TV-Z]+$/.test(code) ? code : '';
}

/**
 * @param {string} code as `normalizeCode` gives it
 * @returns {string} in groups, as the daemon shows it
 */
export function groupCode(code) {
  return code.replace(/^(.{4})(.{4})(.{5})(.{4})(.{4})(.{5})$/, '$1-$2-$3-$4-$5-$6');
}

/**
 * Where the daemon that serves this address takes links.
 * @param {string} address of a page or of a link: http(s) or ws(s)
 * @returns {string} `ws(s)://host/link`, or '' where it is no such address
 */
export function linkUrl(address) {
  let url;
  try {
    url = new URL(address);
  } catch {
    return '';
  }
  const scheme = { 'http:': 'ws:', 'https:': 'wss:', 'ws:': 'ws:', 'wss:': 'wss:' }[url.protocol];
  return scheme !== undefined && url.host !== '' ? `${scheme}//${url.host}/link` : '';
}

/**
 * What a pairing address says: `https://host/#pair=CODE&fp=…`. The fragment never goes to a server.
 * @param {string} text
 * @returns {{url: string, code: string, fp: string} | null} `url` is the daemon's link
 */
export function parsePairUrl(text) {
  const trimmed = text.trim();
  const url = linkUrl(trimmed);
  if (url === '') return null;
  const said = new URLSearchParams(new URL(trimmed).hash.replace(/^#/, ''));
  const code = normalizeCode(said.get('pair') ?? '');
  return code === '' ? null : { url, code, fp: said.get('fp') ?? '' };
}
