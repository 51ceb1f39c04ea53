-- 0245  The events of the outbox lie in one partition for each month.
--
-- Why       Every event was removed by itself: written to the log once more, then cleaned up by vacuum. A month is dropped whole,
--           once it is past the window and no delivery waits for an event of it (docs/decisions/0523). Partitions are by the id,
--           a UUIDv7, so the primary key stays what it was. A pull reads one index of each month, in the order of the counter.
-- Used by   src/core/areas/events/**, src/core/kernel/outbox/fan-out.ts.
-- Locks     ACCESS EXCLUSIVE on tenant and outbox_event for a moment, attempt by attempt as in 0243: no row is read, written or
--           moved. tenant, because the foreign key of the first partition becomes part of that of the table.
-- Old code  runs: the table has its name, columns, rights and policies. Its clean-up removes events row by row, as before. A
--           batch of its purge may remove more of the workspace's events than it asked for, and counts all of them.
-- Undo      detach the partitions, insert their rows into the first one, and give that one the table's name.

select lock_briefly('tenant, outbox_event');

alter table outbox_event set schema partitions;
alter table partitions.outbox_event rename to outbox_event_before;
drop policy one_workspace on partitions.outbox_event_before;
revoke all on partitions.outbox_event_before from svc_tenant, svc_purge;

-- Names of indexes stay those of the table: the first partition has its own ones in another schema.
create table outbox_event (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  tx xid8 not null default '9223372036854775807',
  seq bigint not null default next_event_number(),
  type text not null,
  occurred_at timestamptz not null default now(),
  body text not null, -- the CloudEvent, byte for byte as it is delivered and pulled
  is_restored boolean not null default false,
  container_id uuid default '00000000-0000-0000-0000-000000000000',
  origin text,
  primary key (tenant_id, id)
) partition by range (id);
create index outbox_event_answered on outbox_event (tenant_id, type, tx, seq) where not is_restored;
alter table outbox_event enable row level security, force row level security;
create policy one_workspace on outbox_event to svc_tenant using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
grant select, insert on outbox_event to svc_tenant;
grant delete on outbox_event to svc_purge;

-- Makes the table of before the first partition of the new one, and a partition for the case that no month was made ahead.
create function attach_before(target text) returns void language plpgsql as $$
begin
  execute format('alter table %I attach partition partitions.%I for values from (minvalue) to (%L)', target, target || '_before',
    (select substring(pg_get_constraintdef(oid) from '[0-9a-f]{8}-[0-9a-f-]{27}') from pg_constraint
     where conrelid = to_regclass('partitions.' || target || '_before') and conname = target || '_before'));
  execute format('alter table partitions.%I drop constraint %I', target || '_before', target || '_before');
  execute format('create table partitions.%I partition of %I default', target || '_other', target);
  execute format('alter table partitions.%I enable row level security, force row level security', target || '_other');
end $$;
select attach_before('outbox_event');
