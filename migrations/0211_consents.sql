-- 0211  Consents: their texts, and each act about them.
--
-- Why       What people agreed to, objected to and took back is proved by rows that nobody changes: a row for each act, with the
--           version and the hash of the text that was shown, and a row for each version of a text (docs/decisions/0473). What
--           workspaces tell of their AI model, and who has seen it, is kept by the same rows (docs/decisions/0475).
-- Used by   src/core/areas/consents/**; reconciliation asks which were withdrawn.
-- Locks     SHARE ROW EXCLUSIVE on account while the foreign key is made: no time.
-- Old code  runs: it knows no consents.
-- Undo      drop the tables; the proof is lost.

create table consent_text (
  tenant_id uuid not null references tenant (id),
  kind text not null,
  version integer not null check (version > 0),
  texts jsonb not null, -- a title and a text by language; of `ai_notice`: the model
  renews boolean not null default false, -- what was given before lapsed with it
  written_by uuid, -- null: nobody of the workspace
  at timestamptz not null default now(),
  primary key (tenant_id, kind, version)
);
select workspace_table('consent_text');
revoke update, delete on consent_text from svc_tenant;
grant delete on consent_text to svc_purge;

create table consent (
  tenant_id uuid not null,
  account_id uuid not null,
  kind text not null,
  n integer not null check (n > 0), -- 1, 2, 3 … of this account and kind
  act text not null check (act in ('GIVEN', 'WITHDRAWN', 'SEEN')), -- SEEN: of `ai_notice` alone
  version integer not null, -- of the text; 0: there was none
  language text,
  sha256 text, -- of what was shown
  at timestamptz not null default now(),
  credential_id uuid, -- with which the person did it; null: somebody did it for the person, or a recovery did it again
  primary key (tenant_id, account_id, kind, n),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
select workspace_table('consent');
revoke update, delete on consent from svc_tenant;
grant delete on consent to svc_purge;
create policy installation on consent for select to svc_installation using (true);
grant select on consent to svc_installation;
