-- 0243  What an account has not read is counted without its rows.
--
-- Why       Each page of notifications and each mark says how many are unread, of up to a thousand. Their containers and items
--           are all that the count asks, and an index of those that are listed and unread has both.
-- Used by   src/core/areas/notifications/reading.ts
-- Locks     SHARE on notification while the index is made: some seconds for a million.
-- Old code  runs: it counts by the indexes of before.
-- Undo      drop the index.

create index notification_unread on notification (tenant_id, account_id, container_id, item_id) where is_listed and read_at is null;
