-- 0002  What belongs to the installation itself: its identity, its workspaces, operators, journal.
--
-- Why       Operators act on these as svc_installation, which has no right on any workspace's content.
-- Used by   src/core/areas/{tenants,operators,journal,keyring}/**, src/core/areas/auth/**.
-- Locks     New tables only.
-- Old code  stops: there was none before it.
-- Undo      drop the tables; the installation is lost.

create table installation (
  is_only boolean primary key default true check (is_only), -- one row
  id uuid not null,
  epoch uuid not null, -- replaced by a recovery, because positions are reused after a rewind
  set_up_token_hash bytea,
  set_up_at timestamptz,
  created_at timestamptz not null default now()
);
grant select, insert, update on installation to svc_installation;

-- Tells whether a ring's key of this id is the key that values were sealed under.
create table keyring_key (
  key_id text primary key,
  check_value bytea not null,
  first_seen_at timestamptz not null default now()
);
grant select, insert on keyring_key to svc_installation;

create table tenant (
  id uuid primary key,
  slug text not null constraint tenant_slug_taken unique,
  display_name text not null,
  state text not null default 'ACTIVE' check (state in ('ACTIVE', 'SUSPENDED', 'PENDING_DELETION')),
  state_before_deletion text check (state_before_deletion in ('ACTIVE', 'SUSPENDED')),
  default_locale text not null,
  default_time_zone text not null,
  created_at timestamptz not null default now(),
  suspended_at timestamptz,
  deletion_requested_at timestamptz,
  purge_after timestamptz,
  purge_started_at timestamptz,
  version integer not null default 1,
  constraint tenant_suspended_at check ((state = 'SUSPENDED') <= (suspended_at is not null)),
  constraint tenant_purge_after check ((state = 'PENDING_DELETION') = (purge_after is not null))
);
alter table tenant enable row level security;
alter table tenant force row level security;
create policy itself on tenant for select to svc_tenant using (id = (select current_tenant()));
create policy installation on tenant to svc_installation using (true) with check (true);
grant select on tenant to svc_tenant;
grant select, insert, update on tenant to svc_installation;

-- A purged workspace's slug stays out of use for a while: links and mails still point at it.
create table blocked_slug (
  slug text primary key,
  until timestamptz not null
);
grant select, insert, delete on blocked_slug to svc_installation;

create table operator (
  account_id uuid primary key,
  workspace_id uuid not null references tenant (id), -- not tenant_id: the register is the installation's, not the workspace's
  added_at timestamptz not null default now(),
  added_by uuid
);
create index operator_by_workspace on operator (workspace_id);
grant select, insert, delete on operator to svc_installation;

-- Append-only, and kept when the workspace is gone: hence no foreign key, and the slug beside the id.
create table journal (
  id uuid primary key, -- UUIDv7: newest first is `order by id desc`
  at timestamptz not null default now(),
  action text not null,
  actor_kind text not null check (actor_kind in ('ACCOUNT', 'SERVICE', 'RECOVERY', 'SYSTEM')),
  actor_account_id uuid,
  via text not null check (via in ('API', 'RECOVERY', 'JOB')),
  workspace_id uuid,
  workspace_slug text,
  subject_kind text,
  subject_id uuid,
  params jsonb not null default '{}'
);
grant select, insert on journal to svc_installation;
