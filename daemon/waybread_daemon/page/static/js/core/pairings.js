// The devices that this browser may look at: a code is read and becomes a token, which is in IndexedDB and nowhere else.

import { CLIENT, Frames, MAX_BYTES, SUBPROTOCOL, WireError } from './frames.js';

/** @typedef {import('./types.js').Paired} Paired */
/** @typedef {import('./types.js').Surroundings} Surroundings */
/** @typedef {import('./types.js').Pairing} Pairing */
/** @typedef {import('./database.js').Database} Database */

// Pairing codes: 26 characters of Crockford's base32 (128 bits), written in groups, and the texts that carry them.

/** One of a code's characters as it is typed. */
const CHAR = '[0-9A-TV-Z]';
/** A code behind `pair=`, in groups, or as one word; the first two may be broken by the end of a line. */
const CODE = new RegExp(
  `pair=(${CHAR}(\\s|\\p{Pd}|%..)*){26}|\\b(${CHAR}\\s*){4}(\\p{Pd}\\s*(${CHAR}\\s*){4,5}){5}|\\b${CHAR}{26}\\b`,
  'iu',
);
const HOST = '[\\p{L}\\p{N}._:[\\]-]';
const PATH = '/(link|#pair=)';
/** Where a daemon takes links or has its page. Before the path a line may end in the host, and the scheme may be left out. */
const PLACE = new RegExp(
  `(?:(?<scheme>https?|wss?)://(?<host>${HOST}+(\\s?${HOST}+(?=${PATH}))?)|(?<bare>${HOST}+)(?=${PATH}))(${PATH})?`,
  'iu',
);

/**
 * A code as typed or read by a camera: case, all but letters and digits, and characters that look alike do not matter.
 * @param {string} text
 * @returns {string} its 26 characters, or '' where it is no code
 */
