// One link to a daemon: opened again whenever it breaks, with requests that outlive the break.
//
// All requests of a page only look, so one that was not answered when the link broke is simply sent again on the next
// link. What belongs to one link alone (a `sync` that follows) says `once` and fails with the code `link_lost`.

import { CLIENT, FrameError, Frames, MAX_BYTES, SUBPROTOCOL, WireError } from './frames.js';
import { Observable } from './observable.js';

/** @typedef {import('./types.js').LinkState} LinkState */
/** @typedef {import('./types.js').Surroundings} Surroundings */
/** @typedef {import('./types.js').Socket} Socket */
/** @typedef {import('./types.js').Request} Request */
/** @typedef {import('./types.js').Answers} Answers */
/** @typedef {import('./types.js').Welcome} Welcome */
/** @typedef {import('./types.js').Push} Push */

const PING_EVERY_MS = 20_000;
const PING_TIMEOUT_MS = 10_000;
/** After a sign that the network may have changed: whether the link is still alive has to be known at once. */
const PROBE_TIMEOUT_MS = 700;
const OPEN_TIMEOUT_MS = 10_000;
/** A try that has not come so far by then is given up for a fresh one when the network is back. */
const STALE_TRY_MS = 500;
const BACKOFF_FIRST_MS = 250;
const BACKOFF_MOST_MS = 30_000;
/** While someone looks at the page, a daemon that comes back is noticed soon. */
const BACKOFF_SEEN_MS = 1_000;
const HELD_MS = 5_000;
/**
 * Browsers put off the sockets of a page by seconds when about 16 of them failed within some minutes. So whether anyone is
 * there is asked by a request first, and where sockets fail all the same, only the first few follow one another soon.
 */
const SOON_SOCKETS = 3;
const SPARE_MS = 125;
const SPARE_MOST_MS = 60_000;
const BUSY_FIRST_MS = 250;
const BUSY_MOST_MS = 4_000;
/** A daemon lets a viewer ask so often, and at first so much at once, unless its settings say otherwise. */
const REQUEST_MS = 50;
const BURST_MS = 60 * REQUEST_MS;
/** So much of it is for requests that can wait. The others always find room. */
const PATIENT_MS = 40 * REQUEST_MS;
const CLOSE_UNAUTHENTICATED = 4401;
const CLOSE_REVOKED = 4403;

/**
 * @typedef {{request: Request, once: boolean, signal: AbortSignal | null, tries: number,
 *   link: Attempt | null, resolve: (answer: any) => void, reject: (fault: Error) => void}} Asked
 */

/** A socket and what waits on it. */
class Attempt {
  /** @type {Map<number, Asked>} */
  waiting = new Map();
  frames = new Frames(MAX_BYTES);
  ready = false;
  heard = false;
  /** @type {unknown} */
  timer = null;

  /** @param {Socket} socket */
  constructor(socket) {
    this.socket = socket;
  }
}

/** @extends {Observable<LinkState>} */
export class Wire extends Observable {
  /** What the daemon said when the link was last opened. @type {Welcome | null} */
  welcome = null;
  /** When the daemon was last heard. */
  heard_ms = 0;
  /** Called with each push, in order. @type {(push: Push) => void} */
  onPush = () => {};
  /** Called when a link is open, before anything else comes over it. @type {(welcome: Welcome) => void} */
  onLinked = () => {};
  #url;
  #token;
  #around;
  /** @type {Attempt | null} */
  #attempt = null;
  /** @type {Set<Asked>} */
  #held = new Set();
  #lastId = 0;
  #tries = 0;
  /** Sockets since one was last opened. */
  #unopened = 0;
  /** When the last look or socket began. */
  #begun_ms = 0;
  /** The look that goes on. @type {Promise<boolean> | null} */
  #look = null;
  /** @type {unknown} */
  #retryTimer = null;
  #closed = false;
  /** When all that was asked is within what a viewer may ask. */
  #due_ms = 0;

  /**
   * @param {string} url `ws(s)://host/link`
   * @param {string} token
   * @param {Surroundings} around
   */
  constructor(url, token, around) {
    super({ kind: around.online() ? 'reconnecting' : 'offline', since_ms: around.now(), why: '' });
    this.#url = url;
    this.#token = token;
    this.#around = around;
  }

  /**
   * Opens the link, and keeps it open from then on.
   * @param {number} [since_ms] when it was last there, before this page
   */
  start(since_ms = this.state.since_ms) {
    this._set({ since_ms });
    if (this.#attempt === null && !this.#closed && this.state.kind !== 'refused') void this.#try();
  }

  /** Looks at the link at once: the page or the network may have come back, or gone. */
  wake() {
    if (this.#closed || this.state.kind === 'refused') return;
    const attempt = this.#attempt;
    if (attempt?.ready) {
      this.#ping(attempt, PROBE_TIMEOUT_MS);
    } else if ((attempt ?? this.#look) === null || this.#around.now() - this.#begun_ms > STALE_TRY_MS) {
      this.#tries = 0;
      void this.#try();
    }
    this.#tellDown();
  }

  /**
   * Sends a request and gives its answer. It waits for the link where there is none, and is sent again where the link
   * broke or the daemon was busy. One with a signal can be ended, and waits until there is room for others besides.
   * Rejects with `WireError`.
   * @template {keyof Answers} T
   * @param {Request & {type: T}} request
   * @param {{once?: boolean, signal?: AbortSignal | null}} [how]
   * @returns {Promise<Answers[T]>}
   */
  request(request, { once = false, signal = null } = {}) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      /** @type {Asked} */
      const asked = { request, once, signal, tries: 0, link: null, resolve, reject };
      signal?.addEventListener('abort', () => {
        this.#held.delete(asked);
        reject(signal.reason);
      });
      this.#send(asked);
    });
  }

