-- 0155  The journal by moment, action, workspace and actor.
--
-- Why       Whoever looks for what was done to a workspace, or by somebody, had to read the whole record. Each filter of
--           GET /admin/journal has an index that ends in the order of the list, so a page costs the same at any length of the
--           record (docs/decisions/0372). `split_part` is the family of an action: `tenant` of `tenant.suspended`.
-- Used by   src/core/areas/journal/journal.ts.
-- Locks     SHARE on journal while the indexes are built: operators' changes wait for that long, a second for some
--           hundred thousand entries.
-- Old code  runs: the release before this one reads the record by its ids.
-- Undo      drop the indexes.

create index journal_in_order on journal (at, id);
create index journal_by_action on journal (action, at, id);
create index journal_by_family on journal (split_part(action, '.', 1), at, id);
create index journal_by_workspace on journal (workspace_id, at, id);
create index journal_by_slug on journal (workspace_slug, at, id);
create index journal_by_actor on journal (actor_account_id, at, id);
create index journal_by_kind on journal (actor_kind, at, id);
