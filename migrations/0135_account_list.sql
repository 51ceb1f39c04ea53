-- 0135  Accounts are listed and found: by a word of the name or address, by state, kind and the id that a directory gave.
--
-- Why       A workspace of a million accounts finds one by the beginning of a word. Texts are compared folded, which is
--           computed outside of the database, and under row-level security an index serves a range, and no LIKE
--           (docs/decisions/0376). `worded` is the text whose words are there: an account whose text differs from it gets
--           its words from the job `word_accounts`, those of before and those that older code names.
-- Used by   src/core/areas/identity/accounts/**; src/core/areas/access/account-words.ts writes the words.
-- Locks     ACCESS EXCLUSIVE on account for a moment, then SHARE on account and membership while the indexes are built:
--           seconds for some millions.
-- Old code  runs: the release before this one lists no accounts; what it writes is worded within ten minutes.
-- Undo      drop the table, the columns and the indexes.

create table account_word (
  tenant_id uuid not null,
  word text collate "C" not null, -- folded, from the beginning of a word to the end of the text, at most 120 characters
  account_id uuid not null,
  of_address boolean not null, -- of the address alone: a guest does not find by it
  primary key (tenant_id, account_id, word),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index account_word_by_word on account_word (tenant_id, word, account_id);
select workspace_table('account_word');

alter table account
  add column external_id text,
  add column joined_at timestamptz,
  add column worded text;
create index account_unworded on account (tenant_id, id)
  where worded is distinct from (coalesce(display_name, '') || ' ' || coalesce(email, ''));
create index account_by_external_id on account (tenant_id, external_id, id) where external_id is not null;
-- Most accounts are active people: these find the others.
create index account_not_active on account (tenant_id, state, id) where state <> 'ACTIVE';
create index service_account on account (tenant_id, id) where kind = 'SERVICE';
create index owner_membership on membership (tenant_id, account_id) where container_id is null and role = 'OWNER';
