-- 0060  Media: files, whose bytes are in a store and never in the database.
--
-- Why       Items and comments carry files. A row says what a file is and how much of it has come; the store has the bytes
--           under `tenants/<tenant>/<media>` (docs/decisions/0235, 0236).
-- Used by   src/core/areas/media. `media_by_uploader` and `media_by_size` are the two orders of its list, `loose_media` and
--           `media_in_examination` what the sweep looks for. `media_removal` names bytes whose row is gone already.
-- Locks     SHARE ROW EXCLUSIVE on account and tenant while the foreign keys are made: no time.
-- Old code  runs: the release before this one knows no media: only additions.
-- Undo      drop the three tables, and remove the store's folder.

create table media (
  tenant_id uuid not null,
  id uuid not null,
  filename text not null,
  size_bytes bigint not null check (size_bytes > 0),
  -- Whole parts that are on the store's disk.
  received_bytes bigint not null default 0 check (received_bytes between 0 and size_bytes),
  -- What the uploader announced, and what the bytes are: both in hex.
  announced_sha256 text,
  sha256 text,
  kind text not null default 'OTHER' check (kind in ('IMAGE', 'VIDEO', 'AUDIO', 'TEXT', 'DOCUMENT', 'ARCHIVE', 'OTHER')),
  content_type text,
  state text not null default 'UPLOADING' check (state in ('UPLOADING', 'SCANNING', 'READY', 'REFUSED')),
  -- The one call that writes bytes at the moment, and until when it does without a sign of life.
  writer uuid,
  writer_until timestamptz,
  -- Since when nothing carries it; null while something does.
  loose_since timestamptz default now(),
  created_by uuid not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  primary key (tenant_id, id),
  foreign key (tenant_id, created_by) references account (tenant_id, id)
);
create index media_by_uploader on media (tenant_id, created_by, id);
create index media_by_size on media (tenant_id, size_bytes, id);
create index own_media_by_size on media (tenant_id, created_by, size_bytes, id);
create index loose_media on media (tenant_id, loose_since) where loose_since is not null;
create index media_in_examination on media (tenant_id, updated_at) where state = 'SCANNING';

-- One row counts the bytes of a workspace, so that its quota is exact.
create table media_tally (
  tenant_id uuid primary key references tenant (id),
  bytes bigint not null check (bytes >= 0)
);

-- The store's files whose rows are gone: they outlive the row for as long as a recovery may bring it back.
create table media_removal (
  tenant_id uuid not null references tenant (id),
  media_id uuid not null,
  due_at timestamptz not null,
  primary key (tenant_id, media_id)
);
create index media_removal_due on media_removal (tenant_id, due_at);

select workspace_table('media');
select workspace_table('media_tally');
select workspace_table('media_removal');
-- An operator reads how much of the quota is used.
create policy installation on media_tally for select to svc_installation using (true);
grant select on media_tally to svc_installation;
