-- 0040  Items can be archived.
--
-- Why       An archived item is in no list that does not ask for it, and holds no place. Workspaces archive what is done, so
--           that in time most of their items are archived: no page may walk past them. So the indexes of the lists are of
--           items that are neither deleted nor archived, and archived ones have indexes of their own (docs/decisions/0202).
-- Used by   src/core/areas/items/archive.ts, list.ts, board.ts and position.ts.
-- Locks     ACCESS EXCLUSIVE on item while its indexes are built: a minute for some millions.
-- Old code  stops: the release before this one shows archived items and finds no index: stop it before this migration.
-- Undo      Unarchive all items, then drop the column and make the indexes of 0020 and 0032 anew.

alter table item add column archived_at timestamptz;

drop index item_in_order, item_in_order_by_state, item_of_container, item_of_container_by_state, item_by_state;

create unique index item_in_order on item (tenant_id, container_id, bucket_id, rank) nulls not distinct
  where deleted_at is null and archived_at is null;
create index item_in_order_by_state on item (tenant_id, container_id, bucket_id, state, rank) where deleted_at is null and archived_at is null;
create index item_of_container on item (tenant_id, container_id, id) where deleted_at is null and archived_at is null;
create index item_of_container_by_state on item (tenant_id, container_id, state, id) where deleted_at is null and archived_at is null;
create index item_of_workspace on item (tenant_id, id) where deleted_at is null and archived_at is null;
create index item_by_state on item (tenant_id, state, id) where deleted_at is null and archived_at is null;

-- Two archived items may have had one rank, at different times: the id decides.
create index archived_item_in_order on item (tenant_id, container_id, bucket_id, rank, id) where deleted_at is null and archived_at is not null;
create index archived_item_in_order_by_state on item (tenant_id, container_id, bucket_id, state, rank, id) where deleted_at is null and archived_at is not null;
create index archived_item_of_container on item (tenant_id, container_id, id) where deleted_at is null and archived_at is not null;
create index archived_item_of_container_by_state on item (tenant_id, container_id, state, id) where deleted_at is null and archived_at is not null;
create index archived_item_of_workspace on item (tenant_id, id) where deleted_at is null and archived_at is not null;
create index archived_item_by_state on item (tenant_id, state, id) where deleted_at is null and archived_at is not null;
