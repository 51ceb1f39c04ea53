-- 0248  What an account has not read is counted in an index.
--
-- Why       Each page of notifications says how many are unread. To count a thousand took most of the answer's time: each was read
--           in the table, and joined with its item by itself (docs/decisions/0525).
-- Used by   src/core/areas/notifications/reading.ts.
-- Locks     SHARE on notification for as long as the index is made: a second for a million rows.
-- Old code  runs: it does not need the index.
-- Undo      drop the index.

create index notification_unread on notification (tenant_id, account_id, container_id, item_id)
  where read_at is null and is_listed;
