-- 0162  What the operators have to say to everybody, and to which moment the installation was recovered.
--
-- Why       A front end shows it to whoever signs in, also where no mail goes out (docs/decisions/0413). `recovered_to` stays
--           behind the admission of a recovery, so that people are told what is gone.
-- Used by   src/core/areas/operators/notice.ts, src/core/areas/identity/notices.ts, src/core/areas/recovery/admit.ts.
-- Locks     ACCESS EXCLUSIVE on installation, which has one row, for a moment.
-- Old code  runs: it ignores the table, and an admission by it leaves `recovered_to` as it was.
-- Undo      drop the table and the column.

create table installation_notice (
  id boolean primary key default true check (id), -- one row
  message text, -- null: there is none
  severity text not null default 'INFO' check (severity in ('INFO', 'WARNING', 'CRITICAL')),
  starts_at timestamptz,
  ends_at timestamptz,
  set_by uuid, -- null: the operator at the database
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  constraint installation_notice_period check (ends_at is null or starts_at is null or starts_at < ends_at)
);
insert into installation_notice default values;
grant select, update on installation_notice to svc_installation;

alter table installation add column recovered_to timestamptz;
