-- 0019  Memberships in one container, and the trail as its readers ask for it.
--
-- Why       An account has a role on the whole workspace, or on one container, or both; a guest has the second
--           alone (docs/decisions/0101). The trail is listed newest first, whole or by what was done, to what,
--           by whom; each has an index that gives a page without reading the rest (docs/decisions/0103).
-- Used by   src/daemon/gate.ts, src/core/areas/containers/**, src/core/areas/memberships/**, src/core/areas/audit/trail.ts.
-- Locks     ACCESS EXCLUSIVE on membership while its key is made anew; SHARE on audit_entry while four indexes
--           are built (about a second for each million of entries).
-- Old code  stops: the release before this one takes a second row of an account for a second role: it must not run
--           beside this one.
-- Undo      delete the memberships that name a container, drop the column and the indexes.

alter table membership
  add column container_id uuid, -- null: the whole workspace
  add column version integer not null default 1,
  add column updated_at timestamptz not null default now(),
  drop constraint membership_once,
  add constraint membership_once unique nulls not distinct (tenant_id, account_id, container_id),
  add constraint membership_container foreign key (tenant_id, container_id) references container (tenant_id, id);
create index membership_of_container on membership (tenant_id, container_id, id); -- who is in it

create index audit_entry_in_order on audit_entry (tenant_id, at, id);
create index audit_entry_by_action on audit_entry (tenant_id, action, at, id);
create index audit_entry_by_subject on audit_entry (tenant_id, subject_id, at, id);
create index audit_entry_by_actor on audit_entry (tenant_id, actor_account_id, at, id);
