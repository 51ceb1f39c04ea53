-- 0048  Policies of containers.
--
-- Why       A hub or a collection decides for itself how long its trash is kept and who may delete in it. Null inherits: a
--           collection from its hub, a hub from the product (docs/decisions/0205).
-- Used by   src/core/areas/containers/policies.ts; src/core/areas/access/access.ts reads them with the container.
-- Locks     ACCESS EXCLUSIVE on container while its rows are checked: no time.
-- Old code  runs: the release before this one knows no policies, lets every MEMBER delete and purges nothing by time.
-- Undo      drop the columns; the policies are lost.

alter table container
  add column trash_days integer check (trash_days between 0 and 3650), -- 0: never
  add column delete_role text check (delete_role in ('MEMBER', 'ADMIN', 'OWNER'));
