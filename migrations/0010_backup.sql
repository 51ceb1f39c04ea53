-- 0010  Backup targets: where archives go.
--
-- Why       A target is a workspace's, or the installation's when an operator made it (nil tenant_id,
--           docs/decisions/0004); the latter serves every workspace. Its secrets are sealed values of the kind
--           backup.credentials, its config holds none.
-- Used by   src/core/areas/backup/**.
-- Locks     New table only.
-- Old code  runs: the release before this one runs against it unharmed: only additions.
-- Undo      drop table backup_target; archives at the targets stay where they are.

create table backup_target (
  tenant_id uuid not null, -- nil for the installation's
  id uuid not null,
  name text not null,
  kind text not null check (kind in ('LOCAL', 'S3', 'SFTP')),
  config jsonb not null,
  created_at timestamptz not null default now(),
  last_tested_at timestamptz,
  version integer not null default 1,
  primary key (tenant_id, id)
);

alter table backup_target enable row level security;
alter table backup_target force row level security;
create policy one_workspace on backup_target to svc_tenant
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
-- The installation's own only: a workspace's targets are the workspace's business.
create policy installation on backup_target to svc_installation
  using (tenant_id = '00000000-0000-0000-0000-000000000000')
  with check (tenant_id = '00000000-0000-0000-0000-000000000000');
grant select, insert, update, delete on backup_target to svc_tenant, svc_installation;
