/** The database's own catalog as data, for the rules in catalog-rules.ts. */
import type postgres from 'postgres'

export interface Table {
  readonly name: string
  readonly owner: string
  readonly isForced: boolean
  readonly isEnabled: boolean
  readonly columns: readonly {
    readonly name: string
    readonly type: string
    readonly kind: string
    readonly isRequired: boolean
    /** The database computes it, and takes no value. */
    readonly isGenerated: boolean
  }[]
  readonly policies: readonly {
    readonly name: string
    readonly roles: readonly string[]
    readonly command: string
    readonly isPermissive: boolean
    readonly using: string | null
    readonly check: string | null
  }[]
  readonly indexes: readonly {
    readonly name: string
    readonly isUnique: boolean
    readonly isPrimary: boolean
    readonly columns: readonly string[]
  }[]
  readonly references: readonly {
    readonly name: string
    readonly columns: readonly string[]
    readonly target: string
    readonly targetColumns: readonly string[]
  }[]
  readonly triggers: readonly string[]
  /** `role: privilege`, for columns as well; the owner's own are left out. */
  readonly grants: readonly string[]
}

/** A part of a table that is partitioned. */
export interface Partition {
  readonly name: string
  readonly schema: string
  readonly isForced: boolean
  readonly isEnabled: boolean
  readonly policies: number
  /** The owner's own are left out. */
  readonly grants: number
}

export interface Role {
  readonly name: string
  readonly isSuperuser: boolean
  readonly bypassesPolicies: boolean
  readonly inherits: boolean
  readonly mayLogIn: boolean
  readonly mayCreate: boolean
  readonly memberOf: readonly string[]
  readonly owns: readonly string[]
}

export interface Catalog {
  readonly tables: readonly Table[]
  readonly partitions: readonly Partition[]
  readonly roles: readonly Role[]
  /** Functions of ours that run with their owner's rights, and views that do not ask for the reader's. */
  readonly privileged: readonly string[]
  /** What everybody may do in the schema public. */
  readonly publicRights: readonly string[]
}

export async function readCatalog(oracle: postgres.ISql): Promise<Catalog> {
  const [tables, partitions, roles, privileged, publicRights] = await Promise.all([
    readTables(oracle),
    readPartitions(oracle),
    readRoles(oracle),
    oracle<{ name: string }[]>`
      select proname as name from pg_proc where pronamespace = 'public'::regnamespace and prosecdef
      union all select relname from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('v', 'm') and not coalesce('security_invoker=true' = any (reloptions), false)`,
    oracle<{ right: string }[]>`
      select privilege_type as right from pg_namespace, aclexplode(nspacl) where nspname = 'public' and grantee = 0`,
  ])
  return {
    tables,
    partitions,
    roles,
    privileged: privileged.map(({ name }) => name),
    publicRights: publicRights.map(({ right }) => right),
  }
}

async function readTables(oracle: postgres.ISql): Promise<Table[]> {
  const rows = await oracle<{ described: Table }[]>`
    select jsonb_build_object(
      'name', c.relname, 'owner', c.relowner::regrole::text, 'isForced', c.relforcerowsecurity, 'isEnabled', c.relrowsecurity,
      'columns', (select jsonb_agg(jsonb_build_object('name', attname, 'type', format_type(atttypid, atttypmod), 'kind', t.typtype, 'isRequired', attnotnull, 'isGenerated', attgenerated <> '') order by attnum)
                  from pg_attribute join pg_type t on t.oid = atttypid where attrelid = c.oid and attnum > 0 and not attisdropped),
      'policies', (select coalesce(jsonb_agg(jsonb_build_object('name', polname, 'command', polcmd, 'isPermissive', polpermissive,
                     'roles', (select jsonb_agg(case when r = 0 then 'public' else pg_get_userbyid(r) end) from unnest(polroles) r),
                     'using', pg_get_expr(polqual, polrelid), 'check', pg_get_expr(polwithcheck, polrelid))), '[]') from pg_policy where polrelid = c.oid),
      'indexes', (select coalesce(jsonb_agg(jsonb_build_object('name', indexrelid::regclass::text, 'isUnique', indisunique, 'isPrimary', indisprimary,
                    'columns', (select jsonb_agg(pg_get_indexdef(indexrelid, n, true) order by n) from generate_series(1, indnkeyatts) n))), '[]')
                  from pg_index where indrelid = c.oid),
      'references', (select coalesce(jsonb_agg(jsonb_build_object('name', conname, 'target', confrelid::regclass::text,
                       'columns', (select jsonb_agg(attname order by n) from unnest(conkey) with ordinality k (num, n) join pg_attribute on attrelid = conrelid and attnum = num),
                       'targetColumns', (select jsonb_agg(attname order by n) from unnest(confkey) with ordinality k (num, n) join pg_attribute on attrelid = confrelid and attnum = num))), '[]')
                     from pg_constraint where conrelid = c.oid and contype = 'f'),
      'triggers', (select coalesce(jsonb_agg(tgname), '[]') from pg_trigger where tgrelid = c.oid and not tgisinternal),
      'grants', (select coalesce(jsonb_agg(distinct case when grantee = 0 then 'public' else pg_get_userbyid(grantee) end || ': ' || privilege_type), '[]')
                 from (select (aclexplode(c.relacl)).* union all
                       select (aclexplode(attacl)).* from pg_attribute where attrelid = c.oid and attacl is not null) granted
                 where grantee <> c.relowner)
    ) as described
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by c.relname`
  return rows.map(({ described }) => described)
}

const readPartitions = (oracle: postgres.ISql) => oracle<Partition[]>`
  select c.relname as name, c.relnamespace::regnamespace::text as schema,
         c.relforcerowsecurity as "isForced", c.relrowsecurity as "isEnabled",
         (select count(*)::int from pg_policy where polrelid = c.oid) as policies,
         (select count(*)::int from (
            select (aclexplode(c.relacl)).grantee union all
            select (aclexplode(attacl)).grantee from pg_attribute where attrelid = c.oid and attacl is not null) granted
          where grantee <> c.relowner) as grants
  from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class t on t.oid = i.inhparent
  where t.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by c.relname`

async function readRoles(oracle: postgres.ISql): Promise<Role[]> {
  const rows = await oracle<{ described: Role }[]>`
    select jsonb_build_object(
      'name', r.rolname, 'isSuperuser', r.rolsuper, 'bypassesPolicies', r.rolbypassrls, 'inherits', r.rolinherit, 'mayLogIn', r.rolcanlogin,
      'mayCreate', r.rolcreaterole or r.rolcreatedb or r.rolreplication,
      'memberOf', (select coalesce(jsonb_agg(distinct roleid::regrole::text), '[]') from pg_auth_members where member = r.oid),
      'owns', (select coalesce(jsonb_agg(relname), '[]') from pg_class where relowner = r.oid)
    ) as described
    from pg_roles r where r.rolname like 'svc\\_%' order by r.rolname`
  return rows.map(({ described }) => described)
}
