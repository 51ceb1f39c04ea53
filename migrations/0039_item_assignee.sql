-- 0039  One person, or none, is responsible for an item.
--
-- Why       Members take part; the assignee is the one who does it, and is a member, too (docs/decisions/0201).
-- Used by   src/core/areas/items/people.ts. The index serves the foreign key, and finds what an account has to do.
-- Locks     ACCESS EXCLUSIVE on item and SHARE ROW EXCLUSIVE on account while the rows are checked and the index is built:
--           seconds for some millions.
-- Old code  runs: the release before this one knows no assignee: only additions.
-- Undo      drop the column; assignees stay members.

alter table item
  add column assignee_id uuid,
  add foreign key (tenant_id, assignee_id) references account (tenant_id, id);
create index item_by_assignee on item (tenant_id, assignee_id, state, id) where assignee_id is not null;
