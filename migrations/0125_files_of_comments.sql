-- 0125  Files of comments.
--
-- Why       A comment brings files. They are attachments of its item as any others, which note the comment that brought them; the
--           comment keeps their ids (docs/decisions/0360).
-- Used by   src/core/areas/comments/files.ts, src/core/areas/media/attachments.ts.
-- Locks     ACCESS EXCLUSIVE on comment and media_reference for a moment: defaults that are no expressions write no row.
-- Old code  runs: it writes comments without files. A comment with files that it deletes leaves these with the item.
-- Undo      drop the two columns; the files stay with the items.

alter table comment add column media_ids jsonb not null default '[]';
-- No foreign key: a comment goes by its text, and its row before or after.
alter table media_reference add column comment_id uuid;
