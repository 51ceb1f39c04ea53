-- 0016  Identity providers: what is offered, which workspaces have it on, who is connected, who is on his way in.
--
-- Why       A provider is a workspace's own, or the installation's (nil tenant_id, docs/decisions/0004), which each
--           workspace switches on for itself. Its secret is a sealed value of the kind identity_provider.client_secret.
-- Used by   src/core/areas/auth/providers/**, src/core/areas/auth/offered-providers/**.
-- Locks     New tables only.
-- Old code  runs: the release before this one runs against it unharmed: only additions.
-- Undo      drop the tables; connections between people and providers are lost, accounts stay.

create table identity_provider (
  tenant_id uuid not null, -- nil for the installation's
  id uuid not null,
  issuer text not null,
  client_id text not null,
  display_name text,
  kind text not null check (kind in ('GENERIC', 'PRESET_ONE', 'PRESET_TWO')),
  provisioning text not null check (provisioning in ('INVITED_ONLY', 'DOMAINS', 'ANY')),
  position integer not null check (position between 0 and 99),
  allowed_email_domains jsonb not null,
  allowed_directories jsonb not null,
  newcomer_role text check (newcomer_role in ('VIEWER', 'COMMENTER', 'MEMBER', 'ADMIN')),
  newcomer_group_id uuid,
  withdraw_at timestamptz, -- null while offered; the offer ends at this moment
  ended_at timestamptz,    -- set once it has, so that a clock that falls back offers nothing again
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, id),
  constraint identity_provider_ended check (ended_at is null or withdraw_at is not null),
  constraint identity_provider_newcomer check (newcomer_role is null or newcomer_group_id is null)
);
create index identity_provider_ending on identity_provider (withdraw_at) where withdraw_at is not null and ended_at is null;

-- A row: the workspace has the provider on. It stays when the offer ends, and counts again when the withdrawal is cancelled.
create table provider_switch (
  tenant_id uuid not null references tenant (id),
  provider_scope uuid not null, -- whose provider: the workspace's own, or nil
  provider_id uuid not null,
  switched_at timestamptz not null default now(),
  primary key (tenant_id, provider_id),
  constraint provider_switch_scope check (provider_scope in (tenant_id, '00000000-0000-0000-0000-000000000000'))
);
create index provider_switch_by_provider on provider_switch (provider_id, tenant_id);

create table connected_identity (
  tenant_id uuid not null,
  id uuid not null,
  provider_id uuid not null,
  account_id uuid not null,
  issuer text not null,  -- as the ID token named it: a provider's new issuer brings nobody's old identity
  subject text not null,
  email text,            -- as the provider last gave it; nothing is decided by it
  connected_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  primary key (tenant_id, id),
  constraint connected_identity_once unique (tenant_id, provider_id, issuer, subject),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index connected_identity_by_account on connected_identity (tenant_id, account_id);
create index connected_identity_by_provider on connected_identity (provider_id);

-- One sign-in under way, known by the hash of the token that only the browser's session holds. State, nonce and
-- verifier are derived from that token, so that nothing here helps to finish somebody else's.
create table sign_in_flow (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  hash bytea not null,
  provider_scope uuid not null,
  provider_id uuid not null,
  redirect_uri text not null,
  invitation_id uuid,
  proved_account_id uuid, -- whom the provider named, while the account's own second factor is still to be shown
  expires_at timestamptz not null,
  used_at timestamptz,
  primary key (tenant_id, id)
);
create index sign_in_flow_by_hash on sign_in_flow (hash);
create index sign_in_flow_ended on sign_in_flow (expires_at);

create table account_group (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  name text not null,
  name_fold text not null,
  created_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, id),
  constraint account_group_name_taken unique (tenant_id, name_fold)
);

create table group_member (
  tenant_id uuid not null,
  group_id uuid not null,
  account_id uuid not null,
  added_at timestamptz not null default now(),
  primary key (tenant_id, group_id, account_id),
  foreign key (tenant_id, group_id) references account_group (tenant_id, id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index group_member_by_account on group_member (tenant_id, account_id);

do $$
declare
  target text;
begin
  foreach target in array array[
    'identity_provider', 'provider_switch', 'connected_identity', 'sign_in_flow', 'account_group', 'group_member'
  ] loop
    execute format('alter table %I enable row level security', target);
    execute format('alter table %I force row level security', target);
    execute format('create policy one_workspace on %I to svc_tenant using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()))', target);
    execute format('grant select, insert, update, delete on %I to svc_tenant', target);
  end loop;
end $$;

-- The installation's own only: a workspace's providers are the workspace's business.
create policy installation on identity_provider to svc_installation
  using (tenant_id = '00000000-0000-0000-0000-000000000000')
  with check (tenant_id = '00000000-0000-0000-0000-000000000000');
grant select, insert, update, delete on identity_provider to svc_installation;

-- How many workspaces have one of the installation's on, and who is connected with it; both go with the provider.
create policy installation on provider_switch to svc_installation
  using (provider_scope = '00000000-0000-0000-0000-000000000000')
  with check (provider_scope = '00000000-0000-0000-0000-000000000000');
grant select, delete on provider_switch to svc_installation;
create policy installation on connected_identity to svc_installation using (true) with check (true);
grant select, delete on connected_identity to svc_installation;

-- Whoever comes back from a provider is known by his flow alone.
create policy installation on sign_in_flow to svc_installation using (true) with check (true);
grant select, insert, update, delete on sign_in_flow to svc_installation;
