-- 0203  Packages of personal data, to be fetched for some days.
--
-- Why       A package is made by a job, and its bytes lie in the store of files under an id of their own; `media_removal` names
--           them from the begin, so that they go at their time, whatever happens to the job (docs/decisions/0464).
-- Used by   src/core/areas/privacy/packages.
-- Locks     New table only.
-- Old code  runs: only an addition.
-- Undo      drop table privacy_package; the bytes go at their time.

create table privacy_package (
  tenant_id uuid not null,
  request_id uuid not null,
  state text not null default 'QUEUED' check (state in ('QUEUED', 'READY', 'GONE')),
  file_id uuid, -- in the store of files
  attempt integer not null default 0,
  claimed_until timestamptz, -- by the worker that makes it
  size_bytes bigint,
  sha256 text,
  ready_at timestamptz,
  expires_at timestamptz,
  fetches integer not null default 0,
  primary key (tenant_id, request_id),
  foreign key (tenant_id, request_id) references privacy_request (tenant_id, id),
  constraint privacy_package_ready check ((state = 'QUEUED') = (ready_at is null))
);
create index privacy_package_open on privacy_package (tenant_id) where state <> 'GONE';
select workspace_table('privacy_package');
create policy installation on privacy_package for select to svc_installation using (true);
grant select (tenant_id, request_id, state, claimed_until, expires_at) on privacy_package to svc_installation;
