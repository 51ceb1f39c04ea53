-- 0037  Typed keys of what items are filtered by: their titles and the values of their custom fields.
--
-- Why       A value is jsonb, whose operators no index serves under row-level security, and texts are compared folded,
--           which is computed outside of the database. A key is text whose order by code unit is that of the values
--           (docs/decisions/0211). What is there already gets its keys from the job `key_items`, in portions. Until then
--           `without_keys` says which items lack theirs, and a filter looks at these one by one.
-- Used by   src/core/areas/items/filter/**; each rule that writes a title or a value writes its keys.
-- Locks     ACCESS EXCLUSIVE on item for a moment, then SHARE while an index is built; SHARE on custom_field.
-- Old code  stops: the release before this one changes values and titles and leaves their keys.
-- Undo      drop the table, the column and the indexes.

create table item_field_key (
  tenant_id uuid not null,
  field_id uuid not null, -- of custom_field; 00000000-0000-0000-0000-000000000001 stands for the title
  key text collate "C" not null,
  item_id uuid not null,
  whole text collate "C", -- the folded text, where the key is only its beginning
  primary key (tenant_id, item_id, field_id, key),
  foreign key (tenant_id, item_id) references item (tenant_id, id)
);
-- In the order of items behind one key: a page of those with a value is read from where the last one ended.
create index item_field_key_by_key on item_field_key (tenant_id, field_id, key, item_id);
select workspace_table('item_field_key');

alter table item add column without_keys boolean not null default true;
create index item_without_keys on item (tenant_id, id) where without_keys;

-- The collections that have a field of their own under a key of the workspace's.
create index custom_field_by_key on custom_field (tenant_id, key) where deleted_at is null;
