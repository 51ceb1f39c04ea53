-- 0011  Jobs that somebody waits for: their state and progress.
--
-- Why       The queue forgets a job when it is done, and knows nothing of its progress. The row is the truth: a
--           worker claims it, beats while it works, and each attempt has a number that a late one fails on.
-- Used by   src/core/areas/jobs/**, src/core/areas/backup/export-job.ts.
-- Locks     New table only.
-- Old code  runs: the release before this one runs against it unharmed: only additions.
-- Undo      drop table job; jobs under way are forgotten.

create table job (
  tenant_id uuid not null, -- the workspace that the job is about
  id uuid not null,
  kind text not null check (kind in ('TENANT_EXPORT')),
  state text not null default 'QUEUED' check (state in ('QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED')),
  params jsonb not null default '{}', -- ids only
  attempt integer not null default 0,
  progress jsonb not null default '{}', -- counts only
  result jsonb,
  failure text, -- a code, never a text of somebody else's
  queued_at timestamptz not null default now(),
  started_at timestamptz,
  beat_at timestamptz not null default now(), -- when a worker, or the queue, last had it in hand
  finished_at timestamptz,
  primary key (tenant_id, id),
  constraint job_finished check ((state in ('SUCCEEDED', 'FAILED')) = (finished_at is not null))
);
create index job_by_id on job (id); -- an operator names a job by its id alone
create index job_open on job (tenant_id, kind) where state in ('QUEUED', 'RUNNING');
create index job_beat on job (beat_at) where state in ('QUEUED', 'RUNNING');

alter table job enable row level security;
alter table job force row level security;
create policy one_workspace on job to svc_tenant
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
-- A job holds ids and counts, no content: operators read any of them.
create policy installation on job to svc_installation using (true) with check (true);
grant select, insert, update, delete on job to svc_tenant;
grant select, insert, update on job to svc_installation;
