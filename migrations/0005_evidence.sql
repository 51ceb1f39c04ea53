-- 0005  What every change leaves behind: the workspace's trail, its events, sealed values, idempotency, quotas.
--
-- Why       One transaction writes the row, the entry, the event and the jobs, or nothing.
-- Used by   src/core/kernel/transaction/context.ts (trail, events), src/core/kernel/transaction/sealed-values.ts, src/core/kernel/request/idempotency.ts, src/core/areas/settings/quotas.ts.
-- Locks     New tables only.
-- Old code  stops: there was none before it.
-- Undo      drop the tables; the evidence is lost.

create table audit_entry (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  at timestamptz not null default now(),
  action text not null,
  actor_kind text not null check (actor_kind in ('ACCOUNT', 'SERVICE', 'RECOVERY', 'SYSTEM')),
  actor_account_id uuid,
  via text not null check (via in ('API', 'RECOVERY', 'JOB')),
  subject_kind text,
  subject_id uuid,
  params jsonb not null default '{}',
  primary key (tenant_id, id)
);

-- Order is (tx, seq): sequence numbers are handed out before commit, so a reader answers only below the oldest
-- transaction still running.
create table outbox_event (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  tx xid8 not null default pg_current_xact_id(),
  seq bigint generated always as identity,
  type text not null,
  occurred_at timestamptz not null default now(),
  body text not null, -- the CloudEvent, byte for byte as it is delivered and pulled
  primary key (tenant_id, id)
);
create index outbox_event_in_order on outbox_event (tenant_id, type, tx, seq);

-- Rows of the installation itself carry the nil UUID, so that keys can begin with tenant_id.
create table sealed_value (
  tenant_id uuid not null,
  kind text not null,
  owner_id uuid not null,
  key_id text not null,
  wrap bytea not null,
  ciphertext bytea not null,
  primary key (tenant_id, kind, owner_id)
);
create index sealed_value_by_key on sealed_value (key_id, kind);

create table idempotency_record (
  tenant_id uuid not null, -- of the caller; nil for the operator at the database
  account_id uuid not null,
  operation text not null,
  key uuid not null,
  id uuid not null, -- owner of the sealed answer
  fingerprint bytea not null, -- SHA-256 of the canonical request
  status integer,
  headers jsonb,
  body text, -- null when sealed or empty
  is_sealed boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (tenant_id, account_id, operation, key)
);
create index idempotency_record_age on idempotency_record (created_at);

create table tenant_quota (
  tenant_id uuid not null references tenant (id),
  quota text not null,
  ceiling bigint not null check (ceiling >= 0), -- 0 is unlimited; no row inherits
  primary key (tenant_id, quota)
);

-- Unlogged: after a crash of the database every minute starts afresh, and no call waits for its log.
create unlogged table request_rate (
  tenant_id uuid not null,
  paid_until timestamptz not null, -- theoretical arrival time (GCRA)
  primary key (tenant_id)
);
