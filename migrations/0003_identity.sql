-- 0003  Accounts of a workspace and what lets them in.
--
-- Why       The gate looks a token up by its hash before it knows the workspace, so svc_installation sees
--           these tables whole; svc_tenant sees its own workspace's rows. Content tables (0004) differ.
-- Used by   src/core/areas/auth/**, src/daemon/gate.ts.
-- Locks     New tables only.
-- Old code  stops: there was none before it.
-- Undo      drop the tables; everybody is signed out and the accounts are lost.

create table account (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  kind text not null check (kind in ('PERSON', 'SERVICE')),
  state text not null check (state in ('INVITED', 'ACTIVE', 'DISABLED')),
  email text,
  email_fold text, -- the address as it is compared: folded by src/core/kernel/values/case-fold.ts
  display_name text,
  password_hash text, -- PHC string, argon2id
  password_changed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, id),
  constraint account_address_taken unique (tenant_id, email_fold),
  constraint account_address check ((kind = 'PERSON') = (email is not null) and (email is null) = (email_fold is null))
);
create index account_by_id on account (id); -- an operator names an account by its id alone

create table membership (
  tenant_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  role text not null check (role in ('OWNER', 'ADMIN', 'MEMBER', 'COMMENTER', 'VIEWER')),
  created_at timestamptz not null default now(),
  primary key (tenant_id, id),
  constraint membership_once unique (tenant_id, account_id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);

create table invitation (
  tenant_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  hash bytea not null, -- SHA-256 of the redemption token
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index invitation_by_hash on invitation (hash);
create index invitation_by_account on invitation (tenant_id, account_id);

create table session (
  tenant_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  revoked_at timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index session_by_account on session (tenant_id, account_id, id);

create table credential (
  tenant_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  session_id uuid,
  kind text not null check (kind in ('PERSONAL', 'SERVICE', 'SESSION', 'REFRESH')),
  hash bytea not null, -- SHA-256 of the token
  last4 text not null,
  name text,
  scopes text not null, -- separated by spaces, as OAuth writes them
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  used_at timestamptz, -- a refresh token serves once; a second use revokes its session
  revoked_at timestamptz,
  last_used_at timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references account (tenant_id, id),
  foreign key (tenant_id, session_id) references session (tenant_id, id),
  constraint credential_session check ((kind in ('SESSION', 'REFRESH')) = (session_id is not null))
);
create index credential_by_hash on credential (hash);
create index credential_by_account on credential (tenant_id, account_id);
create index credential_tokens on credential (tenant_id, account_id, id) where kind in ('PERSONAL', 'SERVICE'); -- the list, past all the session's own
create index credential_by_session on credential (tenant_id, session_id) where session_id is not null;
create index credential_ended on credential (expires_at);

create table step_up (
  tenant_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  bearer_id uuid not null, -- the session, or the personal access token, that asked
  hash bytea not null,
  operation text,
  target_id uuid,
  issued_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index step_up_by_hash on step_up (hash);
create index step_up_by_account on step_up (tenant_id, account_id);

create table failed_attempt (
  tenant_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  purpose text not null check (purpose in ('STEP_UP')),
  at timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index failed_attempt_recent on failed_attempt (tenant_id, account_id, at);