export function normalizeCode(text) {
  const bare = text.toUpperCase().replace(/%..|[^\p{L}\p{N}]/gu, '');
  const code = bare.replace(/O/g, '0').replace(/[IL]/g, '1');
  return /^[0-9A-HJKMNP-TV-Z]{26}$/.test(code) ? code : '';
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
 * What a person copied of what `waybread pair` prints, all of it or a part: a code, and whose it is.
 * @param {string} text an address `http(s)://host/#pair=CODE&…`, a code, or both with words around them
 * @param {string} here the link of the daemon that serves this page: the code is its own where the text names no other
 * @returns {{url: string, code: string} | null} `url` is the daemon's link
 */
export function readOffer(text, here) {
  // More is no output of a command, and would only take its time.
  text = text.slice(0, 9999);
  const found = PLACE.exec(text);
  // What is left without an address is a code alone, grouped in any way, perhaps behind its label.
  const left = text.replace(found?.[0] ?? '', '').replace(/^.*\bcode\b/isu, '');
  const code = normalizeCode(CODE.exec(text)?.[0].replace(/^.*=/, '') ?? left);
  const { scheme, host, bare = host } = found?.groups ?? {};
  const at = bare?.replace(/\s|\.$/g, '').toLowerCase();
  const own = new URL(here);
  // How this page's own host is reached is known.
  const url = at === undefined || at === own.host ? here : linkUrl(`${scheme ?? own.protocol.slice(0, -1)}://${at}`);
  return code === '' || url === '' ? null : { url, code };
}

// A one-time code becomes a token.

const TIMEOUT_MS = 10_000;
const UNREACHABLE = 'unreachable';
const WAIT = 'Wait a minute, then try again.';
/** @type {{[code: string]: string}} */
const SENTENCES = {
  unauthenticated: 'That code is wrong, used or too old. Make a new one with `waybread pair`.',
  busy: `Too many tries from here. ${WAIT}`,
};

/**
 * Takes up a one-time code. Rejects with `WireError`, whose message is a sentence for a person.
 * @param {string} url
 * @param {string} code
 * @param {string} name what this phone is to be called
 * @param {Surroundings} around
 * @param {string} [here] the link of the daemon that the page is from
 * @returns {Promise<Paired>}
 */
export async function pair(url, code, name, around, here = url) {
  const { host, origin, protocol } = new URL(url);
  const other = url !== here;
  const policy = other && (await around.ask('/', 'GET')).headers.get('Content-Security-Policy');
  // What the page's own policy forbids is not tried: the browser would complain, and tell the page nothing.
  if (!policy || policy.split(/[ ;]/).includes(origin)) {
    try {
      return await take(url, code, name, around);
    } catch (fault) {
      if (fault instanceof WireError) throw new WireError(fault.code, SENTENCES[fault.code] ?? fault.message);
    }
  }
  let why = `${host} cannot be reached`;
  if (other) {
    why += ' from this page: pair on its own. To see both here, name it in this daemon’s page_daemons and this page in its allowed_origins.';
  } else {
    why += '.';
    // Browsers do not tell a page that a link was refused; but a request is answered.
    const { status } = await around.ask('/link', 'POST');
    if (status === 403) why = 'The daemon does not know this address of the page: name it in public_url or allowed_origins.';
    if (status === 405) {
      why = `The daemon takes no link from here just now. ${WAIT}`;
      if (protocol === 'wss:') why += ' If that does not help, this browser does not trust its certificate.';
    }
  }
  throw new WireError(UNREACHABLE, why);
}

/**
 * A link of its own that ends with the answer.
 * @param {string} url
 * @param {string} code
 * @param {string} name
 * @param {Surroundings} around
 * @returns {Promise<Paired>}
 */
function take(url, code, name, around) {
  return new Promise((resolve, reject) => {
    const socket = around.socket(url, [SUBPROTOCOL]);
    const frames = new Frames(MAX_BYTES);
    /** @param {() => void} settle */
    const end = (settle) => {
      around.cancel(timer);
      socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
      socket.close(1000);
      settle();
    };
    const unreachable = () => end(() => reject(new Error(UNREACHABLE)));
    const timer = around.later(unreachable, TIMEOUT_MS);
    socket.onopen = () => socket.send(JSON.stringify({ type: 'hello', id: 1, code, name, client: CLIENT }));
    socket.onclose = unreachable;
    // Where the page's own policy forbids an address, some browsers tell of no close.
    socket.onerror = () => {
      if (socket.readyState === WebSocket.CLOSED) unreachable();
    };
    socket.onmessage = (event) => {
      try {
        const message = frames.take(event.data);
        if (message?.type === 'paired') end(() => resolve(/** @type {any} */ (message)));
        if (message?.type === 'error') {
          end(() => reject(new WireError(message['code'], message['message'])));
        }
      } catch (fault) {
        end(() => reject(fault));
      }
    };
  });
}

/** Those that are kept. */
export class Pairings {
  #database;
  #now;
  #makeId;

  /**
   * @param {Database} database
   * @param {{now?: () => number, makeId?: () => string}} [how]
   */
  constructor(database, { now = Date.now, makeId = randomId } = {}) {
    this.#database = database;
    this.#now = now;
    this.#makeId = makeId;
  }

  /** @returns {Promise<Pairing[]>} oldest first */
  async list() {
    /** @type {Pairing[]} */
    const pairings = await this.#database.all('pairings');
    return pairings.sort((one, other) => one.paired_ms - other.paired_ms || (one.id < other.id ? -1 : 1));
  }

  /**
   * Keeps a new pairing. One of the same device of the same daemon is replaced: its id and its cache stay.
   * @param {{url: string, name: string, paired: Paired}} given `name`: what a person calls it
   * @returns {Promise<Pairing>}
   */
  async add({ url, name, paired }) {
    const { device, role, token } = paired;
    const known = (await this.list()).find((one) => one.url === url && one.device === device);
    const id = known?.id ?? this.#makeId();
    const pairing = { id, url, device, name, role, token, paired_ms: known?.paired_ms ?? this.#now() };
    await this.#database.write([{ store: 'pairings', put: pairing }]);
    return pairing;
  }

  /**
   * @param {string} id
   * @param {string} name
   */
  async rename(id, name) {
    const pairing = await this.#database.get('pairings', id);
    if (pairing !== undefined) await this.#database.write([{ store: 'pairings', put: { ...pairing, name } }], id);
  }

  /**
   * Forgets a pairing: its token and all that was kept of it. Its `Home`, in any tab, keeps nothing from then on.
   * @param {string} id
   */
  async remove(id) {
    await this.#database.write([
      { store: 'pairings', drop: id },
      { store: 'sessions', drop: [id] },
      { store: 'entries', drop: [id] },
      { store: 'windows', drop: [id] },
    ]);
  }
}

function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
