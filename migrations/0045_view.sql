-- 0045  Views: a filter, an order and a layout that people come back to.
--
-- Why       Those who share a board share how they look at it; a private view is its maker's alone (docs/decisions/0207).
-- Used by   src/core/areas/items/views. The first index lists a workspace's shared views, the second an account's own ones.
-- Locks     SHARE ROW EXCLUSIVE on container and account while the foreign keys are made: no time.
-- Old code  runs: the release before this one knows no views: only additions.
-- Undo      drop the table; nothing else refers to it.

create table item_view (
  tenant_id uuid not null,
  id uuid not null,
  container_id uuid,
  name text not null,
  layout text not null check (layout in ('LIST', 'BOARD', 'TABLE', 'CALENDAR', 'TIMELINE')),
  -- A whole filter, with custom fields by id.
  filter jsonb,
  sort jsonb,
  group_by jsonb,
  columns jsonb not null,
  visibility text not null check (visibility in ('PRIVATE', 'SHARED')),
  created_by uuid not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id, container_id) references container (tenant_id, id),
  foreign key (tenant_id, created_by) references account (tenant_id, id)
);
create index shared_item_view on item_view (tenant_id, id) where visibility = 'SHARED';
create index private_item_view on item_view (tenant_id, created_by, id) where visibility = 'PRIVATE';
create index item_view_of_container on item_view (tenant_id, container_id, id);
create index item_view_by_maker on item_view (tenant_id, created_by);

select workspace_table('item_view');
