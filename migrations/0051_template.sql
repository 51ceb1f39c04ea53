-- 0051  Templates: an item, or a board with its items, to make again.
--
-- Why       Work that comes again is made from what was written once (docs/decisions/0226).
-- Used by   src/core/areas/templates. template_of_container finds those of a container; the key lists a workspace's.
-- Locks     SHARE ROW EXCLUSIVE on container while the foreign key is made: no time.
-- Old code  runs: the release before this one knows no templates: only additions.
-- Undo      drop table template; nothing else refers to it.

create table template (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  kind text not null check (kind in ('ITEM', 'BOARD')),
  name text not null,
  description text,
  container_id uuid, -- null: of the whole workspace
  variables jsonb not null,
  -- Labels, buckets and fields by name, dates as days from an anchor.
  content jsonb not null,
  created_by uuid not null, -- no foreign key: templates outlive those who made them
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id, container_id) references container (tenant_id, id)
);
create index template_of_container on template (tenant_id, container_id, id);

select workspace_table('template');
