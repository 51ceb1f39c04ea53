-- 0243  A bound above all events and deliveries of before, for the partitions of 0245 and 0246, and how far the window has passed.
--
-- Why       As for attempts (0100): the tables of before become first partitions, and a CHECK that is validated ahead proves
--           that all their rows are below the bound. No row is moved (docs/decisions/0523).
-- Used by   0244 to 0246, which drop the CHECKs and the function. The column: src/core/areas/events/retention.ts.
-- Locks     ACCESS EXCLUSIVE on outbox_event, delivery and outbox_watermark for a moment. No row is read. Each attempt waits 200 ms
--           at most for what uses a table, and the next one comes later: whoever comes meanwhile waits as long, and is not refused.
-- Old code  runs: the bound is a month or two ahead of every event and every delivery that is made now.
-- Undo      alter table outbox_event drop constraint outbox_event_before; the same for delivery; alter table outbox_watermark drop
--           column passed_id; drop function lock_briefly(text).

-- Locks the tables, in this order, for this transaction alone. A long read of them must not make everybody else wait.
create function lock_briefly(tables text) returns void language plpgsql as $$
begin
  perform set_config('lock_timeout', '200ms', true);
  for attempt in 1..120 loop
    begin
      execute format('lock table %s in access exclusive mode', tables);
      perform set_config('lock_timeout', '0', true);
      return;
    exception when lock_not_available then perform pg_sleep(0.3);
    end;
  end loop;
  raise exception 'Something has used % for a minute, so it cannot be migrated. End it (pg_stat_activity), or repeat: svc db migrate', tables;
end $$;

select lock_briefly('outbox_event, delivery, outbox_watermark');

-- How far, in the order of ids, the window has passed events: all up to this one are behind the watermark.
alter table outbox_watermark add column passed_id uuid;

do $$
declare
  target text;
begin
  foreach target in array array['outbox_event', 'delivery'] loop
    execute format('alter table %I add constraint %I check (id < %L) not valid', target, target || '_before',
      first_id_at((date_trunc('month', now() at time zone 'UTC') + interval '2 months') at time zone 'UTC'));
  end loop;
end $$;
