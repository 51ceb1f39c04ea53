-- 0191  Whose archives are still at the installation's targets after the purge.
--
-- Why       A purge removes rows, not what lies at backup targets: an archive outlives its workspace by
--           SVC_BACKUP_AFTER_PURGE_DAYS, and then it has to go (docs/decisions/0442). The row is written by the purge and goes
--           when every target of the installation has obeyed. Workspaces that were purged before are entered here.
-- Used by   src/core/areas/backup/departed.ts, src/core/areas/tenants/purge/purge.ts.
-- Locks     New table only.
-- Old code  runs: what it purges is not entered, and its archives stay.
-- Undo      drop table departed_archive.

create table departed_archive (
  workspace_id uuid primary key,
  workspace_slug text not null,
  purged_at timestamptz not null default now()
);
create index departed_archive_due on departed_archive (purged_at);
grant select, insert, update, delete on departed_archive to svc_installation;

insert into departed_archive (workspace_id, workspace_slug, purged_at)
select workspace_id, workspace_slug, purged_at from purge_certificate;
