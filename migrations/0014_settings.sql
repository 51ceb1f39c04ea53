-- 0014  What the installation decided: one row for each switch it set.
--
-- Why       A switch that the operator says nothing about has no row, so that "undecided" is not a value. The gate
--           reads single switches by their name. Setter and moment stand beside each, because a locked switch
--           answers to every workspace with them; a switch that a PUT leaves as it was keeps both.
-- Used by   src/core/admin/settings/**; read by the gate, signing in, provisioning, quotas.
-- Locks     ACCESS EXCLUSIVE on installation for a moment: one row.
-- Old code  the release before this one runs against it unharmed, and obeys no switch.
-- Undo      drop the table and the columns; every switch falls back to the product's own.

create table setting (
  name text primary key, -- e.g. sign_in.password_min_length
  value jsonb not null,
  is_locked boolean not null default false,
  reason text,
  set_by uuid, -- null: the enforcing file, or the operator at the database
  set_at timestamptz not null default now(),
  constraint setting_lock check (name like 'sign\_in.%' or (not is_locked and reason is null))
);
grant select, insert, update, delete on setting to svc_installation;

alter table installation
  add column settings_version integer not null default 1,
  add column settings_file text; -- the enforcing file that the rows came from; null: the database is the source
