-- 0029  A ceiling and its tally in one statement of the workspace.
--
-- Why       Whoever creates an item reads its ceiling, adds to a tally and compares. In one statement, which refuses by
--           itself, this leaves with the commit and waits for no answer (docs/decisions/0176).
-- Used by   src/core/areas/settings/quotas.ts and the areas' counts.
-- Locks     ACCESS EXCLUSIVE on setting for a moment.
-- Old code  runs: the release before this one runs against it unharmed: only additions.
-- Undo      drop function keep_within(text, bigint, bigint, bigint); drop policy ceilings on setting; drop policy
--           installation on setting; alter table setting disable row level security; revoke select on setting from svc_tenant;

-- Of the installation's settings, a workspace may read the ceilings, and no other.
alter table setting enable row level security;
create policy installation on setting to svc_installation using (true) with check (true);
create policy ceilings on setting for select to svc_tenant using (name like 'quotas.%');
grant select (name, value) on setting to svc_tenant;

-- Refuses quota.exceeded if a tally to which `amount` was just added is above its ceiling; 0 is unlimited.
create function keep_within(quota text, tally bigint, amount bigint, ceiling bigint) returns void language plpgsql stable as $$
begin
  if ceiling > 0 and tally > ceiling then
    raise exception 'quota exceeded: %', quota using errcode = 'SV001', detail = concat_ws(' ', quota, ceiling, tally - amount);
  end if;
end $$;
