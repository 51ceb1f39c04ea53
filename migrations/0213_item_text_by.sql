-- 0213  Who last changed the title or the description of an item.
--
-- Why       Texts of whoever objects to AI go to no model: those that an account wrote, and those that it changed last
--           (docs/decisions/0475). Null: nobody since this migration; the trail tells who did before.
-- Used by   src/core/areas/items/change.ts; src/core/areas/ai/question.ts.
-- Locks     ACCESS EXCLUSIVE on item for a moment.
-- Old code  runs: whoever changes a text by it is found in the trail.
-- Undo      drop the column.

alter table item add column text_by uuid; -- no foreign key: it tells who wrote, and not that the account is there
