/** The purge's list and order against the database's catalog: no table is forgotten, and each can be emptied in its turn. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installationTables, workspaceTables } from '../../src/core/contract/tables.ts'
import { openPool, type Pool } from '../../src/core/kernel/database/pool.ts'
import { readRemovalOrder } from '../../src/core/kernel/database/removal-order.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'

let db: TestDatabase
let pool: Pool
beforeAll(async () => {
  db = await testDatabase()
  pool = openPool(db.daemon, { size: 1, applicationName: 'purge-catalog' })
})
afterAll(async () => {
  await pool.close()
  await db.drop()
})

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

const readOrder = () => pool.transaction('', (tx) => readRemovalOrder(tx), { readOnly: true })

interface ForeignKey {
  readonly child: string
  readonly parent: string
}

/** The keys that a removal in this order would violate. */
const violated = (keys: readonly ForeignKey[], order: readonly string[]) =>
  keys
    .filter(({ child, parent }) => child !== parent && order.indexOf(child) >= order.indexOf(parent))
    .map(({ child, parent }) => `${child} refers to ${parent}`)

describe('the order of removal', () => {
  /** Runs with statements of the tables' owner in force; `undo` takes them back. */
  async function having<T>(made: string, undo: string, look: () => Promise<T>): Promise<T> {
    await db.sql.unsafe(made)
    return look().finally(() => db.sql.unsafe(undo))
  }
  const tableThat = (refers: string) =>
    `create table a_new_one (tenant_id uuid not null references tenant (id), id uuid not null, other_id uuid, primary key (tenant_id, id), ${refers})`

  test('has every table once, before those that it refers to, and holds last', async () => {
    const order = await readOrder()
    const keys = await db.sql<ForeignKey[]>`
      select c.conrelid::regclass::text as child, c.confrelid::regclass::text as parent from pg_constraint c
      where c.contype = 'f' and c.connamespace = 'public'::regnamespace`
    const listed = keys.filter(({ child, parent }) => workspaceTables[child] && workspaceTables[parent])

    expect(order.toSorted()).toEqual(Object.keys(workspaceTables).sort())
    expect(listed.length).toBeGreaterThan(8)
    expect(violated(listed, order.toReversed()).length, 'the rule does not catch its own example').toBeGreaterThan(8)
    expect(violated(listed, order)).toEqual([])
    expect(order.at(-1)).toBe('legal_hold')
  })

  test('is the same at every look', async () => {
    expect(await readOrder()).toEqual(await readOrder())
  })

  // `cascade` would remove rows that nobody counted, `set null` would write them all once more: the child goes first.
  test.each(['no action', 'cascade', 'set null (other_id)'])(
    'gives a new table its place by its foreign key alone, on delete %s',
    async (onDelete) => {
      const before = await readOrder()
      const refers = `foreign key (tenant_id, other_id) references container (tenant_id, id) on delete ${onDelete}`
      const after = await having(tableThat(refers), 'drop table a_new_one', readOrder)
      expect(after.indexOf('a_new_one')).toBeLessThan(after.indexOf('container'))
      expect(after.filter((name) => name !== 'a_new_one')).toEqual(before)
    },
  )

  test('moves a table that a new one refers to behind it', async () => {
    const before = await readOrder()
    const after = await having(
      `alter table step_up add constraint to_new foreign key (tenant_id, bearer_id) references credential (tenant_id, id)`,
      'alter table step_up drop constraint to_new',
      readOrder,
    )
    expect(before.indexOf('credential')).toBeLessThan(before.indexOf('step_up'))
    expect(after.indexOf('credential')).toBeGreaterThan(after.indexOf('step_up'))
    expect(after.indexOf('session')).toBeGreaterThan(after.indexOf('credential'))
  })

  test('is refused where foreign keys form a circle, which is named', async () => {
    const attempt = having(
      'alter table container add constraint backwards foreign key (tenant_id, id) references label (tenant_id, id)',
      'alter table container drop constraint backwards',
      readOrder,
    )
    await expect(attempt).rejects.toThrow('container refers to label refers to container')
  })

  test('is refused where a table that goes last would stand in the way of another', async () => {
    const attempt = having(
      'alter table legal_hold add constraint by_account foreign key (tenant_id, placed_by) references account (tenant_id, id)',
      'alter table legal_hold drop constraint by_account',
      readOrder,
    )
    await expect(attempt).rejects.toThrow('legal_hold is removed last')
  })
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
