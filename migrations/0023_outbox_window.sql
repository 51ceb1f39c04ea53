-- 0023  The outbox has a window and a horizon, and an index of the events that are answered.
--
-- Why       A cursor behind which events are gone must be refused, not go on behind the gap (decision 0126). What a
--           restore wrote is never answered, and must not be walked over either.
-- Used by   src/core/areas/events/**.
-- Locks     SHARE on outbox_event while the index is built: events wait as long. Some seconds for a million rows.
-- Old code  runs: the release before this one runs against it unharmed.
-- Undo      create index outbox_event_in_order on outbox_event (tenant_id, type, tx, seq); drop the index and the table.

create table outbox_watermark (
  tenant_id uuid not null references tenant (id),
  tx xid8 not null, -- events of this transaction and of earlier ones may be gone
  moved_at timestamptz not null default now(),
  primary key (tenant_id)
);
alter table outbox_watermark enable row level security;
alter table outbox_watermark force row level security;
create policy one_workspace on outbox_watermark to svc_tenant using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
grant select on outbox_watermark to svc_tenant;
grant insert, update, delete on outbox_watermark to svc_purge;

-- The oldest transaction that could still write an event: whatever has a smaller number is there or never will be.
-- Of the snapshot of the statement that asks. A transaction of another database of the cluster writes none here, and
-- is passed over where it is seen to be one; who has ended since the snapshot is not seen, and holds.
create function outbox_horizon() returns xid8 language sql stable as $$
  select coalesce(
    (select running.tx from pg_snapshot_xip(pg_current_snapshot()) running (tx)
     where not exists (
       select from pg_stat_get_activity(null) a
       where a.backend_xid = running.tx::xid and a.datid <> (select oid from pg_database where datname = current_database()))
     order by running.tx limit 1),
    pg_snapshot_xmax(pg_current_snapshot()))
$$;
grant execute on function outbox_horizon() to svc_tenant;

create index outbox_event_answered on outbox_event (tenant_id, type, tx, seq) where not is_restored;
drop index outbox_event_in_order;
