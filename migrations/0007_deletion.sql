-- 0007  Deletion of a workspace: the switch of its automations, the purge's progress and its certificate.
--
-- Why       A purge takes thousands of small transactions and may be killed in any of them: how far it is, and
--           the hash over what it removed, commit with each batch. Afterwards only the certificate, the journal
--           and the blocked slug name the workspace.
-- Used by   src/core/areas/tenants/deletion/deletion.ts, purge.ts, purge-certificate.ts.
-- Locks     ACCESS EXCLUSIVE on operator for a grant, and on tenant for a policy and a small index; both tables are short.
-- Old code  runs: the release before this one runs against it unharmed: only additions.
-- Undo      drop the tables and the role; certificates are lost.

-- Removes one workspace's rows, and may nothing else that svc_tenant may not: the trail and the events are
-- append-only for everybody but a purge. It inherits svc_tenant and with it row-level security's one workspace.
do $$
begin
  create role svc_purge nologin;
exception when duplicate_object or unique_violation then null; -- made by another installation, or by one that races us
end $$;
grant svc_tenant to svc_purge;

-- The engine comes later; the switch is here because a deletion turns automations off and its cancellation on again.
create table automation_rule (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  name text not null,
  enabled boolean not null default true,
  disabled_by_deletion boolean not null default false, -- was on when the deletion was asked for
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, id),
  constraint automation_rule_switch check (not (enabled and disabled_by_deletion))
);
alter table automation_rule enable row level security;
alter table automation_rule force row level security;
create policy one_workspace on automation_rule to svc_tenant
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
grant select, insert, update, delete on automation_rule to svc_tenant;

-- One row while a purge is under way, gone with its workspace.
create table purge_progress (
  workspace_id uuid primary key references tenant (id),
  removed jsonb not null default '{}', -- by table: {"count": 1200, "sha256": "<hex>"}
  hold_checks integer not null default 0,
  holds_checked_at timestamptz
);
grant select, insert, update, delete on purge_progress to svc_installation;

-- Append-only, and kept when the workspace is gone: hence no foreign key, and the slug beside the id.
create table purge_certificate (
  workspace_id uuid primary key,
  workspace_slug text not null,
  purged_at timestamptz not null,
  document text not null, -- JSON, byte for byte as it was signed
  key_id text not null, -- of the ring's key that the signing key is derived from
  public_key bytea not null,
  signature bytea not null -- Ed25519
);
create index purge_certificate_by_slug on purge_certificate (workspace_slug, purged_at, workspace_id);
create index purge_certificate_in_order on purge_certificate (purged_at, workspace_id);
grant select, insert on purge_certificate to svc_installation;

create index tenant_leaving on tenant (purge_after) where state = 'PENDING_DELETION';
create policy purge on tenant for delete to svc_purge using (id = (select current_tenant()));
grant delete on tenant to svc_purge;
-- Who entered an operator may have been of a workspace that is purged.
grant update (added_by) on operator to svc_installation;
grant delete on audit_entry, outbox_event to svc_purge;
