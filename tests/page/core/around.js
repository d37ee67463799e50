// A world for the models: a clock that moves when a test says so, chance from a seed, and sockets that a test answers.

/** Lets everything run that needs no clock: promises, and IndexedDB, which works in turns of the loop. */
export async function settle(turns = 12) {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Small, seeded chance (mulberry32). */
export function chance(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A socket whose other end is the test. */
export class FakeSocket {
  readyState = 0;
  onopen = null;
  onmessage = null;
  onclose = null;
  onerror = null;
  sent = [];
  closed = null;

  constructor(url, protocols) {
    this.url = url;
    this.protocols = protocols;
  }

  send(text) {
    if (this.readyState !== 1) throw new Error('the socket is not open');
    this.sent.push(JSON.parse(text));
    this.onsent?.(this.sent.at(-1));
  }

  close(code = 1005) {
    this.readyState = 3;
    this.closed ??= code;
    this.onclosed?.();
  }

  // What the other end does.

  open() {
    if (this.readyState !== 0) return;
    this.readyState = 1;
    this.onopen?.({});
  }

  tell(message) {
    if (this.readyState === 1) this.onmessage?.({ data: typeof message === 'string' ? message : JSON.stringify(message) });
  }

  end(code = 1006) {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.closed ??= code;
    this.onclose?.({ code, reason: '' });
  }

  /** The last message of a type, as it was sent. */
  last(type) {
    return this.sent.findLast((message) => message.type === type);
  }
}

/** The surroundings, and what a test does with them. */
export class World {
  time = 1_000_000;
  seen = true;
  hasNetwork = true;
  /** What a request is answered, by its method and path. */
  answers = {};
  /** Whether anyone answers where the page is from: `home`. */
  answering = () => true;
  /** When that was asked. */
  looks = [];
  sockets = [];
  connect = () => {};
  #timers = new Map();
  #timer = 0;

  constructor(seed = 1) {
    this.random = chance(seed);
  }

  around = {
    now: () => this.time,
    random: () => this.random(),
    later: (run, ms) => {
      this.#timer += 1;
      this.#timers.set(this.#timer, { at: this.time + ms, run });
      return this.#timer;
    },
    cancel: (timer) => this.#timers.delete(timer),
    socket: (url, protocols) => {
      const socket = new FakeSocket(url, protocols);
      this.sockets.push(socket);
      this.connect(socket);
      return socket;
    },
    visible: () => this.seen,
    online: () => this.hasNetwork,
    reach: (url) => {
      if (new URL(url).host !== 'home') return null;
      this.looks.push(this.time);
      return Promise.resolve(this.answering());
    },
    ask: async (path, method) => {
      const { status = 0, policy = null } = this.answers[`${method} ${path}`] ?? {};
      return { status, headers: new Headers(policy === null ? {} : { 'Content-Security-Policy': policy }) };
    },
  };

  get socket() {
    return this.sockets.at(-1);
  }

  /** Moves the clock, and runs what is due on the way, in order, each with what follows from it. */
  async pass(ms) {
    const end = this.time + ms;
    for (;;) {
      await settle(2);
      const due = [...this.#timers].filter(([, timer]) => timer.at <= end);
      if (due.length === 0) break;
      due.sort(([one, first], [other, second]) => first.at - second.at || one - other);
      const [[number, timer]] = due;
      this.#timers.delete(number);
      this.time = Math.max(this.time, timer.at);
      timer.run();
    }
    this.time = end;
    await settle();
  }
}

export const WELCOME = {
  type: 'welcome',
  protocol: 1,
  server: 'waybread/test',
  device: 'd_1',
  name: 'phone',
  role: 'viewer',
  epoch: 'e1',
  head: 0,
  limits: { max_frame: 1048576, max_message: 67108864, page_bytes: 131072 },
  features: ['session_lines'],
};
