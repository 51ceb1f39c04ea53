-- 0128  Files that only purged items carry, and that a legal hold keeps.
--
-- Why       Such a file goes as it would without the hold: it is not attached any more, and a day later it is in no answer and its bytes
--           count against no quota. Its row, its references and its bytes stay until the release (docs/decisions/0364).
-- Used by   src/core/areas/items/trash/files.ts, src/core/areas/media/sweep.ts; media-row.ts, list.ts and removal.ts leave it out.
-- Locks     ACCESS EXCLUSIVE on media for a moment: no row is written.
-- Old code  runs: it shows such a file to whoever uploaded it.
-- Undo      drop the column.

alter table media add column withheld_at timestamptz;
