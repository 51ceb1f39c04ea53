/** The purge's list against the database's catalog: no table is forgotten, and each can be emptied in the list's order. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installationTables, workspaceTables } from '../../src/core/contract/tables.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await testDatabase()
})
afterAll(() => db.drop())

interface ForeignKey {
  readonly child: string
  readonly parent: string
}

/** The keys that a removal in this order would violate. */
const violated = (keys: readonly ForeignKey[], orderOf: (table: string) => number) =>
  keys
    .filter(({ child, parent }) => child !== parent && orderOf(child) >= orderOf(parent))
    .map(({ child, parent }) => `${child} refers to ${parent}`)

test('every table is on one of the two lists, those with a tenant_id on the first', async () => {
  const tables = await db.sql<{ name: string; has_tenant: boolean }[]>`
    select c.relname as name, exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped) as has_tenant
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by 1`
  expect(tables.filter(({ has_tenant }) => has_tenant).map(({ name }) => name)).toEqual(
    Object.keys(workspaceTables).sort(),
  )
  expect(tables.filter(({ has_tenant }) => !has_tenant).map(({ name }) => name)).toEqual(
    Object.keys(installationTables).sort(),
  )
})

test('a table goes before those that it refers to', async () => {
  const keys = await db.sql<ForeignKey[]>`
    select c.conrelid::regclass::text as child, c.confrelid::regclass::text as parent from pg_constraint c
    where c.contype = 'f' and c.connamespace = 'public'::regnamespace`
  const listed = keys.filter(({ child, parent }) => workspaceTables[child] && workspaceTables[parent])
  expect(listed.length).toBeGreaterThan(8)
  expect(
    violated(listed, () => 1),
    'the rule does not catch its own example',
  ).toHaveLength(listed.filter(({ child, parent }) => child !== parent).length)
  expect(violated(listed, (table) => workspaceTables[table]?.purge ?? 0)).toEqual([])
})

test('the role of the purge may read and remove in each of them, and every one begins its key with tenant_id', async () => {
  for (const table of Object.keys(workspaceTables)) {
    const [may] = await db.sql<{ is_allowed: boolean; first: string; is_forced: boolean }[]>`
      select has_table_privilege('svc_purge', ${table}, 'select') and has_table_privilege('svc_purge', ${table}, 'delete') as is_allowed,
             (select a.attname from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0] where i.indrelid = ${table}::regclass and i.indisprimary) as first,
             (select relrowsecurity and relforcerowsecurity from pg_class where oid = ${table}::regclass) as is_forced`
    expect([table, may]).toEqual([table, { is_allowed: true, first: 'tenant_id', is_forced: true }])
  }
})

test('the role of the purge is bound to one workspace like every other, and may change nothing of the trail', async () => {
  const [role] = await db.sql`select rolsuper, rolbypassrls, rolcanlogin from pg_roles where rolname = 'svc_purge'`
  expect(role).toEqual({ rolsuper: false, rolbypassrls: false, rolcanlogin: false })
  const [may] = await db.sql<{ trail: boolean; tenant: boolean; certificate: boolean }[]>`
    select has_table_privilege('svc_purge', 'audit_entry', 'update') as trail, has_table_privilege('svc_tenant', 'audit_entry', 'delete') as tenant,
           has_table_privilege('svc_installation', 'purge_certificate', 'update') or has_table_privilege('svc_installation', 'purge_certificate', 'delete') as certificate`
  expect(may).toEqual({ trail: false, tenant: false, certificate: false })
})
