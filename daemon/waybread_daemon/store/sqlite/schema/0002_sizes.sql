-- Two things that go together, because both are kept by whoever writes a row: what things take, and checksums of rows.

-- What sessions and devices take, kept by whoever writes in the transaction that changes it. *Raw* is what came in, *stored*
-- what it takes on the disk: the lengths of its columns, and 96 bytes a row for heads and indexes.

-- When the device was deleted, 0 where it is there. Its row stays, so that its number and its id are never given again.
ALTER TABLE device ADD COLUMN gone_ms INTEGER NOT NULL DEFAULT 0;

-- Contents of files that it has, each once.
ALTER TABLE device ADD COLUMN files_raw_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE device ADD COLUMN files_stored_bytes INTEGER NOT NULL DEFAULT 0;

-- Entries of the session with their bodies, and contents of files that it holds. What a deleted session still takes falls
-- while it is purged.
ALTER TABLE session ADD COLUMN raw_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN files_raw_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN files_stored_bytes INTEGER NOT NULL DEFAULT 0;

-- What a content's chunks take. It stands behind `data`, which is slow to pass over, and is asked for only where that is
-- null.
ALTER TABLE content ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;

UPDATE content SET stored_bytes = (
    SELECT coalesce(sum(length(data)), 0) FROM chunk WHERE id >= content.id << 20 AND id < (content.id + 1) << 20
) WHERE data IS NULL;

-- `raw_size` is the migration's own function: a payload's size before it was compressed.
UPDATE session SET (raw_bytes, stored_bytes) = (
    SELECT
        coalesce(sum(CASE e.encoding WHEN 0 THEN length(e.payload) ELSE raw_size(e.payload) END), 0),
        coalesce(sum(length(e.payload) + length(e.facts) + length(v.event) + 96), 0)
    FROM event AS v JOIN entry AS e ON e.id = v.entry WHERE v.session = session.number
) WHERE state < 2;

UPDATE session SET stored_bytes = stored_bytes
    + (SELECT coalesce(sum(length(k.key)), 0) FROM entry_key AS k WHERE k.session = session.number)
WHERE state < 2;

UPDATE session SET
    raw_bytes = session.raw_bytes + held.raw_bytes,
    stored_bytes = session.stored_bytes + held.stored_bytes,
    files_raw_bytes = held.files_raw_bytes,
    files_stored_bytes = held.files_stored_bytes
FROM (
    SELECT
        h.session AS session,
        sum(CASE WHEN c.sha256 IS NULL THEN c.size_bytes ELSE 0 END) AS raw_bytes,
        sum(CASE WHEN c.sha256 IS NULL THEN coalesce(length(c.data), c.stored_bytes) + 96 ELSE 0 END) AS stored_bytes,
        sum(CASE WHEN c.sha256 IS NULL THEN 0 ELSE c.size_bytes END) AS files_raw_bytes,
        sum(CASE WHEN c.sha256 IS NULL THEN 0 ELSE coalesce(length(c.data), c.stored_bytes) + 96 END) AS files_stored_bytes
    FROM holding AS h JOIN content AS c ON c.id = h.content GROUP BY h.session
) AS held WHERE held.session = session.number;

UPDATE device SET files_raw_bytes = files.raw_bytes, files_stored_bytes = files.stored_bytes FROM (
    SELECT device, sum(size_bytes) AS raw_bytes, sum(coalesce(length(data), stored_bytes) + 96) AS stored_bytes
    FROM content WHERE sha256 IS NOT NULL AND state > 0 GROUP BY device
) AS files WHERE files.device = device.number;

-- A checksum of each row: `checksums.COLUMNS` says of what, and `row_checksum` is that module's own function. It stands behind
-- a large column only where that is read for it anyway. Of a turn that is taken back it is inverted.
ALTER TABLE device ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE token ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turn ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entry ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entry_key ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE content ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chunk ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;

UPDATE device SET checksum = row_checksum(number, device, name, made_ms, gone_ms);
UPDATE token SET checksum = row_checksum(token, device, role, secret_hash, made_ms, seen_ms, revoked_ms);
UPDATE session SET checksum = row_checksum(number, device, session, kind, title, directory, epoch, opened_seq, opened_ms);
UPDATE turn SET checksum = iif(taken_back, ~row_checksum(session, name, seq), row_checksum(session, name, seq));
UPDATE entry SET checksum =
    row_checksum(id, session, kind, number, root, content, facts, args_bytes, encoding, payload);
UPDATE entry_key SET checksum = row_checksum(session, key, entry);
UPDATE event SET checksum = row_checksum(session, entry, event);
UPDATE content SET checksum = row_checksum(id, device, sha256, size_bytes, lines, chars, marks, data);
UPDATE chunk SET checksum = row_checksum(id, data);

INSERT INTO meta (name, value) SELECT 'epoch_checksum', row_checksum(value) FROM meta WHERE name = 'epoch';