  /** Ends the link for good. What still waits fails. */
  close() {
    this.#closed = true;
    this.#around.cancel(this.#retryTimer);
    this.#drop();
    this.#failHeld(new WireError('link_lost', 'The link was closed.'));
  }

  /** @param {Asked} asked */
  #send(asked) {
    if (asked.signal?.aborted) return;
    const attempt = this.#attempt;
    if (asked.once && asked.link !== null && asked.link !== attempt) {
      asked.reject(lost());
    } else if (attempt?.ready) {
      const now = this.#around.now();
      const wait_ms = this.#due_ms - PATIENT_MS - now;
      // A longer wait is a clock that was set.
      if (asked.signal !== null && this.welcome?.role === 'viewer' && wait_ms >= 1 && wait_ms < BURST_MS) {
        this.#around.later(() => this.#send(asked), wait_ms);
        return;
      }
      this.#due_ms = Math.max(this.#due_ms, now) + REQUEST_MS;
      asked.link = attempt;
      const id = ++this.#lastId;
      attempt.waiting.set(id, asked);
      attempt.socket.send(JSON.stringify({ ...asked.request, id }));
    } else if (this.state.kind === 'refused') {
      asked.reject(new WireError('refused', this.state.why));
    } else if (asked.once || this.#closed) {
      asked.reject(lost());
    } else {
      this.#held.add(asked);
    }
  }

  /** Opens a socket, after one that failed only where anyone answers. */
  async #try() {
    this.#around.cancel(this.#retryTimer);
    this.#drop();
    this.#begun_ms = this.#around.now();
    const look = this.#unopened > 0 ? this.#around.reach(this.#url) : null;
    this.#look = look;
    if (look !== null) {
      const reached = await look;
      if (look !== this.#look) return;
      this.#look = null;
      if (!reached) {
        this.#retry(UNREACHABLE, 0);
        return;
      }
    }
    this.#unopened += 1;
    let socket;
    try {
      socket = this.#around.socket(this.#url, [SUBPROTOCOL]);
    } catch (fault) {
      // The page's own policy or the browser forbids this address: nothing will change that.
      this.#refuse(`The browser does not connect to ${this.#url}: ${String(fault)}`);
      return;
    }
    const attempt = new Attempt(socket);
    this.#attempt = attempt;
    attempt.timer = this.#around.later(() => this.#lose(attempt, 'The daemon does not answer.'), OPEN_TIMEOUT_MS);
    socket.onopen = () => {
      this.#unopened = 0;
      const hello = { type: 'hello', id: ++this.#lastId, token: this.#token, client: CLIENT };
      socket.send(JSON.stringify({ ...hello, max_message: MAX_BYTES }));
    };
    socket.onmessage = (event) => {
      if (attempt === this.#attempt) this.#take(attempt, event.data);
    };
    socket.onclose = (event) => {
      if (attempt !== this.#attempt) return;
      if (event.code === CLOSE_UNAUTHENTICATED || event.code === CLOSE_REVOKED) {
        this.#refuse(event.code === CLOSE_REVOKED ? REVOKED : UNKNOWN);
      } else {
        this.#lose(attempt, attempt.ready ? 'The link broke.' : UNREACHABLE);
      }
    };
    socket.onerror = () => {};
  }

  /**
   * @param {Attempt} attempt
   * @param {unknown} data
   */
  #take(attempt, data) {
    attempt.heard = true;
    this.heard_ms = this.#around.now();
    let message;
    try {
      message = attempt.frames.take(data);
    } catch (fault) {
      if (!(fault instanceof FrameError)) throw fault;
      this.#lose(attempt, `What the daemon sent cannot be read: ${fault.message}.`);
      return;
    }
    if (message === null) return;
    if (message['re'] === undefined) {
      if (message.type === 'entry' || message.type === 'lagged') this.onPush(/** @type {Push} */ (message));
    } else if (!attempt.ready) {
      this.#greeted(attempt, message);
    } else {
      this.#answered(attempt, message);
    }
  }

  /**
   * @param {Attempt} attempt
   * @param {{type: string, [field: string]: any}} message
   */
  #greeted(attempt, message) {
    if (message.type === 'error' && message['code'] === 'unauthenticated') {
      this.#refuse(UNKNOWN);
      return;
    }
    if (message.type !== 'welcome') {
      this.#lose(attempt, `${SAYS}${message['message'] ?? 'not what it should.'}`);
      return;
    }
    this.#around.cancel(attempt.timer);
    attempt.ready = true;
    this.#begun_ms = this.#around.now();
    attempt.timer = this.#around.later(() => this.#ping(attempt, PING_TIMEOUT_MS), PING_EVERY_MS);
    this.welcome = /** @type {Welcome} */ (message);
    this._set({ kind: 'linked', since_ms: this.#around.now(), why: '' });
    this.onLinked(this.welcome);
    const held = [...this.#held];
    this.#held.clear();
    for (const asked of held) this.#send(asked);
  }

  /**
   * @param {Attempt} attempt
   * @param {{type: string, [field: string]: any}} message
   */
  #answered(attempt, message) {
    const asked = attempt.waiting.get(message['re']);
    if (asked === undefined) return;
    attempt.waiting.delete(message['re']);
    if (message.type !== 'error') {
      asked.resolve(message);
    } else if (message['code'] === 'busy' && message['retry'] === true) {
      const most = Math.min(BUSY_FIRST_MS * 2 ** asked.tries, BUSY_MOST_MS);
      asked.tries += 1;
      this.#due_ms = this.#around.now() + BURST_MS;
      this.#around.later(() => this.#send(asked), most / 2 + (this.#around.random() * most) / 2);
    } else {
      asked.reject(new WireError(message['code'], message['message'], message['retry'] === true));
    }
  }

  /**
   * Asks for a sign of life; nothing heard in time, and the link counts as broken.
   * @param {Attempt} attempt
   * @param {number} timeout_ms
   */
  #ping(attempt, timeout_ms) {
    if (attempt !== this.#attempt) return;
    this.#around.cancel(attempt.timer);
    attempt.heard = false;
    attempt.socket.send(JSON.stringify({ type: 'ping', id: ++this.#lastId }));
    attempt.timer = this.#around.later(() => {
      // What came while the page was held up is in the queue behind this call: it is taken first.
      attempt.timer = this.#around.later(() => {
        if (attempt !== this.#attempt) return;
        if (!attempt.heard) this.#lose(attempt, 'The daemon does not answer.');
        else attempt.timer = this.#around.later(() => this.#ping(attempt, PING_TIMEOUT_MS), PING_EVERY_MS);
      }, 0);
    }, timeout_ms);
  }

  /**
   * @param {Attempt} attempt
   * @param {string} why
   */
  #lose(attempt, why) {
    if (attempt !== this.#attempt) return;
    if (attempt.ready && this.#around.now() - this.#begun_ms >= HELD_MS) this.#tries = 0;
    this.#drop();
    this.#retry(why, this.#unopened > SOON_SOCKETS ? Math.min(SPARE_MS * 2 ** this.#unopened, SPARE_MOST_MS) : 0);
  }

  /**
   * @param {string} why
   * @param {number} least_ms
   */
  #retry(why, least_ms) {
    this.#tellDown(why);
    const most = Math.min(
      BACKOFF_FIRST_MS * 2 ** Math.min(this.#tries, 10),
      this.#around.visible() ? BACKOFF_SEEN_MS : BACKOFF_MOST_MS,
    );
    this.#tries += 1;
    this.#retryTimer = this.#around.later(() => this.#try(), Math.max(least_ms, this.#around.random() * most));
  }

  /** @param {string} why */
  #refuse(why) {
    this.#drop();
    this._set({ kind: 'refused', since_ms: this.#around.now(), why });
    this.#failHeld(new WireError('refused', why));
  }

  /** Lets go of the socket or look. What waited on it waits for the next link, or fails. */
  #drop() {
    const attempt = this.#attempt;
    this.#attempt = this.#look = null;
    if (attempt === null) return;
    this.#around.cancel(attempt.timer);
    const { socket } = attempt;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close(1000);
    for (const asked of attempt.waiting.values()) {
      if (asked.once) asked.reject(lost());
      else this.#held.add(asked);
    }
    attempt.waiting.clear();
  }

  /** @param {Error} fault */
  #failHeld(fault) {
    const held = [...this.#held];
    this.#held.clear();
    for (const asked of held) asked.reject(fault);
  }

  /** @param {string} [why] */
  #tellDown(why = this.state.why) {
    if (this.#attempt?.ready) return;
    const kind = this.#around.online() ? 'reconnecting' : 'offline';
    const now = this.#around.now();
    // What slept is told late of a link that broke meanwhile.
    const last_ms = now - this.heard_ms < PING_EVERY_MS + PING_TIMEOUT_MS ? now : this.heard_ms;
    const since_ms = this.state.kind === 'linked' ? last_ms : this.state.since_ms;
    if (kind !== this.state.kind || why !== this.state.why) this._set({ kind, since_ms, why });
  }
}

/** Begins what a daemon gives as its reason to take no link. */
export const SAYS = 'The daemon says: ';
const UNREACHABLE = 'The daemon cannot be reached.';
const UNKNOWN = 'The daemon does not know this pairing (any more): pair again.';
const REVOKED = 'The daemon has taken back this pairing: pair again.';

function lost() {
  return new WireError('link_lost', 'The link broke before the answer came.', true);
}
