-- 0102  The attempts of deliveries lie in one partition for each month.
--
-- Why       An attempt holds what the target answered, so this is the largest table of what passes. Removing its rows one by
--           one wrote each of them once more, and left the space to be cleaned up. A month is dropped whole
--           (docs/decisions/0321). Partitions are by the id of the delivery, a UUIDv7: so the primary key stays what it was,
--           and whoever names a delivery reads one partition.
-- Used by   src/core/areas/webhooks/**.
-- Locks     ACCESS EXCLUSIVE on delivery_attempt for a moment: no row is read, written or moved.
-- Old code  runs: the table has its name, columns, rights and policies. Its clean-up removes attempts row by row, as before. A
--           batch of its purge may remove more of the workspace's attempts than it asked for, and counts all of them.
-- Undo      detach the partitions, insert their rows into the first one, and give that one the table's name.

-- Partitions stand apart: nobody has a right on them but through their table.
create schema if not exists partitions;

alter table delivery_attempt set schema partitions;
alter table partitions.delivery_attempt rename to delivery_attempt_before;
drop policy one_workspace on partitions.delivery_attempt_before;
drop policy installation on partitions.delivery_attempt_before;
revoke all on partitions.delivery_attempt_before from svc_tenant, svc_installation;

create table delivery_attempt (
  tenant_id uuid not null,
  delivery_id uuid not null,
  n integer not null constraint delivery_attempt_n_check check (n > 0),
  at timestamptz not null,
  ended_at timestamptz not null default now(),
  host text not null,
  duration_ms integer,
  status integer,
  error text,
  body text,
  trace jsonb,
  primary key (tenant_id, delivery_id, n)
) partition by range (delivery_id);
create index delivery_attempt_in_time on delivery_attempt using brin (ended_at);
select workspace_table('delivery_attempt');
create policy installation on delivery_attempt to svc_installation using (true) with check (true);
grant select (tenant_id, delivery_id, n, at, ended_at, host, duration_ms, status, error, trace) on delivery_attempt to svc_installation;

do $$
begin
  execute format(
    'alter table delivery_attempt attach partition partitions.delivery_attempt_before for values from (minvalue) to (%L)',
    (select substring(pg_get_constraintdef(oid) from '[0-9a-f]{8}-[0-9a-f-]{27}') from pg_constraint
     where conrelid = 'partitions.delivery_attempt_before'::regclass and conname = 'delivery_attempt_before'));
end $$;
alter table partitions.delivery_attempt_before drop constraint delivery_attempt_before;

-- For the case that no partition was made ahead: then nothing fails, and these months are cleaned up row by row.
create table partitions.delivery_attempt_other partition of delivery_attempt default;
alter table partitions.delivery_attempt_other enable row level security;
alter table partitions.delivery_attempt_other force row level security;

-- Makes the partitions of this month and the next two, where they are missing. A table that is attached locks only the
-- partition for the rest, which is empty; `create table … partition of` would lock all of them.
create function make_attempt_partitions() returns void
language plpgsql security definer set search_path = pg_catalog set lock_timeout = '1s'
as $$
declare
  month timestamp;
  name text;
begin
  for ahead in 0..2 loop
    month := date_trunc('month', now() at time zone 'UTC') + make_interval(months => ahead);
    name := 'delivery_attempt_' || to_char(month, 'YYYY_MM');
    continue when to_regclass('partitions.' || name) is not null;
    begin
      execute format('create table partitions.%I (like public.delivery_attempt including all)', name);
      execute format('alter table partitions.%I enable row level security, force row level security', name);
      execute format('alter table public.delivery_attempt attach partition partitions.%I for values from (%L) to (%L)', name,
        public.first_id_at(month at time zone 'UTC'), public.first_id_at((month + interval '1 month') at time zone 'UTC'));
    exception when invalid_object_definition or check_violation then null; -- another partition has its rows
    end;
  end loop;
end $$;

-- Drops the partitions whose deliveries were all made before this id, and answers how many. The month that runs is never
-- dropped, whoever asks.
create function drop_attempts(below uuid) returns integer
language plpgsql security definer set search_path = pg_catalog set lock_timeout = '200ms'
as $$
declare
  over text[] := array(
    select c.oid::regclass::text from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'public.delivery_attempt'::regclass
      and substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([0-9a-f-]{36})''\)')::uuid
        <= least(below, public.first_id_at(now() - interval '1 day')));
  place text;
begin
  foreach place in array over loop
    execute format('drop table %s', place);
  end loop;
  return cardinality(over);
end $$;
revoke execute on function make_attempt_partitions(), drop_attempts(uuid) from public;
grant execute on function make_attempt_partitions(), drop_attempts(uuid) to svc_installation;

select make_attempt_partitions();
