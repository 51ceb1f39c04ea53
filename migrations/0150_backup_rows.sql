-- 0150  Backups: a row for each archive that a workspace comes back from.
--
-- Why       A target only lists what lies there. The row says what was asked for, how far it is, what it was encrypted for, whether
--           it was read again since, and what keeps it (docs/decisions/0400). It holds ids and counts, no content: operators
--           read and remove any of them.
-- Used by   src/core/areas/backup/**.
-- Locks     New table only.
-- Old code  runs: the release before this one neither makes backups nor reads this table; its jobs stay QUEUED meanwhile.
-- Undo      drop table backup; archives at the targets stay where they are.

create table backup (
  tenant_id uuid not null,
  id uuid not null,
  target_id uuid not null, -- no foreign key: an archive stays where it is when its target is removed
  job_id uuid not null, -- no foreign key: the job may be gone before the archive
  schedule_id uuid,
  state text not null default 'QUEUED' check (state in ('QUEUED', 'RUNNING', 'COMPLETE', 'FAILED', 'REMOVING', 'MISSING')),
  path text, -- below the target, once the archive is there
  snapshot_at timestamptz,
  row_count bigint,
  size_bytes bigint, -- of its own files; files of people are shared by all archives of the workspace
  recipients jsonb not null default '[]',
  verified jsonb not null default '[]', -- the latest, oldest first
  is_damaged boolean not null default false, -- the last verification failed
  proven_at timestamptz, -- when a verification last succeeded
  kept_until timestamptz, -- null: until somebody removes it
  failure text, -- a code
  created_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, id),
  constraint backup_path check (state not in ('COMPLETE', 'MISSING') or path is not null)
);
create index backup_by_id on backup (id); -- an operator names a backup by its id alone
create index backup_good on backup (tenant_id, id) where state = 'COMPLETE' and not is_damaged;
create index backup_expiring on backup (kept_until) where kept_until is not null and state <> 'REMOVING';
create index backup_open on backup (id) where state in ('QUEUED', 'RUNNING', 'REMOVING'); -- what a worker has to look after

select workspace_table('backup');
create policy installation on backup to svc_installation using (true) with check (true);
grant select, insert, update, delete on backup to svc_installation;
