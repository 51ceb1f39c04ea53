-- 0021  Structure that can be changed: custom fields, and labels that come back.
--
-- Why       A deleted label leaves the vocabulary and its items are not rewritten, so that it can be put back; a
--           deleted field keeps its values, and another one may take its key. So names and keys are unique among
--           what is not deleted. A deleted bucket is gone: nothing refers to it (decision 0111).
--           The two names are unique by the digest of their fold: 120 characters may fold to 2,160, which is
--           more than an index takes.
-- Used by   src/core/areas/structure/**.
-- Locks     ACCESS EXCLUSIVE on bucket and label while an index of each is made (some seconds at a million rows),
--           SHARE ROW EXCLUSIVE on item_field_value while its values are looked through.
-- Old code  runs: the release before this one shows deleted labels, and makes none.
-- Undo      drop the table and the columns, and make the constraints of 0004 again; definitions are lost.

create table custom_field (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  collection_id uuid, -- null: defined for the whole workspace
  key text not null check (key ~ '^[a-z][a-z0-9_]{0,49}$'),
  kind text not null check (kind in ('TEXT', 'NUMBER', 'DATE', 'SELECT', 'MULTI_SELECT', 'BOOL', 'USER', 'URL')),
  options jsonb, -- a list of texts, in the order offered; null but for the SELECT kinds
  is_required boolean not null,
  applies_to jsonb not null, -- a list of item types, in the order given
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz, -- values stay in the items; nothing shows them any more
  version integer not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id, collection_id) references container (tenant_id, id),
  constraint custom_field_options check ((options is not null) = (kind in ('SELECT', 'MULTI_SELECT')))
);
create unique index custom_field_key_taken on custom_field (tenant_id, collection_id, key) nulls not distinct
  where deleted_at is null;
create index custom_field_by_collection on custom_field (tenant_id, collection_id);

alter table custom_field enable row level security;
alter table custom_field force row level security;
create policy one_workspace on custom_field to svc_tenant
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
grant select, insert, update, delete on custom_field to svc_tenant;

-- A definition is never removed but with its workspace: values outlive what shows them.
alter table item_field_value add foreign key (tenant_id, field_id) references custom_field (tenant_id, id);

alter table label add column deleted_at timestamptz;
alter table label drop constraint label_name_taken;
create unique index label_name_taken on label (tenant_id, container_id, md5(name_fold)) where deleted_at is null;

alter table bucket drop constraint bucket_name_taken;
create unique index bucket_name_taken on bucket (tenant_id, container_id, md5(name_fold));
