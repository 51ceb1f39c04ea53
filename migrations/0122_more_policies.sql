-- 0122  More policies of containers: comments, completion, the archive of what is done, and assignment.
--
-- Why       A hub or a collection decides who comments, whether an item waits for its children or completes them, when what is
--           done is archived, and among whom items are assigned (docs/decisions/0343). Null inherits, as in 0048. The index
--           finds what has been done for long.
-- Used by   src/core/areas/containers/policies.ts; src/core/areas/access/access.ts reads them with the container.
-- Locks     ACCESS EXCLUSIVE on container and SHARE ROW EXCLUSIVE on account_group while the rows are checked, SHARE on item
--           while the index is built: seconds for some millions.
-- Old code  runs: the release before this one obeys none of them.
-- Undo      drop the columns and the index; the policies are lost.

alter table container
  add column comment_role text check (comment_role in ('COMMENTER', 'MEMBER', 'ADMIN', 'OWNER')),
  add column complete_needs_children boolean,
  add column complete_children boolean,
  add column archive_done_after_days integer check (archive_done_after_days between 0 and 3650), -- 0: never
  add column auto_assign_group_id uuid; -- no foreign key: a group that is gone assigns nobody

create index done_item_of_container on item (tenant_id, container_id, completed_at, id)
  where state = 'DONE' and deleted_at is null and archived_at is null;
