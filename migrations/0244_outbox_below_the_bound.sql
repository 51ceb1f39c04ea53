-- 0244  All events and deliveries of before are below the bound of 0243.
--
-- Why       Reads both tables once, in a transaction of its own, so that 0245 and 0246 need not read them under their locks.
-- Used by   0245 and 0246.
-- Locks     SHARE UPDATE EXCLUSIVE on both tables while they are read: rows are written and read meanwhile.
-- Old code  runs: the release before this one runs against it unharmed.
-- Undo      nothing to undo.

alter table outbox_event validate constraint outbox_event_before;
alter table delivery validate constraint delivery_before;
