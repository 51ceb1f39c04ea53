-- 0081  A template that is deleted under a legal hold keeps its row.
--
-- Why       Nobody destroys what a hold covers, and a template has texts that people wrote (docs/decisions/0122).
-- Used by   src/core/areas/templates; template_deleted is for the removal of what was purged (src/core/areas/items/trash).
-- Locks     ACCESS EXCLUSIVE on template for a moment: no row is rewritten, and the index has no rows yet.
-- Old code  runs: the release before this one shows a template that was deleted under a hold, until it is updated.
-- Undo      delete the rows with a deleted_at that no hold covers; drop the column.

alter table template add column deleted_at timestamptz;
create index template_deleted on template (tenant_id, id) where deleted_at is not null;
