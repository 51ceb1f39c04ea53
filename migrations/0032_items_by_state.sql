-- 0032  The items of a bucket by their state, in their order.
--
-- Why       A page of the open items of a bucket walked past all done ones before it, and the other way round: a whole
--           container where the last bucket has what is done (docs/decisions/0186).
-- Used by   src/core/areas/items/list.ts and board.ts, where a state is asked for.
-- Locks     SHARE on item while the index is built, so that nothing is written: seconds for some millions.
-- Old code  runs: the release before this one runs against it unharmed: only an addition.
-- Undo      drop index item_in_order_by_state;

create index item_in_order_by_state on item (tenant_id, container_id, bucket_id, state, rank) where deleted_at is null;
