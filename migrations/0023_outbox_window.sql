-- 0023  The outbox has a window: how far events were removed, and an index of those that are answered.
--
-- Why       A cursor behind which events are gone must be refused, not go on behind the gap (decision 0126). What a
--           restore wrote is never answered, and must not be walked over either.
-- Used by   src/core/triggers/**.
-- Locks     SHARE on outbox_event while the index is built: events wait as long. Some seconds for a million rows.
-- Old code  the release before this one runs against it unharmed.
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

create index outbox_event_answered on outbox_event (tenant_id, type, tx, seq) where not is_restored;
drop index outbox_event_in_order;
