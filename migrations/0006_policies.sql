-- 0006  Row-level security: a row belongs to one workspace, for reading and for writing alike.
--
-- Why       Every workspace table is forced to obey, its owner too. The transaction names the workspace
--           (src/core/kernel/transaction/installation.ts); one that names none sees nothing rather than everything.
-- Used by   Everything. test/house/catalog.test.ts fails for a table that this file's form misses.
-- Locks     ACCESS EXCLUSIVE on the new, empty tables.
-- Old code  stops: there was none before it.
-- Undo      Never.

do $$
declare
  target text;
begin
  foreach target in array array[
    'account', 'membership', 'invitation', 'session', 'credential', 'step_up', 'failed_attempt',
    'container', 'bucket', 'label',
    'audit_entry', 'outbox_event', 'sealed_value', 'idempotency_record', 'tenant_quota', 'request_rate'
  ] loop
    execute format('alter table %I enable row level security', target);
    execute format('alter table %I force row level security', target);
    execute format('create policy one_workspace on %I to svc_tenant using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()))', target);
    execute format('grant select, insert, update, delete on %I to svc_tenant', target);
  end loop;

  -- Who signs in is not known before the look-up, and quotas, answers and rates are read at the gate.
  foreach target in array array[
    'account', 'membership', 'invitation', 'session', 'credential', 'step_up', 'failed_attempt',
    'sealed_value', 'idempotency_record', 'tenant_quota', 'request_rate'
  ] loop
    execute format('create policy installation on %I to svc_installation using (true) with check (true)', target);
    execute format('grant select, insert, update, delete on %I to svc_installation', target);
  end loop;
end $$;

-- The trail is append-only for the workspace, and events are never rewritten.
revoke update, delete on audit_entry from svc_tenant;
revoke update, delete on outbox_event from svc_tenant;
