-- 0145  Groups hold roles, and say who is in them and why.
--
-- Why       A group has roles beside those of accounts. `holder_id` is the account or the group, and `account.group_ids` the
--           groups of an account, so that one look-up in one index finds the roles of an account and of its groups together,
--           and the gate reads no further table (docs/decisions/0390). A group never holds OWNER.
--           `binding_…`: the group follows a claim of that provider; no foreign key, because the installation's providers
--           are rows of no workspace. `member_count` is kept by whatever changes the members, behind the lock of the
--           memberships, and so is `account.group_ids`. Members of before came through a provider.
-- Used by   src/core/areas/access/**, src/core/areas/groups/**, src/core/areas/memberships/**, src/daemon/credential.ts.
-- Locks     ACCESS EXCLUSIVE on membership while it is rewritten and its key is made anew (some seconds for each million),
--           on account, account_group and group_member for a moment.
-- Old code  runs: it reads the roles of accounts alone, and cannot list those of groups once there are some. Whom it
--           lets into a group as a newcomer is not counted there, and has its own role alone.
-- Undo      delete the memberships that name a group, drop the columns, make the key anew over account_id.

alter table account_group
  add column description text,
  add column external_id text,
  add column binding_provider_id uuid,
  add column binding_value text,
  add column member_count integer not null default 0,
  add column updated_at timestamptz not null default now(),
  add constraint account_group_binding check ((binding_provider_id is null) = (binding_value is null));
create index account_group_by_binding on account_group (tenant_id, binding_provider_id) where binding_provider_id is not null;

alter table group_member
  add column added_by uuid, -- null: nobody of the workspace, such as a provider; no foreign key: the account may be gone
  add column source text not null default 'PROVIDER' check (source in ('DIRECT', 'PROVIDER', 'DIRECTORY'));
drop index group_member_by_account;
create index group_member_by_account on group_member (tenant_id, account_id, group_id);

alter table account add column group_ids uuid[] not null default '{}'; -- as group_member has them

alter table account_group no force row level security;
alter table group_member no force row level security;
alter table account no force row level security;
update account_group g set member_count = n.count, updated_at = g.created_at
from (select tenant_id, group_id, count(*) from group_member group by tenant_id, group_id) n
where n.tenant_id = g.tenant_id and n.group_id = g.id;
update account a set group_ids = m.group_ids
from (select tenant_id, account_id, array_agg(group_id order by group_id) as group_ids from group_member group by 1, 2) m
where m.tenant_id = a.tenant_id and m.account_id = a.id;
alter table account_group force row level security;
alter table group_member force row level security;
alter table account force row level security;

alter table membership
  alter column account_id drop not null,
  add column group_id uuid,
  add column holder_id uuid not null generated always as (coalesce(account_id, group_id)) stored,
  drop constraint membership_once,
  -- With the role, so that the gate reads the index alone.
  add constraint membership_once unique nulls not distinct (tenant_id, holder_id, container_id) include (role),
  add constraint membership_holder check (num_nonnulls(account_id, group_id) = 1),
  add constraint membership_group_role check (group_id is null or role <> 'OWNER'),
  add constraint membership_group foreign key (tenant_id, group_id) references account_group (tenant_id, id);
