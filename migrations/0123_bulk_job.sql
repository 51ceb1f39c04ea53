-- 0123  Bulk calls on what a filter finds, done by a job.
--
-- Why       The items are found once and kept, in the order in which they are done, so that the job does each once and nothing that
--           matches later (docs/decisions/0345). What is done to them may hold content, which the row of a job never does: operators
--           read that one.
-- Used by   src/core/areas/items/bulk/job.ts. Both are emptied when the job ends.
-- Locks     New tables; SHARE ROW EXCLUSIVE on job while the foreign keys are made: no time.
-- Old code  runs: the release before this one has no such jobs, and leaves them QUEUED.
-- Undo      drop the tables; jobs under way are lost.

create table bulk_run (
  tenant_id uuid not null,
  job_id uuid not null,
  actions jsonb not null,
  counts jsonb not null default '{}', -- how many items ended how, by code
  refusals jsonb not null default '[]', -- the first of them
  primary key (tenant_id, job_id),
  foreign key (tenant_id, job_id) references job (tenant_id, id)
);

create table bulk_target (
  tenant_id uuid not null,
  job_id uuid not null,
  n integer not null,
  item_id uuid not null, -- no foreign key: an item may be purged before its turn
  primary key (tenant_id, job_id, n),
  foreign key (tenant_id, job_id) references job (tenant_id, id)
);

select workspace_table('bulk_run');
select workspace_table('bulk_target');
