-- 0008  Legal holds: what must not be deleted, whoever asks.
--
-- Why       A hold in force stops a purge. Its row is never removed but by the purge of its whole workspace, and a
--           release is a mark on it, so that "was there a hold" always has an answer.
-- Used by   src/core/areas/retention/hold.ts, src/core/areas/tenants/deletion/legal-holds.ts, purge.ts.
-- Locks     New table only.
-- Old code  runs: the release before this one runs against it unharmed: only additions.
-- Undo      drop the table; the obligations are lost.

create table legal_hold (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  scope_kind text not null check (scope_kind in ('TENANT', 'CONTAINER', 'ITEM', 'ACCOUNT')),
  scope_id uuid, -- no foreign key: a hold outlives its target after a recovery
  reason text not null,
  placed_by uuid not null, -- nil: the operator at the database; the journal names the system's user
  placed_at timestamptz not null default now(),
  released_at timestamptz,
  released_by uuid,
  version integer not null default 1,
  primary key (tenant_id, id),
  constraint legal_hold_scope check ((scope_kind = 'TENANT') = (scope_id is null)),
  constraint legal_hold_released check ((released_at is null) = (released_by is null))
);
create index legal_hold_by_id on legal_hold (id); -- an operator names a hold by its id alone
create index legal_hold_in_force on legal_hold (tenant_id) where released_at is null;

alter table legal_hold enable row level security;
alter table legal_hold force row level security;
create policy one_workspace on legal_hold to svc_tenant
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
-- The installation has to know that a hold is in force, not what it is about.
create policy installation on legal_hold for select to svc_installation using (true);
grant select, insert on legal_hold to svc_tenant;
grant update (released_at, released_by, version) on legal_hold to svc_tenant;
grant select (tenant_id, id, released_at) on legal_hold to svc_installation;
grant delete on legal_hold to svc_purge;
