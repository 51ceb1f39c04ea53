-- 0014  What the installation decided: one row for each switch it set; and what the switches of signing in need.
--
-- Why       A switch that the operator says nothing about has no row, so that "undecided" is not a value. The gate
--           reads single switches by their name. Setter and moment stand beside each, because a locked switch
--           answers to every workspace with them; a switch that a PUT leaves as it was keeps both.
-- Used by   src/core/areas/settings/**; read by the gate, signing in, provisioning, quotas. src/core/areas/auth/** for the rest.
-- Locks     ACCESS EXCLUSIVE on installation and account for a moment: columns without a default rewrite nothing.
-- Old code  runs: the release before this one runs against it unharmed, and obeys no switch.
-- Undo      drop the tables and the columns; every switch falls back to the product's own.

create table setting (
  name text primary key, -- e.g. sign_in.password_min_length
  value jsonb not null,
  is_locked boolean not null default false,
  reason text,
  set_by uuid, -- null: the enforcing file, or the operator at the database
  set_at timestamptz not null default now(),
  constraint setting_lock check (name like 'sign\_in.%' or (not is_locked and reason is null))
);
grant select, insert, update, delete on setting to svc_installation;

alter table installation
  add column settings_version integer not null default 1,
  add column settings_file text; -- the enforcing file that the rows came from; null: the database is the source

-- Who tried to sign in and could not, by a hash of the address as it is compared: an address that nobody has is
-- counted and locked like any other, so that a lock tells nothing. Kept for a day.
create table failed_sign_in (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  subject bytea not null,
  at timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index failed_sign_in_recent on failed_sign_in (tenant_id, subject, at);
create index failed_sign_in_over on failed_sign_in (at);

-- A forgotten password: asked for when, and the hash of the token once a mail took it away.
create table password_reset (
  tenant_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  hash bytea,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index password_reset_by_hash on password_reset (hash);
create index password_reset_by_account on password_reset (tenant_id, account_id);
create index password_reset_over on password_reset (expires_at);

-- Hashes of passwords that were replaced, as many as password_history asks for.
create table password_history (
  tenant_id uuid not null,
  id uuid not null, -- UUIDv7: the latest first is `order by id desc`
  account_id uuid not null,
  password_hash text not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index password_history_by_account on password_history (tenant_id, account_id, id);

do $$
declare
  target text;
begin
  foreach target in array array['failed_sign_in', 'password_reset', 'password_history'] loop
    execute format('alter table %I enable row level security', target);
    execute format('alter table %I force row level security', target);
    execute format('create policy one_workspace on %I to svc_tenant using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()))', target);
    execute format('grant select, insert, update, delete on %I to svc_tenant', target);
  end loop;

  -- Whoever signs in, or holds the token of a mail, is not known before the look-up.
  foreach target in array array['failed_sign_in', 'password_reset'] loop
    execute format('create policy installation on %I to svc_installation using (true) with check (true)', target);
    execute format('grant select, insert, update, delete on %I to svc_installation', target);
  end loop;
end $$;

-- The version of the terms that an account agreed to last.
alter table account
  add column terms_version text,
  add column terms_agreed_at timestamptz;
