-- 0038  Items have a start, and dates that are days.
--
-- Why       A day ("due on Friday") does not shift with the reader. `start_at` and `due_at` are always set beside it: the
--           first and the last millisecond of the days in `time_zone`, so that one index serves moments and days
--           (docs/decisions/0200).
-- Used by   src/core/areas/items/dates.ts; a change of `due_at` alone clears what does not fit to it.
-- Locks     ACCESS EXCLUSIVE on item while its rows are checked: seconds for some millions.
-- Old code  stops: the release before this one changes `due_at` and leaves a day beside it: stop it before this migration.
-- Undo      drop the columns; days and starts are lost, due moments stay.

alter table item
  add column start_at timestamptz,
  add column start_on date,
  add column due_on date,
  add column time_zone text,
  add constraint item_start_before_due check (start_at is null or due_at is not null and start_at <= due_at),
  add constraint item_days check (
    (due_on is null or due_at is not null and time_zone is not null)
    and (start_on is null or due_on is not null and start_on <= due_on)
    and (start_at is null or (start_on is null) = (due_on is null)));
