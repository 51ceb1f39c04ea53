-- 0009  Password opening: hours in which a workspace's accounts may sign in with their passwords, whatever its switches say.
--
-- Why       One row at most for each workspace; its end is a moment of the database's clock. The row is removed
--           soon after that moment, so that a clock that falls back does not reopen it.
-- Used by   src/core/areas/tenants/password-opening.ts, list.ts.
-- Locks     New table only.
-- Old code  runs: the release before this one runs against it unharmed: only additions.
-- Undo      drop the table; openings in force end.

create table password_opening (
  tenant_id uuid primary key references tenant (id),
  until timestamptz not null,
  opened_at timestamptz not null default now(),
  opened_by uuid, -- null: the operator at the database
  requester text not null,
  reason text not null,
  constraint password_opening_ends check (until > opened_at)
);
create index password_opening_end on password_opening (until);
alter table password_opening enable row level security;
alter table password_opening force row level security;
create policy one_workspace on password_opening to svc_tenant
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
create policy installation on password_opening to svc_installation using (true) with check (true);
grant select, delete on password_opening to svc_tenant;
grant select, insert, update, delete on password_opening to svc_installation;
