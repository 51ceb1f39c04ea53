-- 0080  Uploads that were attached and not ended are found by an index.
--
-- Why       A file that was begun and not ended for a day goes, also where an item carries it already: its bytes count
--           against the quota, and nothing else ever ends it (docs/decisions/0272).
-- Used by   the sweep of files (src/core/areas/media/sweep.ts).
-- Locks     SHARE on media while the index is built: uploads wait, for a second in a million rows.
-- Old code  runs: the release before this one runs against it unharmed: only additions.
-- Undo      drop index attached_uploads.

create index attached_uploads on media (tenant_id, updated_at) where state = 'UPLOADING' and loose_since is null;
