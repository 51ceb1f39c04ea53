-- 0210  Rules of retention, and their runs.
--
-- Why       A workspace decides how long it keeps what is done, its trash, its trail, events and records. A rule's row stands only
--           where something was decided, or where the brake stopped it (docs/decisions/0470). A run has one row a day and kind, so
--           that two daemons do it once, and what one of them leaves another takes up (docs/decisions/0471).
-- Used by   src/core/areas/retention-rules/**, src/core/areas/retention-runs/**; src/core/areas/access/access.ts reads the days of
--           TRASH and DONE_ITEMS with the container.
-- Locks     New tables; SHARE on credential, session and account while small indexes are made.
-- Old code  runs: it knows no rules of workspaces, and goes by those of the product.
-- Undo      drop the tables and the indexes; the rules are lost.

create table retention_rule (
  tenant_id uuid not null references tenant (id),
  kind text not null check (kind in ('DONE_ITEMS', 'TRASH', 'TRAIL', 'EVENTS', 'RECORDS', 'ACCOUNTS', 'REQUESTS')),
  days integer check (days >= 0), -- 0: for ever; null: as the product has it
  next_days integer check (next_days >= 0), -- what will hold, where it was shortened
  takes_effect_at timestamptz,
  stopped_at timestamptz, -- since when the brake holds it
  is_released boolean not null default false, -- somebody looked at what the brake stopped: it goes
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, kind),
  constraint retention_rule_next check ((next_days is null) = (takes_effect_at is null))
);
select workspace_table('retention_rule');

create table retention_run (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  kind text not null check (kind in ('DONE_ITEMS', 'TRASH', 'TRAIL', 'EVENTS', 'RECORDS', 'ACCOUNTS', 'REQUESTS')),
  due_on date not null, -- on the clocks of the workspace
  at timestamptz not null default now(),
  before timestamptz, -- what is older goes; null: as each container says
  removed integer not null default 0,
  held integer not null default 0, -- what a hold kept
  stopped boolean not null default false, -- by the brake
  ended_at timestamptz,
  primary key (tenant_id, id),
  constraint retention_run_once unique (tenant_id, kind, due_on)
);
create index retention_run_open on retention_run (tenant_id, id) where ended_at is null;
select workspace_table('retention_run');

create index credential_revoked on credential (tenant_id, revoked_at) where revoked_at is not null;
create index session_revoked on session (tenant_id, revoked_at) where revoked_at is not null;
create index account_disabled_since on account (tenant_id, disabled_at) where disabled_at is not null;
