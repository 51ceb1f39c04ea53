-- 0246  Deliveries lie in one partition for each month, and three tables have their months made and dropped by the same functions.
--
-- Why       As for events (0245): a month is dropped whole once all its deliveries ended before the window (docs/decisions/0523).
-- Used by   src/core/areas/webhooks/**, src/core/areas/events/retention.ts, src/core/kernel/transaction/months.ts.
-- Locks     ACCESS EXCLUSIVE on delivery for a moment, attempt by attempt as in 0243: no row is read, written or moved.
-- Old code  runs: the table has its name, columns, rights and policies. It makes all months by make_attempt_partitions(), and
--           drops those of attempts by drop_attempts(). Of its purge and its clean-up holds what 0245 says.
-- Undo      detach the partitions, insert their rows into the first one, and give that one the table's name; put the two
--           functions of 0102 back.

select lock_briefly('delivery');

alter table delivery set schema partitions;
alter table partitions.delivery rename to delivery_before;
drop policy one_workspace on partitions.delivery_before;
drop policy installation on partitions.delivery_before;
revoke all on partitions.delivery_before from svc_tenant, svc_installation;

create table delivery (
  tenant_id uuid not null,
  id uuid not null, -- UUIDv7, made by new_id(): newest first is `order by id desc`
  webhook_id uuid not null,
  event_id uuid not null, -- the same on every attempt and every replay
  event_type text not null,
  cause text not null constraint delivery_cause_check check (cause in ('EVENT', 'SEND', 'REPLAY')),
  status text not null default 'PENDING' constraint delivery_status_check check (status in ('PENDING', 'SUCCEEDED', 'FAILED', 'DEAD_LETTER')),
  attempt integer not null default 0 constraint delivery_attempt_check check (attempt >= 0), -- attempts begun; only grows
  due_at timestamptz default now(), -- the next attempt, while there is one to come
  started_at timestamptz, -- of the attempt under way
  leased_until timestamptz, -- when an attempt under way is given up as interrupted
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (tenant_id, id),
  constraint delivery_open check ((finished_at is null) = (status in ('PENDING', 'FAILED'))),
  constraint delivery_due check ((finished_at is null) = (due_at is not null)),
  constraint delivery_under_way check ((started_at is null) = (leased_until is null) and (started_at is null or finished_at is null))
) partition by range (id);
create index delivery_by_webhook on delivery (tenant_id, webhook_id, id) where webhook_id is not null;
create index delivery_due on delivery (tenant_id, webhook_id, due_at) where finished_at is null;
select workspace_table('delivery');
create policy installation on delivery to svc_installation using (true) with check (true);
grant select on delivery to svc_installation;
select attach_before('delivery');
alter table partitions.delivery_other set (fillfactor = 80);
drop function attach_before(text), lock_briefly(text);

-- The tables that have months.
create function monthly_tables() returns setof text language sql immutable parallel safe
begin atomic
  select unnest(array['delivery', 'delivery_attempt', 'outbox_event']);
end;

-- Makes the partitions of this month and the next two, where they are missing. A table that is attached locks only the
-- partition for the rest, which is empty; `create table … partition of` would lock all of them.
create function make_months() returns void
language plpgsql security definer set search_path = pg_catalog set lock_timeout = '300ms'
as $$
declare
  target text;
  month timestamp;
  name text;
begin
  for target, month in
    select t, date_trunc('month', now() at time zone 'UTC') + make_interval(months => ahead)
    from public.monthly_tables() t, generate_series(0, 2) ahead
  loop
    name := target || '_' || to_char(month, 'YYYY_MM');
    continue when to_regclass('partitions.' || name) is not null;
    begin
      execute format('create table partitions.%I (like public.%I including all)', name, target);
      execute format('alter table partitions.%I enable row level security, force row level security', name);
      -- A row of a delivery is changed in place: none of the columns of an attempt is indexed.
      if target = 'delivery' then execute format('alter table partitions.%I set (fillfactor = 80)', name); end if;
      execute format('alter table public.%I attach partition partitions.%I for values from (%L) to (%L)', target, name,
        public.first_id_at(month at time zone 'UTC'), public.first_id_at((month + interval '1 month') at time zone 'UTC'));
    exception
      when invalid_object_definition or check_violation then null; -- another partition has its rows
      when lock_not_available then null; -- it is made the next time: there is a month ahead
    end;
  end loop;
end $$;

-- The partitions of a table whose ids are all below this one, the oldest first, with the ids between which they lie. The month
-- that runs is none of them, nor one that has not been over for a day.
create function months_over(target text, below uuid) returns table (place text, first_id uuid, end_id uuid)
language sql stable set search_path = pg_catalog
begin atomic
  select m.place, coalesce(m.first_id, '00000000-0000-0000-0000-000000000000'), m.end_id
  from (
    select c.relname::text as place,
           substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \(''([0-9a-f-]{36})''\)')::uuid as first_id,
           substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([0-9a-f-]{36})''\)')::uuid as end_id
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = to_regclass('public.' || target) and target in (select public.monthly_tables())) m
  where m.end_id <= least(below, public.first_id_at(now() - interval '1 day'))
  order by m.end_id;
end;

-- Drops a month, which is one of months_over(). Answers false, and drops nothing, where somebody uses the table for longer than
-- a moment, and where a delivery in it is not finished: that no such delivery is lost must not depend on who asks.
create function drop_month(target text, month text) returns boolean
language plpgsql security definer set search_path = pg_catalog set lock_timeout = '200ms'
as $$
declare
  is_waiting boolean := false;
begin
  if month not in (select place from public.months_over(target, 'ffffffff-ffff-ffff-ffff-ffffffffffff')) then
    raise exception '% is no month of % that is over', month, target;
  end if;
  execute format('lock table only public.%I in access exclusive mode', target);
  if target = 'delivery' then
    -- Its owner sees no row of it otherwise. Whoever comes meanwhile waits for this transaction.
    execute format('alter table partitions.%I no force row level security', month);
    execute format('select exists (select from partitions.%I where finished_at is null)', month) into is_waiting;
    if is_waiting then execute format('alter table partitions.%I force row level security', month); end if;
  end if;
  if not is_waiting then execute format('drop table partitions.%I', month); end if;
  return not is_waiting;
exception when lock_not_available then return false;
end $$;

-- What the release before this one calls.
create or replace function make_attempt_partitions() returns void
language sql security definer set search_path = pg_catalog
begin atomic
  select public.make_months();
end;
create or replace function drop_attempts(below uuid) returns integer
language sql security definer set search_path = pg_catalog
begin atomic
  select count(*)::integer from public.months_over('delivery_attempt', below) m where public.drop_month('delivery_attempt', m.place);
end;
revoke execute on function monthly_tables(), make_months(), months_over(text, uuid), drop_month(text, text) from public;
grant execute on function monthly_tables(), make_months(), months_over(text, uuid), drop_month(text, text) to svc_installation;
