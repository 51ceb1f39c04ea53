-- 0013  Keys that were made current, and the resealing of what names another one.
--
-- Why       Several daemons read a ring file each. Which key is the current one of all of them is written down
--           once, so that a worker whose file is behind never re-wraps backwards. A scope (a workspace, or the
--           installation as the nil UUID) that is to be resealed is a row: the row is the job, the queue only wakes
--           a worker (docs/decisions/0061).
-- Used by   src/core/areas/keyring/**, src/core/areas/keyring/keyring-check.ts.
-- Locks     ACCESS EXCLUSIVE on keyring_key for a moment; the new table is empty.
-- Old code  runs: the release before this one runs against it unharmed: only additions.
-- Undo      drop table reseal; alter table keyring_key drop column promoted_at.

alter table keyring_key add column promoted_at timestamptz; -- when it was last made current; the latest is the current one
grant update (promoted_at) on keyring_key to svc_installation;

create table reseal (
  tenant_id uuid primary key, -- nil for the installation's own values
  asked_at timestamptz not null default now(),
  started_at timestamptz, -- null: queued
  finished_at timestamptz,
  -- The walk over the scope's values, in the order of their primary key: under which key it wraps, and where it is.
  target_key_id text,
  at_kind text not null default '',
  at_owner_id uuid not null default '00000000-0000-0000-0000-000000000000',
  failed integer not null default 0, -- values of this walk that do not open, and stay as they are
  constraint reseal_in_order check (finished_at is null or started_at is not null)
);
create index reseal_open on reseal (asked_at, tenant_id) where finished_at is null;

alter table reseal enable row level security;
alter table reseal force row level security;
create policy one_workspace on reseal to svc_tenant
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
-- A scope holds counts and moments, no content.
create policy installation on reseal to svc_installation using (true) with check (true);
grant select, insert, update, delete on reseal to svc_tenant;
grant select, insert, update, delete on reseal to svc_installation;
