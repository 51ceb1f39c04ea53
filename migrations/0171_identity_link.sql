-- 0171  Links of identities, and what a flow is for.
--
-- Why       Whom a provider names and the workspace does not admit gets a token by which the identity joins the account in which the
--           person signs in another way. A flow serves one purpose: signing in, joining an identity, or a step-up, whose freshness
--           is counted from `began_at` (docs/decisions/0421, 0423). `account_id` of a link: the account that it is known to concern.
-- Used by   src/core/areas/auth/providers/**.
-- Locks     ACCESS EXCLUSIVE on sign_in_flow for a moment; flows under way live ten minutes.
-- Old code  runs: its flows are for signing in.
-- Undo      drop the table and the columns.

create table sign_in_link (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  hash bytea not null, -- SHA-256 of the token
  provider_id uuid not null,
  issuer text not null,
  subject text not null,
  email text, -- as the provider gave it; nothing is decided by it
  account_id uuid,
  issued_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index sign_in_link_by_hash on sign_in_link (hash);
create index sign_in_link_by_account on sign_in_link (tenant_id, account_id) where account_id is not null;
create index sign_in_link_ended on sign_in_link (expires_at);
select workspace_table('sign_in_link');
-- A link of another workspace is spent by whoever tries it.
create policy installation on sign_in_link to svc_installation using (true) with check (true);
grant select, update, delete on sign_in_link to svc_installation;

alter table sign_in_flow
  add column purpose text not null default 'SIGN_IN' check (purpose in ('SIGN_IN', 'LINK', 'STEP_UP')),
  add column began_at timestamptz not null default now();
