-- 0126  Covers of items.
--
-- Why       An item shows a picture that it carries, or a colour, at its head (docs/decisions/0361). A picture that it does not
--           carry any more is not shown, so detaching it rewrites no item.
-- Used by   src/core/areas/items/cover.ts, item.ts.
-- Locks     ACCESS EXCLUSIVE on item for a moment: no row is written. The check is not of rows before, which have none.
-- Old code  runs: it writes items without a cover, and shows none.
-- Undo      drop the column.

alter table item
  add column cover jsonb,
  add constraint item_cover check (cover is null or jsonb_typeof(cover) = 'object') not valid;
