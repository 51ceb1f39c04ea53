-- 0035  A purge remembers which tables it has found empty.
--
-- Why       A try has 5 s. Without this, each one looks through all tables from the first, and on a slow server it comes
--           no further than the one before.
-- Used by   the purge of a workspace. Its last transaction looks at every table all the same, and forgets what stands
--           here if it finds a row.
-- Locks     ACCESS EXCLUSIVE on purge_progress for a moment; it has a row for each purge under way.
-- Old code  runs: the release before this one runs against it unharmed: an addition with a default.
-- Undo      alter table purge_progress drop column emptied

alter table purge_progress add column emptied jsonb not null default '[]';
