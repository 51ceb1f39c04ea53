-- 0202  What an erasure would find: texts that name a person, and how many rows each part has.
--
-- Why       Texts have no index by name, so a job reads them, and a preview shows what it found (docs/decisions/0463).
-- Used by   src/core/areas/privacy/preview.
-- Locks     New tables only.
-- Old code  runs: only additions.
-- Undo      drop table privacy_mention; drop table privacy_search.

create table privacy_search (
  tenant_id uuid not null,
  request_id uuid not null,
  state text not null default 'SEARCHING' check (state in ('SEARCHING', 'DONE')),
  claimed_until timestamptz, -- by a worker that searches
  counts jsonb not null default '{}', -- rows by part
  held jsonb not null default '[]', -- parts of which a hold covers some
  found integer not null default 0,
  searched_at timestamptz,
  primary key (tenant_id, request_id),
  foreign key (tenant_id, request_id) references privacy_request (tenant_id, id)
);
create index privacy_search_open on privacy_search (tenant_id) where state = 'SEARCHING';
select workspace_table('privacy_search');
create policy installation on privacy_search for select to svc_installation using (true);
grant select (tenant_id, request_id, state, claimed_until) on privacy_search to svc_installation;

create table privacy_mention (
  tenant_id uuid not null,
  request_id uuid not null,
  n integer not null,
  kind text not null,
  id uuid not null,
  member text not null,
  primary key (tenant_id, request_id, n),
  foreign key (tenant_id, request_id) references privacy_search (tenant_id, request_id)
);
select workspace_table('privacy_mention');
