-- 0101  All attempts of before are below the bound of 0100.
--
-- Why       Reads the table once, in a transaction of its own, so that 0102 need not read it under its lock.
-- Used by   0102.
-- Locks     SHARE UPDATE EXCLUSIVE on delivery_attempt while it is read: attempts are written and read meanwhile.
-- Old code  runs: the release before this one runs against it unharmed.
-- Undo      nothing to undo.

alter table delivery_attempt validate constraint delivery_attempt_before;
