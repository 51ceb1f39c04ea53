-- 0247  The months to come are made.
--
-- Why       Until the hourly sweep of the new release: those that cannot be made now are made then. In a transaction of its own,
--           so that no lock of 0246 is held while it waits for another.
-- Used by   src/core/areas/webhooks/jobs.ts.
-- Locks     ACCESS EXCLUSIVE on the empty partitions for the rest, 300 ms at most; SHARE ROW EXCLUSIVE on tenant.
-- Old code  runs: the release before this one runs against it unharmed.
-- Undo      drop the partitions that are empty.

select make_months();
