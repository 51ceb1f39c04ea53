-- 0004  Containers, buckets and labels: the part of a workspace that provisioning makes.
--
-- Why       Content. svc_installation has no right here: an operator's transaction cannot read it.
-- Used by   src/core/areas/containers/**, src/core/areas/structure/**, src/core/areas/tenants/provision.ts.
-- Locks     New tables only.
-- Old code  stops: there was none before it.
-- Undo      drop the tables; every board is lost.

create table container (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  kind text not null check (kind in ('HUB', 'COLLECTION')),
  parent_id uuid,
  name text not null,
  description text,
  rank text collate "C" not null, -- order among its siblings; no position is ever renumbered
  is_private boolean not null default false,
  archived_at timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id, parent_id) references container (tenant_id, id),
  constraint container_parent check ((kind = 'COLLECTION') = (parent_id is not null))
);
create index container_children on container (tenant_id, parent_id, rank);

create table bucket (
  tenant_id uuid not null,
  id uuid not null,
  container_id uuid not null,
  name text not null,
  name_fold text not null, -- the name as it is compared: folded by src/core/kernel/values/case-fold.ts
  rank text collate "C" not null,
  wip_limit integer check (wip_limit > 0),
  is_done_bucket boolean not null default false,
  color_token text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id, container_id) references container (tenant_id, id),
  constraint bucket_name_taken unique (tenant_id, container_id, name_fold)
);
create index bucket_in_order on bucket (tenant_id, container_id, rank);

create table label (
  tenant_id uuid not null,
  id uuid not null,
  container_id uuid not null,
  name text not null,
  name_fold text not null,
  color_token text not null,
  description text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id, container_id) references container (tenant_id, id),
  constraint label_name_taken unique (tenant_id, container_id, name_fold)
);
