-- 0095  The last archive is found by an index.
--
-- Why       A metric says how old the last archive is. Without an index, each look reads all jobs that ever ended.
-- Used by   the metrics of a daemon (src/daemon/metrics/backlog.ts).
-- Locks     SHARE on job while the index is built: exports wait, for a second in a million rows.
-- Old code  runs: the release before this one runs against it unharmed: only additions.
-- Undo      drop index job_archived.

create index job_archived on job (finished_at) where kind = 'TENANT_EXPORT' and state = 'SUCCEEDED';
