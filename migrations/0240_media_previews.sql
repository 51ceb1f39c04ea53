-- 0240  Previews of pictures.
--
-- Why       A list of pictures would send each of them whole. A picture has its size, and two small forms in the store beside it
--           (docs/decisions/0515): `small_bytes` and `medium_bytes` say how long they are, and null that there is none.
-- Used by   src/core/areas/media. `media_without_previews` is what the sweep looks for: pictures of before this migration, and
--           those that came back with a restore.
-- Locks     ACCESS EXCLUSIVE on media for as long as the index is made: a second for a million files.
-- Old code  runs: its pictures have no previews, until the sweep of the new code makes them.
-- Undo      drop the index and the columns, and remove what ends in `.small` and `.medium` in the store.

alter table media
  add column width integer check (width > 0),
  add column height integer check (height > 0),
  add column small_bytes integer check (small_bytes > 0),
  add column medium_bytes integer check (medium_bytes > 0),
  -- When they were made, or found to be impossible.
  add column previewed_at timestamptz;
create index media_without_previews on media (tenant_id, id)
  where state = 'READY' and previewed_at is null and kind = 'IMAGE';
