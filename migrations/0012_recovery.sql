-- 0012  Recovery: the installation's gate, and what daemons prove that the database was not rewound by.
--
-- Why       After a rewind nobody may work before obligations are replaced: while the gate is closed, workspaces'
--           calls are refused and workers hold what reaches outside or destroys. It is read with the credential of
--           every call, so it is columns of the one row and not a table.
-- Used by   src/core/areas/recovery/**, src/daemon/gate.ts, src/daemon/worker.ts.
-- Locks     ACCESS EXCLUSIVE on installation for a moment: one row.
-- Old code  runs: the release before this one runs against it unharmed, but knows no gate: stop it before a recovery.
-- Undo      drop the columns and the table; a gate that is closed opens.

alter table installation
  add column epoch_number integer not null default 1, -- counts recoveries: tells an older epoch from a newer one
  add column gated_at timestamptz, -- null: open
  add column gate_reason text, -- BEGUN: an operator closed it; REWOUND: a daemon found the database behind what it had acknowledged
  add column recovery_point timestamptz, -- the moment the database was recovered to, as far as it is known
  add column admitted_at timestamptz, -- when a recovery was last ended
  add constraint installation_gate check (
    (gated_at is null) = (gate_reason is null) and (gate_reason is null or gate_reason in ('BEGUN', 'REWOUND')));

-- How far each daemon has acknowledged; it keeps the same number outside the database, and a database that was
-- rewound has the smaller one. Rows of hosts that never come back stay: some dozens of bytes each.
create table daemon_witness (
  id uuid primary key,
  beat bigint not null,
  beat_at timestamptz not null default now()
);
grant select, insert, update, delete on daemon_witness to svc_installation;
