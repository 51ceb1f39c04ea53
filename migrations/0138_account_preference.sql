-- 0138  Preferences of accounts.
--
-- Why       A person has a locale, a time zone and a first day of the week of the own, and a front end keeps what it needs. Null takes
--           the workspace's. Apart from the account, which every call reads (docs/decisions/0379).
-- Used by   src/core/areas/identity/accounts/preferences.ts; mails take the locale and the time zone.
-- Locks     SHARE ROW EXCLUSIVE on account while the foreign key is made: no time.
-- Old code  runs: the release before this one knows no preferences: only additions.
-- Undo      drop the table; nothing else refers to it.

create table account_preference (
  tenant_id uuid not null,
  account_id uuid not null,
  locale text,
  time_zone text,
  week_start text check (week_start in ('MONDAY', 'SATURDAY', 'SUNDAY')),
  client jsonb,
  updated_at timestamptz not null default now(),
  primary key (tenant_id, account_id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
select workspace_table('account_preference');
