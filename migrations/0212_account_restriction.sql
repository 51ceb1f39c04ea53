-- 0212  Restrictions of accounts (art. 18).
--
-- Why       While a person's data may only be stored, nobody is shown the name, and nothing is done with it
--           (docs/decisions/0474). A row is a restriction in force; the trail has the ones of before. No column of `account`: most
--           accounts never have one, and an archive keeps who asked and on which ground.
-- Used by   src/core/areas/access/restriction.ts, which whatever reads names asks; src/core/areas/identity/accounts/restricting.ts;
--           reconciliation asks which are in force.
-- Locks     SHARE ROW EXCLUSIVE on account while the foreign key is made: no time.
-- Old code  runs: it keeps to no restriction.
-- Undo      drop the table; the restrictions are lost.

create table account_restriction (
  tenant_id uuid not null,
  account_id uuid not null,
  ground text not null check (ground in ('ACCURACY', 'UNLAWFUL', 'CLAIMS', 'OBJECTION')),
  since timestamptz not null default now(),
  set_by uuid, -- null: nobody of the workspace
  request_id uuid, -- the request that asked for it; no foreign key: requests shrink and go
  primary key (tenant_id, account_id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
select workspace_table('account_restriction');
create policy installation on account_restriction for select to svc_installation using (true);
grant select on account_restriction to svc_installation;
