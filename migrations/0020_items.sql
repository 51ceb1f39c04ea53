-- 0020  Items: what stands on a board, with its labels, its people and the values of its custom fields.
--
-- Why       Content, as 0004 is: svc_installation has no right here but on the count that a ceiling is held against.
--           An item is in one bucket of its own container or in none: the foreign key says so, because it carries the
--           container. No two items of a bucket have one place: the index of the order is unique.
-- Used by   src/core/areas/items/**; src/core/areas/structure/** counts and moves the entries of a bucket.
-- Locks     SHARE ROW EXCLUSIVE on container, bucket, label and account for foreign keys; ACCESS EXCLUSIVE on bucket
--           while a unique constraint of it is built.
-- Old code  runs: the release before this one runs against it unharmed: only additions.
-- Undo      drop the tables, and the constraint bucket_of_container; items are lost.

alter table bucket add constraint bucket_of_container unique (tenant_id, container_id, id);

create table item (
  tenant_id uuid not null references tenant (id),
  id uuid not null, -- UUIDv7: lists by id are in the order of creation, which no move changes
  container_id uuid not null,
  bucket_id uuid,
  type text not null check (type in ('TASK', 'EVENT', 'NOTE', 'ACTIVITY')),
  title text not null,
  description text,
  state text not null default 'OPEN' check (state in ('OPEN', 'DONE')),
  rank text collate "C" not null, -- order within the bucket; no sibling is ever renumbered
  due_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz not null default now(),
  created_by uuid not null, -- no foreign key: items outlive those who wrote them
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  version integer not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id, container_id) references container (tenant_id, id),
  -- A bucket goes only when what stood in it was moved; what had been deleted before is then in none.
  constraint item_bucket foreign key (tenant_id, container_id, bucket_id)
    references bucket (tenant_id, container_id, id) on delete set null (bucket_id),
  constraint item_completed check ((state = 'DONE') = (completed_at is not null))
);
create unique index item_in_order on item (tenant_id, container_id, bucket_id, rank) nulls not distinct where deleted_at is null;
create index item_of_container on item (tenant_id, container_id, id) where deleted_at is null;
create index item_of_container_by_state on item (tenant_id, container_id, state, id) where deleted_at is null;
create index item_by_state on item (tenant_id, state, id) where deleted_at is null;
create index item_of_bucket on item (tenant_id, bucket_id) where bucket_id is not null; -- for the foreign key, deleted ones too

create table item_label (
  tenant_id uuid not null,
  item_id uuid not null,
  label_id uuid not null,
  primary key (tenant_id, item_id, label_id),
  foreign key (tenant_id, item_id) references item (tenant_id, id),
  foreign key (tenant_id, label_id) references label (tenant_id, id)
);
create index item_label_by_label on item_label (tenant_id, label_id, item_id);

create table item_member (
  tenant_id uuid not null,
  item_id uuid not null,
  account_id uuid not null,
  primary key (tenant_id, item_id, account_id),
  foreign key (tenant_id, item_id) references item (tenant_id, id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index item_member_by_account on item_member (tenant_id, account_id, item_id);

create table item_field_value (
  tenant_id uuid not null,
  item_id uuid not null,
  field_id uuid not null, -- of custom_field (0021): a definition made anew under the old key is another one
  value jsonb not null,
  primary key (tenant_id, item_id, field_id),
  foreign key (tenant_id, item_id) references item (tenant_id, id)
);
create index item_field_value_by_field on item_field_value (tenant_id, field_id);

-- How many items a workspace has, deleted ones apart: the ceiling `items` is held against it, one row at a time.
create table item_tally (
  tenant_id uuid not null references tenant (id),
  items bigint not null check (items >= 0),
  primary key (tenant_id)
);

do $$
declare
  target text;
begin
  foreach target in array array['item', 'item_label', 'item_member', 'item_field_value', 'item_tally'] loop
    execute format('alter table %I enable row level security', target);
    execute format('alter table %I force row level security', target);
    execute format('create policy one_workspace on %I to svc_tenant using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()))', target);
    execute format('grant select, insert, update, delete on %I to svc_tenant', target);
  end loop;
end $$;

create policy installation on item_tally for select to svc_installation using (true);
grant select on item_tally to svc_installation;
