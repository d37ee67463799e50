// Types only: what goes over the wire, what the models of this folder hold, and what they need from around them.
// Names of the wire are kept as they are there; `_ms` is milliseconds (since 1970 where it is a time).

/**
 * One change of a device's log, as pages and pushes bring it. Fields that do not apply have their empty value; `kind`
 * is `opened`, `turn`, `message`, `result`, `recall`, `taken_back`, `compacted`, `deleted`, or one of a newer daemon.
 * `text` may be cut: then it has fewer than `text_chars` characters (code points), see `isCut` in `texts.js`.
 * @typedef {{
 *   seq: number, session: string, at_ms: number, kind: string, turn: string, role: string, result: string,
 *   tool: string, call: string, args: {[name: string]: unknown}, args_chars: number, body: string, error: boolean,
 *   capped: boolean, text: string, text_chars: number, stub_of: string | null, turns: string[], session_kind: string,
 *   title: string
 * }} Entry
 */

/**
 * A session of the device: `head` is the `seq` of its last change.
 * @typedef {{
 *   session: string, kind: string, title: string, directory: string, results: number, head: number,
 *   opened_ms: number, changed_ms: number, last_line: string, raw_bytes: number, stored_bytes: number
 * }} SessionRow
 */

/**
 * The newest full read of a file. `first` and `last` are 0 for an empty file.
 * @typedef {{
 *   path: string, absolute: string, first: number, last: number, lines: number, sha256: string, result: string,
 *   in_request: boolean, changed: boolean
 * }} ReadRow
 */

/**
 * @typedef {{type: 'welcome', re: number, protocol: number, server: string, device: string, name: string, role: string,
 *   epoch: string, head: number, limits: {max_frame: number, max_message: number, page_bytes: number},
 *   features: string[]}} Welcome
 * @typedef {{type: 'paired', re: number, device: string, role: string, token: string}} Paired
 * @typedef {{type: 'page', re: number, epoch: string, entries: Entry[], next: number, head: number,
 *   more: boolean}} Page
 * @typedef {{type: 'session_list', re: number, sessions: SessionRow[], more: boolean}} SessionList
 * @typedef {{type: 'shown', re: number, result: string, tool: string, text: string, first: number, last: number,
 *   lines: number, next_char: number | null, seq?: number}} Shown
 * @typedef {{type: 'read_list', re: number, reads: ReadRow[]}} ReadList
 * @typedef {{type: 'text_piece', re: number, seq: number, from_char: number, text: string,
 *   next_char: number | null}} TextPiece
 * @typedef {{type: 'done', re: number, seq: number, repeated: boolean}} Done
 * @typedef {{type: 'error', re: number, code: string, message: string, retry: boolean}} ErrorAnswer
 * @typedef {{type: 'entry', entry: Entry} | {type: 'lagged', next: number}} Push
 */

/**
 * What a request is answered with, by the request's `type`. These are all requests that only look.
 * @typedef {{
 *   ping: Done, sessions: SessionList, sync: Page, history: Page, entry_text: TextPiece, unfollow: Done, show: Shown,
 *   reads: ReadList
 * }} Answers
 */

/**
 * The requests, without the `id` that the wire gives them.
 * @typedef {{type: 'ping'} | {type: 'unfollow'}
 *   | {type: 'sessions', before?: number, limit?: number}
 *   | {type: 'sync', after?: number, epoch?: string, session?: string, follow?: boolean}
 *   | {type: 'history', session: string, before?: number, limit?: number}
 *   | {type: 'entry_text', seq: number, from_char?: number}
 *   | {type: 'show', session: string, result: string, offset?: number, limit?: number, from_char?: number}
 *   | {type: 'reads', session: string}} Request
 */

/**
 * How the link is. `linked`; `reconnecting`: the daemon does not answer, it is tried again and again; `offline`: the
 * browser itself says that it has no network; `refused`: the token is not (or no longer) taken, nothing is tried any
 * more. `since_ms` is when it became so (for the first two that are not linked: when the link was last there, also before
 * this page); `why` a sentence for a person, or empty.
 * @typedef {{kind: 'linked' | 'reconnecting' | 'offline' | 'refused', since_ms: number, why: string}} LinkState
 */

/**
 * A device of a daemon that this browser may look at. `id` is made here and stands in addresses; `url` is the
 * daemon's link, `ws(s)://host/link`.
 * @typedef {{id: string, url: string, device: string, name: string, role: string, token: string,
 *   paired_ms: number}} Pairing
 */

/**
 * `away`: there is no link, and for longer than a moment. `sessions` are last changed first. `loaded_all`: there are no older ones to load. `loading`: nothing is known yet and
 * the daemon was not yet heard. `as_of_ms` is null while everything is live; else the time up to which this is right (0:
 * nothing was ever had).
 * @typedef {{link: LinkState, away: boolean, sessions: SessionRow[], loaded_all: boolean, loading: boolean,
 *   as_of_ms: number | null}} HomeState
 */

/**
 * `entries` ascend and are whole from the first of them to the end of the session. `has_older`: there are entries
 * before. `taken_back` are the turns taken back. `loading`: nothing is known of the end yet. `gone`: deleted, or never
 * there. `log`: another number where what was told before is of another log. `problem`: a sentence for a person where
 * something could not be had, or empty. `as_of_ms` as in HomeState.
 * @typedef {{session: string, row: SessionRow | null, entries: Entry[], has_older: boolean,
 *   older_loading: boolean, taken_back: Set<string>, loading: boolean, gone: boolean, log: number, problem: string,
 *   as_of_ms: number | null}} TranscriptState
 */

/**
 * A line of a result, without its ending. `cut`: the line is longer, `linePieces` has the rest.
 * @typedef {{number: number, text: string, cut: boolean}} Line
 */

/**
 * `lines` is the length of the result in lines, null until the first answer. `seq` is that of its entry, 0 where that is
 * not known: older daemons do not tell it.
 * @typedef {{tool: string, lines: number | null, seq: number}} ResultMeta
 */

/**
 * A place where a searched text stands: `from` and `to` count UTF-16 units in the whole line, `from_char` characters.
 * @typedef {{line: number, from: number, to: number, from_char: number}} Found
 */

/**
 * How far a walk through a result is: the line that it is at, and how many UTF-16 units it has had.
 * @typedef {{line: number, lines: number, units: number}} Progress
 */

/**
 * The part of a WebSocket that the wire uses.
 * @typedef {{
 *   readonly readyState: number,
 *   send(text: string): void, close(code?: number, reason?: string): void,
 *   onopen: ((event: any) => void) | null,
 *   onmessage: ((event: any) => void) | null,
 *   onclose: ((event: any) => void) | null,
 *   onerror: ((event: any) => void) | null
 * }} Socket
 */

/**
 * What the world gives: time, chance, sockets, and whether the page is seen and the network there. Tests give others.
 * `reach` tells whether anyone answers where that link leads to, or is null where the page may not ask there.
 * @typedef {{
 *   now(): number, random(): number,
 *   later(run: () => void, ms: number): unknown, cancel(timer: unknown): void,
 *   socket(url: string, protocols: string[]): Socket,
 *   visible(): boolean, online(): boolean,
 *   reach(url: string): Promise<boolean> | null,
 *   ask(path: string, method: string): Promise<{status: number, headers: {get(name: string): string | null}}>
 * }} Surroundings
 */

export {};
