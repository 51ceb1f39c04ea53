-- 0055  Search: a document for each thing that people find by its words, and what waits to be written anew.
--
-- Why       No operator of full-text search is leakproof, so under row-level security no index serves one. The candidates of
--           a search come from search_ids(), which runs as svc_search. That role reads documents and nothing else. Its
--           result is joined back under the caller's policies (docs/decisions/0230). Workspaces of before get their
--           documents from the indexer, in portions.
-- Used by   src/core/areas/search; the statement that writes an event queues what it changed (kernel/outbox/fan-out.ts).
-- Locks     ACCESS EXCLUSIVE on job for a moment, while a constraint is replaced.
-- Old code  stops: the release before this one changes texts and queues nothing, so that searches miss the change.
-- Undo      drop the function, the three tables and the role svc_search; put the constraint back.

do $$
begin
  create role svc_search nologin;
exception when duplicate_object or unique_violation then null; -- made by another installation, or by one that races us
end $$;

-- Each time that a workspace's documents were made anew. The number is one of the installation's, so that every word of
-- a document can begin with it (src/core/areas/search/vector.ts).
create table search_index (
  tenant_id uuid not null,
  generation bigint generated always as identity,
  language text not null, -- the dictionary of stems
  state text not null check (state in ('BUILDING', 'SERVING', 'RETIRED')),
  -- How far the build is: the kind, and the last id of it.
  at_kind text,
  after_id uuid,
  done bigint not null default 0,
  -- Who waits for it: a job of the workspace, and one of the installation.
  job_id uuid,
  round_id uuid,
  primary key (tenant_id, generation)
);
create unique index search_index_building on search_index (tenant_id) where state = 'BUILDING';
create unique index search_index_serving on search_index (tenant_id) where state = 'SERVING';
create index search_index_to_do on search_index (state, tenant_id) where state <> 'SERVING';
create index search_index_of_round on search_index (round_id) where round_id is not null;
select workspace_table('search_index');
create policy installation on search_index to svc_installation using (true) with check (true);
grant select, insert, update on search_index to svc_installation;

create table search_document (
  tenant_id uuid not null,
  generation bigint not null,
  kind text not null,
  id uuid not null,
  container_id uuid not null,
  changed_at timestamptz not null,
  words tsvector not null,
  primary key (tenant_id, generation, kind, id)
);
create index search_document_words on search_document using gin (words) with (gin_pending_list_limit = 1024);
create index search_document_newest on search_document (tenant_id, generation, changed_at desc, id desc);
select workspace_table('search_document');

-- What was changed since its document was written; a row for each change, so that no change waits for another one.
create table search_pending (
  tenant_id uuid not null,
  id uuid not null,
  subject text not null, -- ITEM, CONTAINER, or what many documents name: LABEL, FIELD
  subject_id uuid not null,
  after_id uuid, -- of a subject that many documents name: how far they were queued
  queued_at timestamptz not null default now(),
  primary key (tenant_id, id)
);
select workspace_table('search_pending');
create policy installation on search_pending for select to svc_installation using (true);
grant select on search_pending to svc_installation;

create policy candidates on search_document for select to svc_search using (true);
grant usage, create on schema public to svc_search;
grant select on search_document to svc_search;

-- The newest documents with these words, at most so many: of the workspace in force, of one generation, of these kinds,
-- and in these containers (null: in any). The predicates are part of the statement that is planned, with their values.
create function search_ids(
  of_tenant uuid, of_generation bigint, of_kinds text[], of_containers uuid[], of_words tsquery, most integer
) returns table (kind text, id uuid, rank double precision, changed_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog rows 1000
as $$
begin
  if of_tenant is distinct from public.current_tenant() then
    raise insufficient_privilege using message = 'search_ids: not the workspace in force';
  end if;
  return query execute '
    select d.kind, d.id, ts_rank(d.words, $5)::double precision, d.changed_at from (
      select d.kind, d.id, d.words, d.changed_at from public.search_document d
      where d.tenant_id = $1 and d.generation = $2 and d.kind = any ($3) and ($4 is null or d.container_id = any ($4))
        and d.words @@ $5
      order by d.changed_at desc, d.id desc limit $6) d'
    using of_tenant, of_generation, of_kinds, of_containers, of_words, most;
end $$;
revoke execute on function search_ids(uuid, bigint, text[], uuid[], tsquery, integer) from public;
grant execute on function search_ids(uuid, bigint, text[], uuid[], tsquery, integer) to svc_tenant;
-- Whoever migrates gives the function away, and is not what it runs as.
grant svc_search to current_user;
alter function search_ids(uuid, bigint, text[], uuid[], tsquery, integer) owner to svc_search;
revoke create on schema public from svc_search;
revoke svc_search from current_user;

-- The contract names the kinds of jobs (src/core/contract/jobs/operations.ts).
alter table job drop constraint job_kind_check, add constraint job_kind_check check (kind ~ '^[A-Z]+(_[A-Z]+)*$');
