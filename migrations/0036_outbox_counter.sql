-- 0036  The events of a workspace have the order of its own counter.
--
-- Why       The order of transactions' numbers made every pull wait for the oldest transaction of the database, answered
--           too much on a standby, and broke when a dump was restored into another cluster (docs/decisions/0126).
-- Used by   src/core/kernel/outbox/fan-out.ts, src/core/areas/events/**.
-- Locks     ACCESS EXCLUSIVE on outbox_event for a moment, once the transactions that have written events have ended. No
--           row is rewritten, and no index is built.
-- Old code  runs: its events get their number, too, because it is the column's default. It answers no pull of a new event, and passes none over:
--           whoever asks again, and meets this release, gets it.
-- Undo      put default and identity back; drop the function, the counter and the watermark's seq. Events written
--           meanwhile are answered behind all others.

create table outbox_counter (
  tenant_id uuid not null references tenant (id),
  last bigint not null, -- the number of the workspace's newest event
  primary key (tenant_id)
) with (fillfactor = 50);
select workspace_table('outbox_counter');

-- Takes the next number of the workspace in force. Whoever else wants one waits until the commit.
create function next_event_number() returns bigint language plpgsql as $$
declare
  taken bigint;
begin
  insert into outbox_counter (tenant_id, last) values (current_tenant(), 1)
  on conflict (tenant_id) do update set last = outbox_counter.last + 1
  returning last into taken;
  return taken;
end $$;
grant execute on function next_event_number() to svc_tenant;

-- Events of before have the number of their transaction in tx. All events from now on have this one, which is above every
-- such number, and their place in seq: so (tx, seq) is one order, and cursors of before stay where they are.
alter table outbox_event
  alter column tx set default '9223372036854775807',
  alter column seq drop identity,
  alter column seq set default next_event_number();

-- The release before this one does not name it: all events of the transaction may be gone.
alter table outbox_watermark add column seq bigint not null default 9223372036854775807;
