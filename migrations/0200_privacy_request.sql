-- 0200  Requests of people about their data.
--
-- Why       A request has a deadline of law, a state, an identity that was proven or was not, and a decision. The row is the
--           proof of how it was handled; what it says of a person goes with that person's erasure (docs/decisions/0460).
-- Used by   src/core/areas/privacy.
-- Locks     New table only; SHARE ROW EXCLUSIVE on account while the foreign key is made: no time.
-- Old code  runs: the release before this one knows no requests: only an addition.
-- Undo      drop table privacy_request; drop function privacy_due.

create table privacy_request (
  tenant_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('ACCESS', 'RECTIFICATION', 'ERASURE', 'RESTRICTION', 'PORTABILITY', 'OBJECTION')),
  state text not null default 'RECEIVED' check (state in ('RECEIVED', 'GRANTED', 'REFUSED', 'DONE', 'PARTLY_DONE', 'WITHDRAWN')),
  account_id uuid, -- null: somebody without an account
  subject_name text,
  subject_contact text,
  processing text check (processing in ('AI', 'STATISTICS', 'OTHER')),
  details text,
  channel text not null check (channel in ('SELF', 'ENTERED')),
  received_at timestamptz not null,
  time_zone text not null, -- whose days the deadline counts
  due_at timestamptz not null, -- while identity is asked for: with the longest time that the clock may stand
  extended_months integer check (extended_months in (1, 2)),
  extended_reason text check (extended_reason in ('COMPLEX', 'NUMEROUS')),
  extended_text text,
  extended_at timestamptz,
  identity_state text not null default 'UNVERIFIED' check (identity_state in ('UNVERIFIED', 'ASKED', 'VERIFIED')),
  identity_how text,
  identity_asked_at timestamptz,
  identity_verified_at timestamptz,
  identity_by uuid,
  handler_id uuid,
  decision text check (decision in ('GRANTED', 'REFUSED')),
  refusal_ground text check (refusal_ground in ('UNIDENTIFIED', 'UNFOUNDED', 'EXCESSIVE', 'LAW', 'CLAIMS', 'OTHERS_RIGHTS')),
  choices jsonb, -- of an erasure that was granted
  executes_at timestamptz, -- when the erasure begins
  held_parts jsonb not null default '[]',
  reminded text, -- the last reminder: WEEK, DAY, OVERDUE
  reminded_at timestamptz,
  closed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references account (tenant_id, id),
  constraint privacy_request_processing check ((kind = 'OBJECTION') = (processing is not null)),
  constraint privacy_request_refused check ((decision is not distinct from 'REFUSED') = (refusal_ground is not null)),
  constraint privacy_request_extended check ((extended_months is null) = (extended_at is null)),
  constraint privacy_request_closed check ((state in ('REFUSED', 'DONE', 'WITHDRAWN')) = (closed_at is not null))
);
create unique index privacy_request_open on privacy_request (tenant_id, account_id, kind)
  where state in ('RECEIVED', 'GRANTED', 'PARTLY_DONE');
create index privacy_request_by_account on privacy_request (tenant_id, account_id) where account_id is not null;
create index privacy_request_due on privacy_request (due_at) where state in ('RECEIVED', 'GRANTED');
create index privacy_request_executes on privacy_request (executes_at) where state = 'GRANTED' and executes_at is not null;
select workspace_table('privacy_request');
-- Where something is due is not known before the look. A row shows the installation no person.
create policy installation on privacy_request for select to svc_installation using (true);
grant select (tenant_id, id, kind, state, due_at, executes_at, reminded, reminded_at) on privacy_request to svc_installation;

-- The end of the day so many calendar months after a request came. While the clock stood, it is as if it had come later.
create function privacy_due(received_at timestamptz, months integer, stood interval, zone text) returns timestamptz
language sql stable parallel safe
return ((((received_at + stood) at time zone zone)::date + make_interval(months => months))::date + time '23:59:59.999') at time zone zone;
