-- 0192  Restores: what comes back from a backup, where it is laid out first, and what a rewind replaced.
--
-- Why       `restore` says of each restore what it takes, how far it is and what it would do; it holds ids, counts and moments, and
--           of a new workspace its names. `restore_undo` keeps each row that a rewind wrote or removed as it was, for the undo.
--           `COPY FROM` is refused under row-level security, so rows of an archive lie in tables of the schema svc_staging, which
--           the role svc_staging makes and owns; svc_tenant reads those of the workspace in force by a policy of each table
--           (docs/decisions/0450). `tenant.restoring_at` closes a workspace while rows are written.
-- Used by   src/core/areas/restores/**; the gate (src/daemon/credential.ts) and admission read `restoring_at`.
-- Locks     ACCESS EXCLUSIVE on tenant for a moment; new tables.
-- Old code  runs: it makes no restores. One that does not know `restoring_at` serves a workspace whose rows are being written, so
--           apply none while an older daemon runs.
-- Undo      drop table restore_undo; drop table restore; drop the column, the schema and the role.

do $$
begin
  create role svc_staging nologin;
exception when duplicate_object or unique_violation then null; -- made by another installation, or by one that races us
end $$;
create schema svc_staging;
grant usage on schema svc_staging to svc_tenant;
-- Whoever migrates gives the schema away, and is not what it belongs to.
grant svc_staging to current_user;
alter schema svc_staging owner to svc_staging;
revoke svc_staging from current_user;

alter table tenant add column restoring_at timestamptz; -- since when it is closed for a restore

create table restore (
  tenant_id uuid not null, -- no foreign key: that of a workspace that is gone, or of one that is not made yet
  id uuid not null,
  mode text not null check (mode in ('REPLACE', 'NEW', 'ITSELF')),
  state text not null default 'PLANNING'
    check (state in ('PLANNING', 'PLANNED', 'APPLYING', 'DONE', 'UNDOING', 'UNDONE', 'FAILED', 'CANCELLED')),
  job_id uuid not null, -- of the step under way, or of the last one
  backup_id uuid,
  target_id uuid not null,
  path text not null,
  source_tenant_id uuid not null, -- whose archive it is
  source_slug text not null,
  snapshot_at timestamptz not null,
  origin text not null check (origin in ('OWN', 'FOREIGN')),
  product_version text not null,
  archive_sha256 text not null, -- of the manifest: another archive under the same path is another plan
  new_tenant jsonb, -- NEW: slug, display name and the owner's address
  plan jsonb,
  erased jsonb not null default '[]', -- the erasures that the target listed when it was planned
  planned_at timestamptz,
  result jsonb,
  failure text, -- a code
  undo_until timestamptz,
  edited_since text check (edited_since in ('KEEP', 'REPLACE')), -- of the undo
  created_by uuid,
  created_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, id),
  constraint restore_planned check (state <> 'PLANNED' or plan is not null)
);
create index restore_by_id on restore (id); -- an operator names a restore by its id alone
create unique index restore_underway on restore (tenant_id) where state in ('PLANNING', 'PLANNED', 'APPLYING', 'UNDOING');
create index restore_waiting on restore (planned_at) where state = 'PLANNED';
create index restore_undoable on restore (undo_until) where undo_until is not null;
select workspace_table('restore');
create policy installation on restore to svc_installation using (true) with check (true);
grant select, insert, update, delete on restore to svc_installation;

create table restore_undo (
  tenant_id uuid not null,
  restore_id uuid not null,
  table_name text not null,
  key text not null, -- a JSON array of the key's values, without tenant_id; as text, because no index serves jsonb under row-level security
  was jsonb, -- the row before; null: there was none
  became text, -- a hash of the row that was written; null: it was removed
  primary key (tenant_id, restore_id, table_name, key),
  foreign key (tenant_id, restore_id) references restore (tenant_id, id)
);
select workspace_table('restore_undo');
