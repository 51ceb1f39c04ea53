-- 0170  Challenges of a second factor.
--
-- Why       Whoever has shown a password or came from a provider, and has still to show the second factor of the account, gets a
--           token for it: no page keeps the password meanwhile (docs/decisions/0420). `flow_id`: the flow of a provider that
--           ends with the challenge.
-- Used by   src/core/areas/auth/sign-in/challenge.ts.
-- Locks     SHARE ROW EXCLUSIVE on account while the foreign key is made: no time.
-- Old code  runs: it makes and takes no challenges.
-- Undo      drop the table.

create table sign_in_challenge (
  tenant_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  hash bytea not null, -- SHA-256 of the token
  way text not null check (way in ('PASSWORD', 'PROVIDER')),
  provider_id uuid,
  flow_id uuid,
  issued_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  primary key (tenant_id, id),
  constraint sign_in_challenge_provider check ((way = 'PROVIDER') = (provider_id is not null)),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index sign_in_challenge_by_hash on sign_in_challenge (hash);
create index sign_in_challenge_by_account on sign_in_challenge (tenant_id, account_id);
create index sign_in_challenge_ended on sign_in_challenge (expires_at);
select workspace_table('sign_in_challenge');
-- Its holder has nothing but the token, and names no workspace.
create policy installation on sign_in_challenge to svc_installation using (true) with check (true);
grant select, update, delete on sign_in_challenge to svc_installation;
