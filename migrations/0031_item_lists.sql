-- 0031  Which items have no labels, no people or no values.
--
-- Why       An item's lists are rows of their own, and looking for them takes two thirds of the time of a page, although
--           most items have none (docs/decisions/0187).
-- Used by   src/core/areas/items/item.ts reads by them; each rule that adds the first row of a list clears its column.
-- Locks     ACCESS EXCLUSIVE on item, for a moment: no row is written. What exists may have lists, as far as these say.
-- Old code  stops: the release before this one adds rows and clears nothing: stop it before this migration, as for 0030.
-- Undo      drop the columns.

alter table item
  add column without_labels boolean not null default false,
  add column without_members boolean not null default false,
  add column without_values boolean not null default false;
