-- 0137  Invitations are mailed.
--
-- Why       The token of a mailed invitation is minted as its mail leaves, so its row is there before its hash is. Each mail is a
--           row, by which the mails of a workspace and of an address are counted (docs/decisions/0378).
-- Used by   src/core/areas/auth/invitation-mail.ts, src/core/areas/identity/accounts/inviting.ts.
-- Locks     ACCESS EXCLUSIVE on invitation for a moment, then SHARE while the index is built: no time.
-- Old code  runs: the release before this one finds invitations by their hash, and such a row has none for it.
-- Undo      delete the rows without a hash; drop the index and the column; set hash not null.

alter table invitation
  alter column hash drop not null,
  add column is_mailed boolean not null default false;
create index invitation_mailed on invitation (tenant_id, created_at) where is_mailed;
