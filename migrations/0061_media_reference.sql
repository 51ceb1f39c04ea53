-- 0061  References to media: the attachments of items.
--
-- Why       A file is seen by its uploader and by whoever sees what carries it, and goes when nothing does
--           (docs/decisions/0238).
-- Used by   src/core/areas/media/attachments.ts and sight.ts. The primary key lists an item's attachments, the index finds
--           what carries a file.
-- Locks     SHARE ROW EXCLUSIVE on item and account while the foreign keys are made: no time.
-- Old code  runs: the release before this one knows no media: only additions.
-- Undo      drop the table.

create table media_reference (
  tenant_id uuid not null,
  item_id uuid not null,
  media_id uuid not null,
  name text,
  alt text,
  added_by uuid not null,
  added_at timestamptz not null default now(),
  primary key (tenant_id, item_id, media_id),
  foreign key (tenant_id, item_id) references item (tenant_id, id),
  foreign key (tenant_id, media_id) references media (tenant_id, id),
  foreign key (tenant_id, added_by) references account (tenant_id, id)
);
create index media_reference_by_media on media_reference (tenant_id, media_id, item_id);
create index media_reference_by_account on media_reference (tenant_id, added_by);

select workspace_table('media_reference');
