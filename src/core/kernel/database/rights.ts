/**
 * Rights that PostgreSQL grants to every login and the daemon's login must not have: large
 * objects, which belong to no workspace and no policy, and messages in the log. Only the owner
 * of these functions, a superuser, can revoke them. The embedded server does so, and migrations
 * try to; `svc doctor` reports the rest, with the statement.
 *
 * A role can always change its own password and its own settings. Therefore each session sets
 * what the daemon depends on at its start, which overrides a role's settings (connection.ts).
 * Such settings are a finding, and the embedded server resets them and the password whenever it
 * starts. docs/decisions/0144.
 */
import type { Client } from 'pg'

/** Functions that write outside every policy. */
const unwanted = `p.pronamespace = 'pg_catalog'::regnamespace
  and (p.proname like 'lo\\_%' or p.proname in ('loread', 'lowrite', 'pg_logical_emit_message'))`

/** Revokes them from everybody in this database, if the role that runs it may do so. Safe to repeat. */
export const revokeFromEverybody = `
  do $$
  declare one regprocedure;
  begin
    for one in
      select p.oid from pg_proc p
      where ${unwanted} and exists (
        select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0)
    loop
      begin
        execute format('revoke execute on function %s from public', one);
      exception when insufficient_privilege then null; -- svc doctor says so
      end;
    end loop;
  end $$`

/** What a login may do beyond what the daemon needs. */
export interface ExcessRights {
  /** The functions above, as a revoke names them. */
  readonly functions: readonly string[]
  /** On the database and its schemas: `temporary`, `create`, `create in public`. */
  readonly places: readonly string[]
  /** Attributes of the role, and roles that it may assume besides ours. */
  readonly powers: readonly string[]
  /** Settings that were stored for the role. */
  readonly settings: readonly string[]
}

/** Reads the rights of the login that the daemon does not need. */
export async function readExcessRights(client: Pick<Client, 'query'>, login: string): Promise<ExcessRights> {
  const { rows } = await client.query<{ found: ExcessRights }>(
    `select jsonb_build_object(
       'functions', (
         select coalesce(jsonb_agg(p.oid::regprocedure::text order by p.oid::regprocedure::text), '[]') from pg_proc p
         where ${unwanted} and has_function_privilege(r.oid, p.oid, 'execute')),
       'places', (
         select coalesce(jsonb_agg(name), '[]') from (values
           ('temporary', has_database_privilege(r.oid, current_database(), 'temporary')),
           ('create', has_database_privilege(r.oid, current_database(), 'create')),
           ('create in public', has_schema_privilege(r.oid, 'public', 'create'))) place (name, may) where may),
       'powers', (
         select coalesce(jsonb_agg(name), '[]') from (
           select name from (values ('superuser', r.rolsuper), ('bypassrls', r.rolbypassrls), ('createrole', r.rolcreaterole),
             ('createdb', r.rolcreatedb), ('replication', r.rolreplication)) power (name, has) where has
           union all
           select g.rolname::text from pg_auth_members m join pg_roles g on g.oid = m.roleid
           where m.member = r.oid and g.rolname not in ('svc_tenant', 'svc_installation', 'svc_queue', 'svc_purge', 'svc_staging')) all_powers),
       'settings', (
         select coalesce(jsonb_agg(setting order by setting), '[]') from pg_db_role_setting s, unnest(s.setconfig) setting
         where s.setrole = r.oid and s.setdatabase in (0, (select oid from pg_database where datname = current_database())))
     ) as found
     from pg_roles r where r.rolname = $1`,
    [login],
  )
  const [row] = rows
  if (!row) throw new Error(`there is no role ${login}`)
  return row.found
}
