-- 0242  Groups that a comment mentions.
--
-- Why       `<@id>` names a group as well as an account (docs/decisions/0517).
-- Used by   src/core/areas/comments.
-- Locks     ACCESS EXCLUSIVE on comment for a moment: a default that is no expression writes no row.
-- Old code  runs: it shows a comment without the groups that it mentions.
-- Undo      drop the column.

alter table comment add column mentioned_group_ids jsonb not null default '[]'; -- no foreign key: a group goes, and the text stays
