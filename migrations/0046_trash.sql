-- 0046  Deleted items and containers are in the trash, and are taken from it for good.
--
-- Why       What is deleted says who deleted it, and `purged_at` marks what nobody is shown any more. The row goes when no
--           legal hold covers it (docs/decisions/0203). What was deleted before this migration stays as long as what is
--           deleted now: `kept_since` is this moment for the rows that are there, and later a row's own first moment, so an
--           archive that is read in does not lose its trash at once either.
-- Used by   src/core/areas/items/trash. The first index lists a workspace's trash, the second one container's; the third
--           finds what is to be removed. Containers have the same.
-- Locks     ACCESS EXCLUSIVE on item and container while the constraint is checked and the indexes are built, which are
--           of deleted rows alone: seconds for some millions.
-- Old code  runs: the release before this one deletes without saying who, and purges nothing.
-- Undo      drop the columns. What is purged and not yet removed is in the trash again.

alter table item
  add column deleted_by uuid, -- no foreign key: items outlive those who deleted them
  add column purged_at timestamptz,
  add column kept_since timestamptz not null default now(),
  add constraint item_purged check (purged_at is null or deleted_at is not null);
create index trashed_item on item (tenant_id, deleted_at, id) where deleted_at is not null and purged_at is null;
create index trashed_item_of_container on item (tenant_id, container_id, deleted_at, id) where deleted_at is not null and purged_at is null;
create index purged_item on item (tenant_id, id) where purged_at is not null;

-- A collection of a purged hub is purged, also where it was not deleted itself.
alter table container
  add column deleted_by uuid,
  add column purged_at timestamptz,
  add column kept_since timestamptz not null default now();
create index trashed_container on container (tenant_id, deleted_at, id) where deleted_at is not null and purged_at is null;
create index purged_container on container (tenant_id, id) where purged_at is not null;
