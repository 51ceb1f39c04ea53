-- 0201  Erasures: how far one is, and what legal holds keep of one.
--
-- Why       The ledger says that a person is erased before the first row goes; `erasure` says how far the work is, so that it
--           goes on after a kill where it stopped, and outlives its request. What a hold covers leaves its table all the same, so
--           that no answer has it, and lies in `erasure_held` until the hold is released (docs/decisions/0461).
-- Used by   src/core/areas/erasure, src/core/areas/privacy/erasing.
-- Locks     New tables only; SHARE ROW EXCLUSIVE on account while the foreign key is made: no time.
-- Old code  runs: it leaves alone what newer code has begun, and an erased account answers to nobody.
-- Undo      drop table erasure_held; drop table erasure. What was erased stays so.

create table erasure (
  tenant_id uuid not null,
  id uuid not null,
  account_id uuid, -- null: of somebody without an account, in texts of others alone
  request_id uuid, -- null: repeated after a recovery that lost the request
  choices jsonb not null,
  names jsonb not null default '[]', -- what is struck out of texts; empty once that is done
  began_at timestamptz not null default now(),
  swept_at timestamptz, -- every row has left its table
  listed_at timestamptz, -- every target of the workspace has it in erasures.json
  ended_at timestamptz, -- and no hold keeps anything
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create unique index erasure_once on erasure (tenant_id, account_id) where account_id is not null;
create index erasure_open on erasure (began_at) where ended_at is null or listed_at is null;
select workspace_table('erasure');
-- Which workspaces have one under way is not known before the look.
create policy installation on erasure for select to svc_installation using (true);
grant select (tenant_id, id, began_at, swept_at, listed_at, ended_at) on erasure to svc_installation;

-- A row as it was in its table.
create table erasure_held (
  tenant_id uuid not null,
  id uuid not null,
  erasure_id uuid not null,
  part text not null,
  place text not null, -- the table
  item_id uuid, -- the item that it belongs to: holds of the item and its containers cover it
  container_id uuid, -- of what is in a container and no item: holds of that cover it
  body jsonb not null,
  held_at timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, erasure_id) references erasure (tenant_id, id)
);
create index erasure_held_of on erasure_held (tenant_id, erasure_id, id);
select workspace_table('erasure_held');
