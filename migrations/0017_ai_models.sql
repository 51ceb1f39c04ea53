-- 0017  AI models that the installation offers, which one a workspace has switched on, and the tokens it used.
--
-- Why       A model is the installation's; its API key is a sealed value of the kind ai.api_key. A workspace switches
--           on one of them, or none. Tokens are counted by day of the workspace's own zone, in one row that a call
--           adds its bound to before it leaves (docs/decisions/0092).
-- Used by   src/core/areas/ai/offered/**, src/core/areas/ai/**.
-- Locks     New tables only.
-- Old code  runs: the release before this one runs against it unharmed: only additions.
-- Undo      drop the tables and the sealed values of the kind; models have to be offered and chosen again.

create table ai_model (
  id uuid primary key,
  display_name text not null,
  processor text not null,
  kind text not null check (kind in ('NOOP', 'VENDOR_COMPATIBLE', 'LOCAL_RUNTIME')),
  base_url text not null,
  completion_model text,
  embedding_model text,
  jurisdiction text not null check (jurisdiction in ('SELF_HOSTED', 'EEA', 'ADEQUACY', 'THIRD_COUNTRY')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  version integer not null default 1
);
grant select, insert, update, delete on ai_model to svc_installation;

create table ai_choice (
  tenant_id uuid primary key references tenant (id),
  model_id uuid not null, -- no foreign key: a model that is gone leaves a choice that answers nothing
  chosen_at timestamptz not null default now()
);
create index ai_choice_by_model on ai_choice (model_id); -- how many workspaces use a model
alter table ai_choice enable row level security;
alter table ai_choice force row level security;
create policy one_workspace on ai_choice to svc_tenant
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
create policy installation on ai_choice for select to svc_installation using (true);
grant select, insert, update, delete on ai_choice to svc_tenant;
grant select on ai_choice to svc_installation;

create table ai_usage (
  tenant_id uuid not null references tenant (id),
  day date not null, -- of the workspace's zone when the call left
  tokens bigint not null default 0 check (tokens >= 0), -- what was reported, and the bounds of calls under way
  primary key (tenant_id, day)
);
alter table ai_usage enable row level security;
alter table ai_usage force row level security;
create policy one_workspace on ai_usage to svc_tenant
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
create policy installation on ai_usage for select to svc_installation using (true);
grant select, insert, update, delete on ai_usage to svc_tenant;
grant select on ai_usage to svc_installation;
