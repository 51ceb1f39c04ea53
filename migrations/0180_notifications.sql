-- 0180  Notifications: what an account is told, what it wants to be told, and what waits to be told.
--
-- Why       A row for each account, event and category, with ids and no content: title and access are read when it is shown or
--           mailed. What waits is written by the statement of its event, so that it commits with it and costs no statement
--           (docs/decisions/0430).
-- Used by   src/core/areas/notifications; kernel/outbox/fan-out.ts writes what waits.
-- Locks     SHARE ROW EXCLUSIVE on account while the foreign keys are made: no time.
-- Old code  runs: the release before this one tells nobody: only additions.
-- Undo      drop the three tables; nothing else refers to them.

create table notification (
  tenant_id uuid not null,
  account_id uuid not null,
  event_id uuid not null, -- of the first event that the row tells of
  category text not null check (category in
    ('SECURITY', 'ADMINISTRATION', 'ASSIGNED', 'MENTIONED', 'DUE', 'COMMENTED', 'ACCESS', 'AUTOMATION', 'CHANGED')),
  id uuid not null,
  event_type text not null, -- of the newest one
  actor_id uuid,
  subject text not null, -- a path below /api/v1
  item_id uuid, -- where the subject is one: whoever does not see its container now is not told
  container_id uuid,
  text text, -- a rule's
  count integer not null default 1 check (count > 0),
  began_at timestamptz not null, -- the first event
  at timestamptz not null, -- the newest event
  is_listed boolean not null, -- false: for mail alone
  read_at timestamptz,
  -- How it is mailed; null: not at all.
  mail_form text check (mail_form in ('IMMEDIATE', 'DAILY')),
  mail_since timestamptz, -- since when something waits to be mailed; null: nothing does
  mail_due_at timestamptz,
  mail_count integer not null default 0, -- of how many events the mail tells that waits or was the last
  mail_id uuid, -- the last mail with which it went
  mailed_at timestamptz,
  primary key (tenant_id, account_id, event_id, category),
  foreign key (tenant_id, account_id) references account (tenant_id, id),
  constraint notification_mailed check ((mail_due_at is null) = (mail_since is null) and (mail_since is null or mail_form is not null))
);
create index notification_newest on notification (tenant_id, account_id, at desc, id desc);
create index notification_of_subject on notification (tenant_id, account_id, subject, at);
create index notification_mail_due on notification (mail_due_at, tenant_id) where mail_due_at is not null;
create index notification_mail_waits on notification (tenant_id, mail_due_at) where mail_due_at is not null;
create index notification_old on notification (at);
select workspace_table('notification');
create policy installation on notification to svc_installation using (true);
grant select, delete on notification to svc_installation;

-- What an account has decided itself; every other pair has the product's default.
create table notification_preference (
  tenant_id uuid not null,
  account_id uuid not null,
  category text not null,
  channel text not null check (channel in ('MAIL', 'IN_APP')),
  delivery text not null check (delivery in ('IMMEDIATE', 'DAILY', 'OFF')),
  overrides jsonb not null default '{}', -- a delivery by the id of a container
  version integer not null default 1,
  updated_at timestamptz not null default now(),
  primary key (tenant_id, account_id, category, channel),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
select workspace_table('notification_preference');

-- One row for each notifiable event, until it is told.
create table notification_pending (
  tenant_id uuid not null,
  id uuid not null,
  event_id uuid not null,
  event_type text not null,
  at timestamptz not null,
  actor_id uuid,
  subject text not null,
  item_id uuid,
  container_id uuid,
  text text,
  told jsonb not null, -- by category, the first that names an account counts: whom (src/core/kernel/outbox/notice.ts)
  primary key (tenant_id, id)
);
select workspace_table('notification_pending');
create policy installation on notification_pending for select to svc_installation using (true);
grant select on notification_pending to svc_installation;
