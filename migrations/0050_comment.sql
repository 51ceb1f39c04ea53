-- 0050  Comments on items, whom they mention, and reactions to them.
--
-- Why       People talk about an item where it stands (docs/decisions/0225). A comment that is deleted while others reply to
--           it keeps its row without a text; under a legal hold it keeps the text, too, which nobody is shown.
-- Used by   src/core/areas/comments. comment_of_item lists and counts the comments of an item, comment_replies finds those
--           that reply to one, comment_to_purge the texts that outlasted their deletion.
-- Locks     SHARE ROW EXCLUSIVE on item and account while the foreign keys are made: no time.
-- Old code  runs: the release before this one knows no comments: only additions.
-- Undo      drop table comment_reaction, comment_mention, comment; nothing else refers to them.

create table comment (
  tenant_id uuid not null,
  id uuid not null, -- UUIDv7: lists by id are in the order of creation
  item_id uuid not null,
  reply_to_id uuid,
  body text not null, -- empty: it was deleted, and its text purged
  created_by uuid not null, -- no foreign key: comments outlive those who wrote them
  created_at timestamptz not null default now(),
  edited_at timestamptz,
  deleted_at timestamptz,
  version integer not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id, item_id) references item (tenant_id, id) on delete cascade,
  foreign key (tenant_id, reply_to_id) references comment (tenant_id, id) on delete cascade,
  constraint comment_has_text check (deleted_at is not null or body <> '')
);
create index comment_of_item on comment (tenant_id, item_id, id) include (deleted_at);
create index comment_replies on comment (tenant_id, reply_to_id) where reply_to_id is not null;
create index comment_to_purge on comment (tenant_id, id) where deleted_at is not null and body <> '';

create table comment_mention (
  tenant_id uuid not null,
  comment_id uuid not null,
  account_id uuid not null,
  primary key (tenant_id, comment_id, account_id),
  foreign key (tenant_id, comment_id) references comment (tenant_id, id) on delete cascade,
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index comment_mention_by_account on comment_mention (tenant_id, account_id, comment_id);

create table comment_reaction (
  tenant_id uuid not null,
  comment_id uuid not null,
  account_id uuid not null,
  reaction text not null check (reaction in ('THUMBS_UP', 'THUMBS_DOWN', 'LAUGH', 'HOORAY', 'CONFUSED', 'HEART', 'ROCKET', 'EYES')),
  primary key (tenant_id, comment_id, account_id, reaction),
  foreign key (tenant_id, comment_id) references comment (tenant_id, id) on delete cascade,
  foreign key (tenant_id, account_id) references account (tenant_id, id)
);
create index comment_reaction_by_account on comment_reaction (tenant_id, account_id, comment_id);

select workspace_table('comment');
select workspace_table('comment_mention');
select workspace_table('comment_reaction');
