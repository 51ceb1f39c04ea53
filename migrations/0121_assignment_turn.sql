-- 0121  Whose turn it was when an item was assigned by itself.
--
-- Why       Of people with equally few open items the one is picked who has not been for longest (docs/decisions/0342).
-- Used by   src/core/areas/items/auto-assign.ts.
-- Locks     SHARE ROW EXCLUSIVE on account while the foreign key is made: no time.
-- Old code  runs: the release before this one picks nobody: only additions.
-- Undo      drop the table; nobody has been picked then.

create table assignment_turn (
  tenant_id uuid not null,
  account_id uuid not null,
  picked_at timestamptz not null,
  primary key (tenant_id, account_id),
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);

select workspace_table('assignment_turn');
