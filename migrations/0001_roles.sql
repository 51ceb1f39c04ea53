-- 0001  The three roles that do the work, and the fold that names are compared by.
--
-- Why       The daemon's login owns nothing and bypasses nothing. Each transaction says in its
--           first statement which of these it is, so a forgotten workspace sees no row at all
--           and an operator's call cannot read a workspace's content.
-- Used by   src/core/kernel/transaction/installation.ts (svc_tenant, svc_installation), src/core/kernel/queue/queue.ts (svc_queue).
-- Locks     None on tables. Roles belong to the whole server: another installation may have made them.
-- Old code  stops: there was none before it.
-- Undo      drop role, once nothing in any database of the server names them.

do $$
declare wanted text;
begin
  foreach wanted in array array['svc_tenant', 'svc_installation', 'svc_queue'] loop
    begin
      execute format('create role %I nologin', wanted);
    exception when duplicate_object or unique_violation then null; -- made by another installation, or by one that races us
    end;
  end loop;
end $$;

revoke all on schema public from public;
grant usage on schema public to svc_tenant, svc_installation, svc_queue;

-- The workspace that the transaction named. nullif: an unset setting reads as NULL on a fresh connection but as
-- '' on a reused one, and ''::uuid would raise. NULL = anything is not true: no workspace, no rows.
create function current_tenant() returns uuid language sql stable parallel safe
  return nullif(current_setting('app.tenant_id', true), '')::uuid;
grant execute on function current_tenant() to svc_tenant, svc_installation;
