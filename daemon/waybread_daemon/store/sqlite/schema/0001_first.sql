-- One value a name: `epoch` (changes when the store is restored from a backup), `accounts_version`, and `probes` (what is
-- written to learn whether the disk takes writes again; not there before the first one).
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (name, value) VALUES ('epoch', lower(hex(randomblob(8)))), ('accounts_version', 1);

CREATE TABLE device (
    number INTEGER PRIMARY KEY,
    device TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    made_ms INTEGER NOT NULL
) STRICT;

-- Only a hash of the secret is kept. `seen_ms` and `revoked_ms` are 0 where it never was.
CREATE TABLE token (
    token TEXT PRIMARY KEY,
    device INTEGER NOT NULL,
    role TEXT NOT NULL,
    secret_hash BLOB NOT NULL,
    made_ms INTEGER NOT NULL,
    seen_ms INTEGER NOT NULL DEFAULT 0,
    revoked_ms INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- `session` is the client's id. `state`: 0 there, 1 deleted and not yet purged, 2 deleted and purged. The row of a
-- deleted session stays, so that its id is never taken again. `base_seq`: the newest compaction, 0 where there is none;
-- it stays where that one's turn is taken back, so whoever loads from there looks whether it still counts.
CREATE TABLE session (
    number INTEGER PRIMARY KEY,
    device INTEGER NOT NULL,
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    directory TEXT NOT NULL,
    epoch TEXT NOT NULL,
    state INTEGER NOT NULL DEFAULT 0,
    results INTEGER NOT NULL DEFAULT 0,
    turn TEXT NOT NULL DEFAULT '',
    head INTEGER NOT NULL,
    opened_seq INTEGER NOT NULL,
    opened_ms INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL,
    base_seq INTEGER NOT NULL DEFAULT 0,
    newest_key TEXT NOT NULL DEFAULT '',
    UNIQUE (device, session)
) STRICT;

-- There is none by `head`: it would move with every record, and a device's sessions are few enough to be sorted.
CREATE INDEX session_to_purge ON session (number) WHERE state = 1;

CREATE TABLE turn (
    session INTEGER NOT NULL,
    name TEXT NOT NULL,
    seq INTEGER NOT NULL,
    taken_back INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, name)
) STRICT, WITHOUT ROWID;

-- The log. `id` is the device's number times 2^40 plus `seq`, so one device's log stands in one place, in order, and
-- appending never touches old pages. `payload` is the arguments (the first `args_bytes` of it) and the body, where that
-- is not in `content` or with the result `root`; `encoding` 0: as it is, 1: zstd. It stands last, because what stands
-- behind a large column is slow to read.
CREATE TABLE entry (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    kind TEXT NOT NULL,
    number INTEGER,
    root INTEGER,
    content INTEGER,
    facts BLOB NOT NULL,
    args_bytes INTEGER NOT NULL,
    encoding INTEGER NOT NULL,
    payload BLOB NOT NULL
) STRICT;

-- Unique, as the keys below, so that no fault of the program can ever give a number or a key twice. Both rise with time
-- in a session, so a batch touches few pages of them.
CREATE UNIQUE INDEX entry_by_number ON entry (session, number) WHERE number IS NOT NULL;

-- Which entry a request's key stands for. A table, because an index would keep each key a second time.
CREATE TABLE entry_key (
    session INTEGER NOT NULL,
    key TEXT NOT NULL,
    entry INTEGER NOT NULL,
    PRIMARY KEY (session, key)
) STRICT, WITHOUT ROWID;

-- Every entry of a session in order, and what its state is folded from (empty where the entry has no event). Apart from
-- the entries, so that loading a session reads a few pages and not one for each entry.
CREATE TABLE event (
    session INTEGER NOT NULL,
    entry INTEGER NOT NULL,
    event BLOB NOT NULL,
    PRIMARY KEY (session, entry)
) STRICT, WITHOUT ROWID;

-- Content of files, found by its hash; and large bodies and windows, which have no hash. `state`: 0 written ahead and
-- taken up by no record, or half purged; 1 taken up; 2 let go by the last session that held it. Small content is in
-- `data`, larger in chunks; `marks` has three 64-bit numbers for each chunk: the bytes, line ends and characters before it.
CREATE TABLE content (
    id INTEGER PRIMARY KEY,
    device INTEGER NOT NULL,
    sha256 BLOB,
    state INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    chars INTEGER NOT NULL,
    marks BLOB NOT NULL,
    data BLOB
) STRICT;

CREATE UNIQUE INDEX content_by_hash ON content (device, sha256) WHERE sha256 IS NOT NULL AND state > 0;
CREATE INDEX content_loose ON content (id) WHERE state <> 1;

-- `id` is the content's times 2^20 plus the chunk's place; `data` is compressed.
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    data BLOB NOT NULL
) STRICT;

-- Which session holds which content. Content that no session holds is purged.
CREATE TABLE holding (
    content INTEGER NOT NULL,
    session INTEGER NOT NULL,
    PRIMARY KEY (content, session)
) STRICT, WITHOUT ROWID;

CREATE INDEX holding_by_session ON holding (session);
