-- 0022  Webhooks: subscriptions, their secrets, and one row for each event on its way to one of them.
--
-- Why       The transaction that writes an event writes its deliveries too, so none is lost (decision 0115). The
--           delivery is the truth of how far it is; an attempt is begun in it, and committed, before a socket opens.
-- Used by   src/core/areas/webhooks/**, src/core/areas/webhooks/operator-view/**.
-- Locks     New tables; ACCESS EXCLUSIVE on outbox_event for a moment, to add a column with a constant default.
-- Old code  runs: the release before this one runs against it unharmed: only additions. Events it writes are not delivered.
-- Undo      drop the tables and the column; deliveries under way are lost.

create table webhook (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  target_url text not null,
  host text not null, -- host:port of the target, which operators see
  event_types jsonb not null, -- a list of full type names
  state text not null default 'ACTIVE' check (state in ('ACTIVE', 'PAUSED', 'DISABLED')),
  disabled_reason text check (disabled_reason in ('target_gone', 'unreachable')),
  consecutive_failures integer not null default 0 check (consecutive_failures >= 0),
  failing_since timestamptz,
  secret_rotated_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, id),
  constraint webhook_disabled check ((state = 'DISABLED') = (disabled_reason is not null)),
  constraint webhook_failing check ((consecutive_failures > 0) = (failing_since is not null))
) with (fillfactor = 50); -- counters change in place

-- A secret is a sealed value of the kind webhook.secret. The one without an end is signed with first.
create table webhook_secret (
  tenant_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  created_at timestamptz not null default now(),
  ends_at timestamptz, -- the end of its grace
  primary key (tenant_id, id),
  foreign key (tenant_id, webhook_id) references webhook (tenant_id, id)
);
create index webhook_secret_by_webhook on webhook_secret (tenant_id, webhook_id);

-- No foreign keys: every event would lock its webhooks' rows, and wait for whoever changes them. What a removed
-- webhook leaves behind is never due, and is swept.
create table delivery (
  tenant_id uuid not null,
  id uuid not null, -- UUIDv7, made by new_id(): newest first is `order by id desc`
  webhook_id uuid not null,
  event_id uuid not null, -- the same on every attempt and every replay
  event_type text not null,
  cause text not null check (cause in ('EVENT', 'SEND', 'REPLAY')),
  status text not null default 'PENDING' check (status in ('PENDING', 'SUCCEEDED', 'FAILED', 'DEAD_LETTER')),
  attempt integer not null default 0 check (attempt >= 0), -- attempts begun; only grows
  due_at timestamptz default now(), -- the next attempt, while there is one to come
  started_at timestamptz, -- of the attempt under way
  leased_until timestamptz, -- when an attempt under way is given up as interrupted
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (tenant_id, id),
  constraint delivery_open check ((finished_at is null) = (status in ('PENDING', 'FAILED'))),
  constraint delivery_due check ((finished_at is null) = (due_at is not null)),
  constraint delivery_under_way check ((started_at is null) = (leased_until is null) and (started_at is null or finished_at is null))
) with (fillfactor = 80); -- an attempt begins in place: none of its columns is indexed
create index delivery_by_webhook on delivery (tenant_id, webhook_id, id);
create index delivery_due on delivery (tenant_id, webhook_id, due_at) where finished_at is null;

create index delivery_by_id on delivery (id); -- an operator names a delivery by its id alone, an attempt too

-- One ended attempt. The body is the target's answer, and the workspace's alone.
create table delivery_attempt (
  tenant_id uuid not null,
  delivery_id uuid not null,
  n integer not null check (n > 0),
  at timestamptz not null,
  ended_at timestamptz not null default now(),
  host text not null,
  duration_ms integer,
  status integer,
  error text,
  body text,
  trace jsonb, -- the flight recorder, internal addresses included: nothing of it is answered unread
  primary key (tenant_id, delivery_id, n)
);
-- Rows come in the order of their time.
create index delivery_attempt_in_time on delivery_attempt using brin (ended_at);

do $$
declare
  target text;
begin
  foreach target in array array['webhook', 'webhook_secret', 'delivery', 'delivery_attempt'] loop
    execute format('alter table %I enable row level security', target);
    execute format('alter table %I force row level security', target);
    execute format('create policy one_workspace on %I to svc_tenant using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()))', target);
    execute format('grant select, insert, update, delete on %I to svc_tenant', target);
  end loop;

  -- Which workspaces have something due is not known before the look; operators see counts, hosts and moments.
  foreach target in array array['webhook', 'delivery', 'delivery_attempt'] loop
    execute format('create policy installation on %I to svc_installation using (true) with check (true)', target);
  end loop;
end $$;
grant select (tenant_id, id, host, state, consecutive_failures) on webhook to svc_installation;
grant select on delivery to svc_installation;
grant select (tenant_id, delivery_id, n, at, ended_at, host, duration_ms, status, error, trace) on delivery_attempt to svc_installation;

-- Events that a restore wrote again are neither delivered nor answered.
alter table outbox_event add column is_restored boolean not null default false;

-- A UUIDv7 for rows that a statement makes out of others.
create function new_id() returns uuid language sql volatile parallel safe
  return encode(
    set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
      placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1),
    'hex')::uuid;
grant execute on function new_id() to svc_tenant;
