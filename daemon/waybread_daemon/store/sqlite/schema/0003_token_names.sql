-- What the client that has a token calls itself: a device can have several, and whoever revokes one has to tell it from the
-- others. Empty where nobody has said.
ALTER TABLE token ADD COLUMN name TEXT NOT NULL DEFAULT '';

-- Only of rows that are as they were written: what was damaged before stays known for it.
UPDATE token SET checksum = row_checksum(token, device, role, secret_hash, made_ms, seen_ms, revoked_ms, name)
WHERE checksum = row_checksum(token, device, role, secret_hash, made_ms, seen_ms, revoked_ms);
