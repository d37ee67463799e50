// Messages as they come over the socket: a JSON map each, or a row of parts that join to one; and what goes wrong with them.

/** What a request failed with: a code of the contract, or `link_lost`, `refused`, `offline`. */
export class WireError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {boolean} [retry]
   */
  constructor(code, message, retry = false) {
    super(message);
    this.name = 'WireError';
    this.code = code;
    this.retry = retry;
  }
}

export const SUBPROTOCOL = 'waybread.v1.json';
/** What the page calls itself in the daemon's log. */
export const CLIENT = 'waybread-page 1';
/** What the page takes in one message with its parts joined: the daemon's pages are an eighth of it. A frame has half of it. */
export const MAX_BYTES = 2 * 1024 * 1024;

/** Why a frame cannot be taken: the link closes with `code`. */
export class FrameError extends Error {
  /**
   * @param {number} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Joins parts. Keeps at most `mostBytes` of a message that is not complete. */
export class Frames {
  /** @type {Uint8Array[]} */
  #parts = [];
  #bytes = 0;
  #mostBytes;

  /** @param {number} mostBytes */
  constructor(mostBytes) {
    this.#mostBytes = mostBytes;
  }

  /**
   * @param {unknown} data what the socket brought
   * @returns {{type: string, [field: string]: any} | null} a message, null where it is not complete yet
   */
  take(data) {
    const message = decode(data);
    if (message.type !== 'part') {
      if (this.#parts.length > 0) throw new FrameError(1007, 'a message stands between the parts of another');
      return message;
    }
    if (message['index'] !== this.#parts.length) throw new FrameError(1007, 'a part has not the next index');
    const piece = bytesOf(message['data']);
    this.#bytes += piece.length;
    if (this.#bytes > this.#mostBytes) throw new FrameError(1009, `a message has more than ${this.#mostBytes} bytes`);
    this.#parts.push(piece);
    if (message['last'] !== true) return null;
    const whole = new Uint8Array(this.#bytes);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    this.#parts = [];
    this.#bytes = 0;
    const joined = decode(new TextDecoder().decode(whole));
    if (joined.type === 'part') throw new FrameError(1007, 'parts are inside of parts');
    return joined;
  }
}

/** @param {unknown} data */
function decode(data) {
  /** @type {any} */
  let message = null;
  try {
    message = typeof data === 'string' ? JSON.parse(data) : null;
  } catch {
    // Told below, as is what is no text.
  }
  if (message === null || typeof message.type !== 'string') throw new FrameError(1007, 'a frame is no message');
  return message;
}

/** @param {unknown} base64 */
function bytesOf(base64) {
  try {
    return Uint8Array.from(atob(String(base64)), (char) => char.charCodeAt(0));
  } catch {
    throw new FrameError(1007, 'a part is no base64');
  }
}
