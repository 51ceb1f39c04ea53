-- 0136  Accounts are disabled, and return.
--
-- Why       Whoever leaves loses every way in with one call, and a return gives back the state from before
--           (docs/decisions/0377). ERASED is the end of an account whose person is forgotten.
-- Used by   src/core/areas/identity/accounts/disabling.ts.
-- Locks     ACCESS EXCLUSIVE on account while its rows are checked: seconds for some millions.
-- Old code  runs: the release before this one admits an account only while it is ACTIVE.
-- Undo      drop the columns, after no account is DISABLED any more.

alter table account
  add column disabled_at timestamptz,
  add column state_before text check (state_before in ('INVITED', 'ACTIVE')),
  drop constraint account_state_check,
  add constraint account_state_check check (state in ('INVITED', 'ACTIVE', 'DISABLED', 'ERASED')),
  add constraint account_disabled check (state = 'DISABLED' or (state_before is null and disabled_at is null));
