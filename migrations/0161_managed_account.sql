-- 0161  A person without an address: managed accounts.
--
-- Why       People of a workshop have no address. They sign in with a name, and an administrator hands over a start password,
--           which serves once, to be replaced (docs/decisions/0412). A moment in `start_password_until` says that the
--           password is such a one.
-- Used by   src/core/areas/identity/accounts/managed.ts, src/core/areas/auth/sign-in/**.
-- Locks     ACCESS EXCLUSIVE on account while its rows are checked: seconds for some millions.
-- Old code  runs: it knows an account by its address alone, and a start password opens nothing there, because such an
--           account is INVITED; one that is ACTIVE could sign in with it until it is replaced.
-- Undo      give each such account an address, then put the old check back and drop the columns.

alter table account
  add column sign_in_name text,
  add column start_password_until timestamptz,
  add constraint account_name_taken unique (tenant_id, sign_in_name),
  drop constraint account_address,
  add constraint account_address check (
    (email is null) = (email_fold is null)
    and case when kind = 'SERVICE' then email is null and sign_in_name is null
             else email is not null or sign_in_name is not null or state = 'ERASED' end),
  add constraint account_start_password check (start_password_until is null or password_hash is not null);
