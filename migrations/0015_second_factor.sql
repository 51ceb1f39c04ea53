-- 0015  Second factors: an authenticator app's secret for each account, and recovery codes that stand in for it.
--
-- Why       A row is pending until a code of it was shown, so that a mistyped enrolment locks nobody out; one that is
--           in force stays so while its replacement is pending. The secret itself is a sealed value of this row.
--           `last_step` is the time step of the last code that was taken: none serves twice.
-- Used by   src/core/areas/auth/second-factor/.
-- Locks     ACCESS EXCLUSIVE on failed_attempt while its check is widened: one scan of a table that an hourly job empties.
-- Old code  runs: the release before this one runs against it unharmed; it asks for no second factor.
-- Undo      drop both tables, delete from failed_attempt where purpose = 'SECOND_FACTOR', and put the check back.

create table second_factor (
  tenant_id uuid not null,
  id uuid not null, -- also the owner of the sealed secret
  account_id uuid not null,
  created_at timestamptz not null default now(),
  confirmed_at timestamptz, -- null: pending
  last_step bigint,
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references account (tenant_id, id),
  constraint second_factor_step check ((confirmed_at is null) = (last_step is null))
);
create unique index second_factor_in_force on second_factor (tenant_id, account_id) where confirmed_at is not null;
create unique index second_factor_pending on second_factor (tenant_id, account_id) where confirmed_at is null;

create table recovery_code (
  tenant_id uuid not null,
  id uuid not null,
  account_id uuid not null,
  hash bytea not null, -- SHA-256 of 80 random bits and the account
  created_at timestamptz not null default now(),
  used_at timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index recovery_code_by_account on recovery_code (tenant_id, account_id);

do $$
declare
  target text;
begin
  foreach target in array array['second_factor', 'recovery_code'] loop
    execute format('alter table %I enable row level security', target);
    execute format('alter table %I force row level security', target);
    execute format('create policy one_workspace on %I to svc_tenant using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()))', target);
    execute format('grant select, insert, update, delete on %I to svc_tenant', target);
  end loop;
end $$;

-- The gate asks whether an account has one, and those that nobody confirmed are swept. Codes are the workspace's alone.
create policy installation on second_factor to svc_installation using (true) with check (true);
grant select, delete on second_factor to svc_installation;

alter table failed_attempt drop constraint failed_attempt_purpose_check;
alter table failed_attempt add constraint failed_attempt_purpose_check
  check (purpose in ('STEP_UP', 'SECOND_FACTOR'));
