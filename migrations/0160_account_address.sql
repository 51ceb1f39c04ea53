-- 0160  An account has several addresses, and each is confirmed or is not.
--
-- Why       Whoever changes the address, or has two, signs in with either. Only a confirmed address proves who somebody is, so
--           a provider connects an account by such a one alone (docs/decisions/0410). `held_fold` is the address as it is
--           compared while it belongs to the account: the primary one, and each confirmed one. An address that was asked
--           for and waits belongs to nobody. A removed one stays for two days, because it is told of its removal.
--           `account.email` goes on naming the primary address. Addresses of before count as confirmed, but for those of
--           accounts that have not joined.
-- Used by   src/core/areas/access/addresses.ts, src/core/areas/auth/addresses/**.
-- Locks     SHARE ROW EXCLUSIVE on account and ACCESS EXCLUSIVE on password_reset for a moment; the rows of some millions
--           of accounts are written in some ten seconds.
-- Old code  runs: it signs in by the primary address alone. An account that it makes has no row here: its address is found
--           through the account and counts as confirmed.
-- Undo      drop both tables and the column; addresses besides the primary one are lost.

create table account_address (
  tenant_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  email text not null,
  email_fold text not null, -- as account.email_fold
  is_primary boolean not null default false, -- the one that mail goes to
  confirmed_at timestamptz,
  removed_at timestamptz,
  ends_at timestamptz, -- of one that waits or was removed: a day later its row goes
  created_at timestamptz not null default now(),
  held_fold text generated always as (case when removed_at is null and (is_primary or confirmed_at is not null) then email_fold end) stored,
  primary key (tenant_id, id),
  constraint account_address_held unique (tenant_id, held_fold),
  constraint account_address_primary check (not is_primary or removed_at is null),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index account_address_by_account on account_address (tenant_id, account_id);
create unique index account_address_one_primary on account_address (tenant_id, account_id) where is_primary;
create index account_address_ended on account_address (ends_at) where ends_at is not null;
select workspace_table('account_address');
-- Signing in finds the account before the workspace's role is in force, and the sweep removes rows.
create policy installation on account_address to svc_installation using (true) with check (true);
grant select, delete on account_address to svc_installation;

-- Each mail is a row, by which mails are counted. The token is minted as the mail leaves.
create table address_confirmation (
  tenant_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  address_id uuid not null,
  email_fold text not null,
  makes_primary boolean not null,
  is_asked boolean not null, -- by somebody; false: the account joined by a token that was handed over
  hash bytea, -- SHA-256 of the token; null until the mail leaves, and for good if somebody else has the address
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index address_confirmation_by_hash on address_confirmation (hash) where hash is not null;
create index address_confirmation_by_account on address_confirmation (tenant_id, account_id);
create index address_confirmation_of_address on address_confirmation (tenant_id, email_fold, created_at);
create index address_confirmation_asked on address_confirmation (tenant_id, created_at) where is_asked;
create index address_confirmation_ended on address_confirmation (expires_at);
select workspace_table('address_confirmation');
create policy installation on address_confirmation to svc_installation using (true) with check (true);
grant select, delete on address_confirmation to svc_installation;

-- To which address the link went: whoever uses it has read there.
alter table password_reset add column address_id uuid;

alter table account no force row level security;
alter table account_address no force row level security;
insert into account_address (tenant_id, id, account_id, email, email_fold, is_primary, confirmed_at, created_at)
select tenant_id, id, id, email, email_fold, true,
       case when coalesce(state_before, state) <> 'INVITED' then coalesce(joined_at, created_at) end, created_at
from account where email is not null and email_fold is not null;
alter table account_address force row level security;
alter table account force row level security;
