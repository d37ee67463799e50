// A daemon for tests: a log in memory, answered over fake sockets after delays of chance, in the order that the contract
// promises and no more: answers of one session stay in order, others overtake, pushes come in their own order.

import { resultId } from '../js/core/texts.js';
import { WELCOME } from './around.js';

const EMPTY = {
  turn: '', role: '', result: '', tool: '', call: '', args: {}, args_chars: 0, body: '', error: false, capped: false,
  text: '', text_chars: 0, stub_of: null, turns: [], session_kind: '', title: '',
};

export class FakeDaemon {
  epoch = 'e1';
  head = 0;
  up = true;
  /** How long a way takes: `look` to the log, `answer` back from there (both with the request), `push`. Tests set it. */
  delay_ms = (_way, _request) => 0;
  /** Entries of a page at most, so that there are several. */
  pageEntries = 50;
  entries = [];
  sessions = new Map();
  bodies = new Map();
  links = new Set();
  asked = [];
  /** Error codes with which the next requests are answered. */
  failing = [];

  constructor(world) {
    this.world = world;
    world.answering = () => this.up;
    world.connect = (socket) => {
      if (this.up) this.#accept(socket);
      else world.around.later(() => socket.end(), 1);
    };
  }

  // What sessions do.

  open(session, title = '') {
    this.sessions.set(session, { session, kind: 'agent', title, directory: `/home/${session}`, results: 0, head: 0, opened_ms: this.world.time, changed_ms: 0, last_line: '', raw_bytes: 0, stored_bytes: 0 });
    return this.#append(session, { kind: 'opened', session_kind: 'agent', title });
  }

  say(session, text) {
    return this.#append(session, { kind: 'message', role: 'user', text, text_chars: text.length }, text);
  }

  result(session, text, tool = 'bash') {
    const row = this.sessions.get(session);
    row.results += 1;
    this.bodies.set(`${session} ${row.results}`, { text, tool });
    return this.#append(session, { kind: 'result', tool, result: resultId(row.results), text, text_chars: text.length, turn: 't1' }, text);
  }

  takeBack(session, ...turns) {
    return this.#append(session, { kind: 'taken_back', turns });
  }

  /** Has a number and no entry. */
  carry(session) {
    this.head += 1;
    Object.assign(this.sessions.get(session), { head: this.head });
    this.#push();
  }

  delete(session) {
    this.sessions.delete(session);
    this.entries = this.entries.filter((entry) => entry.session !== session);
    this.#append(session, { kind: 'deleted' });
  }

  /** Back to an earlier state, as from a backup. */
  restore(head, epoch) {
    this.cut();
    this.epoch = epoch;
    this.head = head;
    this.entries = this.entries.filter((entry) => entry.seq <= head);
    for (const [session, row] of this.sessions) {
      const own = this.entries.filter((entry) => entry.session === session);
      if (own.length === 0) this.sessions.delete(session);
      else Object.assign(row, { head: own.at(-1).seq, results: own.filter((entry) => entry.kind === 'result').length });
    }
  }

