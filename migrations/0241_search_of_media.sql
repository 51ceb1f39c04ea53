-- 0241  Files are found by their names.
--
-- Why       What an item carries is found where it is carried, once for each item (docs/decisions/0516), so an attachment has an id
--           of its own: one that whoever knows the item and the file can say, too. A generation of documents that answers has none
--           of files: each workspace that has one gets another beside it, as in 0127.
-- Used by   src/core/areas/search/kinds/media.ts, src/core/kernel/outbox/search-pending.ts.
-- Locks     ACCESS EXCLUSIVE on media_reference while its rows are written anew and the index is made: some seconds for a million.
--           On search_index for a moment.
-- Old code  stops: it never takes a queued attachment out of the queue, and looks for more without a rest.
-- Undo      drop the index and the column; delete from search_document where kind = 'MEDIA'; delete from search_pending where
--           subject = 'MEDIA'.

alter table media_reference
  add column id uuid not null generated always as (md5(item_id::text || media_id::text)::uuid) stored;
create index media_reference_by_id on media_reference (tenant_id, id);

alter table search_index no force row level security;
insert into search_index (tenant_id, language, state)
  select tenant_id, language, 'BUILDING' from search_index where state = 'SERVING'
  on conflict (tenant_id) where state = 'BUILDING' do update set at_kind = null, after_id = null;
alter table search_index force row level security;
