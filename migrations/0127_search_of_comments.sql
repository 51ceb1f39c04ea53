-- 0127  Comments are found by their words.
--
-- Why       A generation of documents that answers has none of comments. Each workspace that has one gets another beside it, which
--           the indexer builds as it does every generation, and which answers once it is whole (docs/decisions/0362).
-- Used by   src/core/areas/search.
-- Locks     ACCESS EXCLUSIVE on search_index for a moment: it has a row or two for each workspace.
-- Old code  stops: it never takes a queued comment out of the queue, and looks for more without a rest.
-- Undo      delete from search_document where kind = 'COMMENT'; delete from search_pending where subject = 'COMMENT'.

alter table search_index no force row level security;
insert into search_index (tenant_id, language, state)
  select tenant_id, language, 'BUILDING' from search_index where state = 'SERVING'
  on conflict (tenant_id) where state = 'BUILDING' do update set at_kind = null, after_id = null;
alter table search_index force row level security;
