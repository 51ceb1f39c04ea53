-- 0120  Items have children, which are whole items.
--
-- Why       A child names its parent, and the root of its tree, so that a tree is read by one index and without recursion
--           (docs/decisions/0340). `sibling_rank` orders the children of one parent. What goes to the trash or to the archive
--           with an item above it notes that item, so that the way back finds what came along, and the trash lists one row.
--           The parent has no foreign key: a child that was deleted before its parent may outlive it in the trash, and is a
--           root if it comes back.
-- Used by   src/core/areas/items/tree; src/core/areas/items/trash and archive.ts. The indexes find the children of an item in
--           their order, its tree, and what came along. `trashed_item` is of the rows that the trash lists.
-- Locks     ACCESS EXCLUSIVE on item while the constraints are checked and the indexes are built: seconds for some millions.
-- Old code  stops: the release before this one deletes a parent and leaves its children: stop it before this migration.
-- Undo      drop the columns, and make trashed_item of 0046 anew; every item is then a root.

alter table item
  add column parent_id uuid,
  add column root_id uuid,
  add column sibling_rank text collate "C",
  add column deleted_with uuid, -- null: it was deleted itself
  add column archived_with uuid, -- null: it was archived itself
  add constraint item_in_tree check ((parent_id is null) = (root_id is null) and (parent_id is null) = (sibling_rank is null)),
  add constraint item_deleted_with check (deleted_with is null or deleted_at is not null),
  add constraint item_archived_with check (archived_with is null or archived_at is not null);

create index item_of_parent on item (tenant_id, parent_id, sibling_rank, id) where parent_id is not null;
create index item_of_tree on item (tenant_id, root_id) where root_id is not null and deleted_at is null;
create index item_deleted_with on item (tenant_id, deleted_with) where deleted_with is not null;
create index item_archived_with on item (tenant_id, archived_with) where archived_with is not null;

drop index trashed_item;
create index trashed_item on item (tenant_id, deleted_at, id) where deleted_at is not null and purged_at is null and deleted_with is null;