  #append(session, fields, line = '') {
    this.head += 1;
    const entry = { ...EMPTY, seq: this.head, session, at_ms: this.world.time, ...fields };
    this.entries.push(entry);
    const row = this.sessions.get(session);
    if (row !== undefined) {
      Object.assign(row, { head: this.head, changed_ms: this.world.time });
      if (line !== '') row.last_line = line;
      row.raw_bytes += entry.text.length;
    }
    this.#push();
    return entry;
  }

  // What is right.

  list() {
    return [...this.sessions.values()].sort((one, other) => other.head - one.head);
  }

  of(session) {
    return this.entries.filter((entry) => entry.session === session);
  }

  // The link.

  /** Breaks every link, as a network does. */
  cut(code = 1006) {
    for (const link of [...this.links]) link.socket.end(code);
    this.links.clear();
  }

  lag() {
    for (const link of this.links) {
      if (link.cursor === null) continue;
      link.say({ type: 'lagged', next: link.cursor }, 'push');
      link.cursor = null;
    }
  }

  #accept(socket) {
    const daemon = this;
    const last = new Map();
    const link = {
      socket,
      cursor: null,
      /** Sends after a delay, behind what was sent in the same row. */
      say(message, row, request) {
        const way = request === undefined ? 'push' : 'answer';
        const at = Math.max(daemon.world.time + daemon.delay_ms(way, request), last.get(row) ?? 0);
        last.set(row, at);
        // A push never comes before the page that it follows.
        if (request?.type === 'sync') last.set('push', Math.max(at, last.get('push') ?? 0));
        daemon.world.around.later(() => socket.tell(message), at - daemon.world.time);
      },
    };
    socket.onclosed = () => this.links.delete(link);
    socket.onsent = (message) => {
      this.asked.push(message);
      const failure = message.type === 'hello' ? undefined : this.failing.shift();
      const row = message.session || (message.type === 'sync' ? 'push' : message.type);
      // The look at the log comes when the request does, its answer later.
      const took = this.delay_ms('look', message);
      this.world.around.later(() => {
        if (socket.readyState !== 1) return;
        const answer = failure
          ? { type: 'error', code: failure, message: `It is ${failure}.`, retry: failure === 'busy' || failure === 'internal' }
          : this.#answer(link, message);
        link.say({ ...answer, re: message.id }, row, message);
      }, took);
    };
    this.world.around.later(() => {
      if (!this.up) socket.end();
      else {
        this.links.add(link);
        socket.open();
      }
    }, this.delay_ms('look', { type: 'open' }));
  }

  #push() {
    for (const link of this.links) {
      if (link.cursor === null) continue;
      for (const entry of this.entries.filter((one) => one.seq > link.cursor)) link.say({ type: 'entry', entry }, 'push');
      link.cursor = this.head;
    }
  }

  #answer(link, message) {
    const error = (code) => ({ type: 'error', code, message: `It is ${code}.`, retry: false });
    switch (message.type) {
      case 'hello':
        return { ...WELCOME, epoch: this.epoch, head: this.head };
      case 'ping':
        return { type: 'done', seq: 0, repeated: false };
      case 'sessions': {
        const rows = this.list().filter((row) => !message.before || row.head < message.before);
        const sessions = structuredClone(rows.slice(0, message.limit));
        return { type: 'session_list', sessions, more: sessions.length < rows.length };
      }
      case 'sync': {
        if (message.after > 0 && (message.epoch !== this.epoch || message.after > this.head)) return error('reset');
        const left = this.entries.filter((entry) => entry.seq > message.after);
        const entries = left.slice(0, this.pageEntries);
        const more = entries.length < left.length;
        const next = more ? entries.at(-1).seq : this.head;
        link.cursor = message.follow && !more ? this.head : null;
        return { type: 'page', epoch: this.epoch, entries, next, head: this.head, more };
      }
      case 'history': {
        if (!this.sessions.has(message.session)) return error('gone');
        const left = this.of(message.session).filter((entry) => !message.before || entry.seq < message.before);
        const entries = left.slice(-Math.min(message.limit, this.pageEntries));
        const more = entries.length < left.length;
        return { type: 'page', epoch: this.epoch, entries, next: more ? entries[0].seq : 0, head: this.head, more };
      }
      case 'reads':
        return { type: 'read_list', reads: [] };
      case 'entry_text': {
        const whole = [...this.entries.find((entry) => entry.seq === message.seq).whole];
        const text = whole.slice(message.from_char, message.from_char + 10).join('');
        const next = message.from_char + 10;
        return { type: 'text_piece', seq: message.seq, from_char: message.from_char, text, next_char: next < whole.length ? next : null };
      }
      case 'show':
        return this.#show(message);
      default:
        return error('unknown_type');
    }
  }

  pageChars = 1000;

  /** Whether `show` tells the entry's `seq`, as older ones do not. */
  tellsSeq = true;

  #show({ session, result, offset, limit, from_char }) {
    const { text, tool } = this.bodies.get(`${session} ${parseInt(result.slice(1), 16)}`);
    const lines = text === '' ? [] : text.split(/(?<=\n)/);
    const first = offset <= lines.length ? offset : 0;
    const last = first === 0 ? 0 : Math.min(lines.length, first + Math.min(limit, 2000) - 1);
    const range = first === 0 ? [] : [...lines.slice(first - 1, last).join('')];
    const piece = range.slice(from_char, from_char + this.pageChars);
    const end = from_char + piece.length;
    const seq = this.of(session).find((entry) => entry.result === result)?.seq;
    const told = this.tellsSeq ? { seq } : {};
    const next_char = end < range.length ? end : null;
    return { type: 'shown', result, tool, text: piece.join(''), first, last, lines: lines.length, next_char, ...told };
  }
}
