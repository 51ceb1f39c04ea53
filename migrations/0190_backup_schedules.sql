-- 0190  Schedules of backups, and what is kept of what they made.
--
-- Why       `backup_schedule` is a workspace's, or the installation's (nil tenant_id, docs/decisions/0004), as backup targets
--           are. `backup_run` has one row for each due moment of a schedule: two daemons that see the same moment run it once
--           (docs/decisions/0440). A backup of a schedule waits for its turn without a job, says how its run ended for it, and
--           which rules keep it, as they said last (docs/decisions/0441).
-- Used by   src/core/areas/backup/schedules/**, src/core/areas/backup/keeping/**.
-- Locks     New tables; ACCESS EXCLUSIVE on backup for a moment, and SHARE while its small indexes are made.
-- Old code  runs: it makes no schedules, and what waits for its turn waits for newer code.
-- Undo      drop table backup_run; drop table backup_schedule; drop the columns.

create table backup_schedule (
  tenant_id uuid not null, -- nil for the installation's
  id uuid not null,
  name text not null,
  target_id uuid not null, -- no foreign key: it may be the installation's, or gone
  cron text not null,
  time_zone text not null,
  tenants jsonb, -- of the installation's: "ALL", or ids
  keep jsonb not null,
  verify text not null check (verify in ('HASHES', 'RESTORE')),
  recipients jsonb not null default '[]',
  is_enabled boolean not null default true,
  next_run_at timestamptz, -- null while it is not enabled
  planned_at timestamptz not null default now(), -- when that was worked out: a clock that goes back is seen by it
  paused_reason text check (paused_reason in ('TARGET_REMOVED', 'SECRET_UNAVAILABLE')),
  last_run_at timestamptz,
  last_complete integer,
  last_failed integer,
  consecutive_failures integer not null default 0,
  mailed_at timestamptz, -- when the failures were last mailed
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, id),
  constraint backup_schedule_next check ((next_run_at is null) = (not is_enabled))
);
create index backup_schedule_due on backup_schedule (next_run_at) where next_run_at is not null;
create index backup_schedule_planned on backup_schedule (planned_at) where next_run_at is not null;
create index backup_schedule_by_target on backup_schedule (target_id);
select workspace_table('backup_schedule');
create policy installation on backup_schedule to svc_installation using (true) with check (true);
grant select, insert, update, delete on backup_schedule to svc_installation;

create table backup_run (
  tenant_id uuid not null, -- the schedule's
  schedule_id uuid not null,
  due_at timestamptz not null, -- as the expression has it, without the delay
  begun_at timestamptz not null default now(),
  after_tenant_id uuid, -- the last workspace that has its backup, or was left out
  is_spread boolean not null default false, -- all have theirs
  ended_at timestamptz,
  complete integer not null default 0,
  failed integer not null default 0,
  failure text, -- why it made none
  primary key (tenant_id, schedule_id, due_at),
  foreign key (tenant_id, schedule_id) references backup_schedule (tenant_id, id)
);
create index backup_run_open on backup_run (due_at) where ended_at is null;
select workspace_table('backup_run');
create policy installation on backup_run to svc_installation using (true) with check (true);
grant select, insert, update, delete on backup_run to svc_installation;

alter table backup
  add column due_at timestamptz, -- of its run
  add column is_waiting boolean not null default false, -- for its turn; it has no job yet
  add column verify_job_id uuid, -- the verification that its schedule asks for
  add column run_ok boolean, -- how its run ended for it; null: not yet
  add column ruled_by jsonb not null default '[]', -- the rules that keep it, as they said last
  add column keeping_due boolean not null default false, -- it was verified, and the rules were not asked since
  add column is_orphaned boolean not null default false; -- its schedule was removed: it stays as one by hand
create unique index backup_once on backup (tenant_id, schedule_id, due_at) where due_at is not null;
create index backup_by_run on backup (schedule_id, due_at) where due_at is not null;
create index backup_waiting on backup (id) where is_waiting;
create index backup_keeping on backup (tenant_id, schedule_id) where keeping_due;
