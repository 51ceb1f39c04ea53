-- 0027  Events name their container, and webhooks the account that they act for.
--
-- Why       Events of a private container go to those who see it (decisions 7, Sight of events; records 0155, 0156).
-- Used by   src/core/kernel/outbox/event-row.ts, src/core/areas/webhooks/**, src/core/areas/events/pull.ts.
-- Locks     ACCESS EXCLUSIVE on outbox_event for a moment, for a column with a constant default: no row is rewritten.
--           The same on webhook, audit_entry and membership while webhooks get their accounts, some dozens in each
--           workspace: row-level security is lifted for their owner meanwhile, and put back.
-- Old code  runs: the release before this one writes events without their container: they are read as those written
--           before. It delivers and answers as it did, so let none serve beside this one for long.
-- Undo      drop the function and the columns; put the check of disabled_reason back.

-- The nil UUID: written before events named their container, and read from its text (outbox_container). It stays
-- the default for the release before this one; 30 days later no such row is left.
alter table outbox_event add column container_id uuid default '00000000-0000-0000-0000-000000000000';

-- The container of an event; null for one of the whole workspace. Every event of a container has named it in its
-- data, as `container_id` or `collection_id`; events of a container itself by its `id`.
create function outbox_container(container_id uuid, type text, body text) returns uuid
language sql immutable parallel safe as $$
  select case when container_id = '00000000-0000-0000-0000-000000000000' then coalesce(
    body::jsonb #>> '{data,container_id}', body::jsonb #>> '{data,collection_id}',
    case when type like '%.work.container.%' then body::jsonb #>> '{data,id}' end)::uuid
  else container_id end
$$;
grant execute on function outbox_container(uuid, text, text) to svc_tenant;

alter table webhook
  add column acts_for uuid, -- made it, or changed last what it does; null: nobody known, so it is told what is open
  add constraint webhook_acts_for foreign key (tenant_id, acts_for) references account (tenant_id, id),
  drop constraint webhook_disabled_reason_check,
  add constraint webhook_disabled_reason check (disabled_reason in ('target_gone', 'unreachable', 'owner_left'));

-- The trail knows who it was; somebody who has left since is nobody.
alter table webhook no force row level security;
alter table audit_entry no force row level security;
alter table membership no force row level security;

update webhook w
set acts_for = (
  select e.actor_account_id from audit_entry e
  where e.tenant_id = w.tenant_id and e.subject_id = w.id
    and (e.action in ('webhook.created', 'webhook.enabled')
      or e.action = 'webhook.changed' and (
        e.params -> 'changed' ?| array['target_url', 'event_types']
        or e.params ->> 'state' = 'ACTIVE' and e.params ->> 'state_before' <> 'ACTIVE'))
    and exists (select from membership m where m.tenant_id = e.tenant_id and m.account_id = e.actor_account_id)
  order by e.at desc, e.id desc limit 1);

alter table webhook force row level security;
alter table audit_entry force row level security;
alter table membership force row level security;
