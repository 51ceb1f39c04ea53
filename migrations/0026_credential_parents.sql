-- 0026  Tokens know the token that made them, and who has no role has no credential.
--
-- Why       A token that a token made ends with it, unless a step-up made it (docs/decisions/0152): `parent_id` is the
--           one that made it, null for one that a person was shown for. No foreign key: a parent that expired is swept,
--           and what it made expired with it. Whatever could let accounts in that lost their last role before this
--           release ends here, as the removal itself now does (0151): a later grant must not revive it.
-- Used by   src/core/areas/auth/token/access-token.ts, src/core/areas/auth/token/ending.ts.
-- Locks     ACCESS EXCLUSIVE on the seven tables for a moment: row-level security is lifted for their
--           owner while the rows of accounts without a role are ended, and put back.
-- Old code  runs: the release before this one runs against it; tokens that it mints meanwhile have no parent.
-- Undo      drop the index and the column. What was ended stays ended.

alter table credential add column parent_id uuid;
create index credential_by_parent on credential (tenant_id, parent_id) where parent_id is not null;

alter table credential no force row level security;
alter table session no force row level security;
alter table step_up no force row level security;
alter table password_reset no force row level security;
alter table sign_in_flow no force row level security;
alter table invitation no force row level security;
alter table membership no force row level security;

update credential c set revoked_at = now()
where c.revoked_at is null
  and not exists (select from membership m where m.tenant_id = c.tenant_id and m.account_id = c.account_id);
update session s set revoked_at = now()
where s.revoked_at is null
  and not exists (select from membership m where m.tenant_id = s.tenant_id and m.account_id = s.account_id);
update step_up p set used_at = now()
where p.used_at is null
  and not exists (select from membership m where m.tenant_id = p.tenant_id and m.account_id = p.account_id);
update password_reset r set used_at = now()
where r.used_at is null
  and not exists (select from membership m where m.tenant_id = r.tenant_id and m.account_id = r.account_id);
update sign_in_flow f set used_at = now()
where f.used_at is null and f.proved_account_id is not null
  and not exists (select from membership m where m.tenant_id = f.tenant_id and m.account_id = f.proved_account_id);
update invitation i set used_at = now()
where i.used_at is null
  and not exists (select from membership m where m.tenant_id = i.tenant_id and m.account_id = i.account_id);

alter table credential force row level security;
alter table session force row level security;
alter table step_up force row level security;
alter table password_reset force row level security;
alter table sign_in_flow force row level security;
alter table invitation force row level security;
alter table membership force row level security;
