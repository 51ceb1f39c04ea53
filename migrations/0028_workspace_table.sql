-- 0028  Row-level security of a new table in one call.
--
-- Why       Each table of workspaces needs the same four statements, and one that is forgotten shows every workspace to
--           every other. A later migration makes its table, then calls `select workspace_table('name')`
--           (docs/decisions/0164). Tables of before this migration stay as they are.
-- Used by   Migrations behind this one; test/house/workspace-table.test.ts.
-- Locks     None. A call takes ACCESS EXCLUSIVE on the new, empty table.
-- Old code  runs: the release before this one runs against it unharmed: only an addition.
-- Undo      drop function workspace_table(regclass).

-- Refuses a table whose rows could belong to no workspace, or whose key spans workspaces. svc_installation gets
-- nothing, and svc_purge inherits from svc_tenant: a table that the installation reads, or that is append-only, says
-- so in its own migration, behind this call.
create function workspace_table(target regclass) returns void language plpgsql as $$
begin
  if not exists (
    select from pg_class c
    where c.oid = target and c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
  ) then
    raise exception 'workspace_table: % is no table of the schema public', target;
  end if;
  if not exists (
    select from pg_attribute a
    where a.attrelid = target and a.attname = 'tenant_id' and a.atttypid = 'uuid'::regtype and a.attnotnull and not a.attisdropped
  ) then
    raise exception 'workspace_table: % has no column tenant_id uuid not null', target;
  end if;
  if not exists (
    select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
    where i.indrelid = target and i.indisprimary and a.attname = 'tenant_id'
  ) then
    raise exception 'workspace_table: the primary key of % does not begin with tenant_id', target;
  end if;

  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format('create policy one_workspace on %s to svc_tenant using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()))', target);
  execute format('grant select, insert, update, delete on %s to svc_tenant', target);
end $$;
-- Whoever owns the tables calls it, and nobody else.
revoke execute on function workspace_table(regclass) from public;
