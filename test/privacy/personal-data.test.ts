/**
 * Every column that names an account, and what an erasure makes of it: the database is asked, so that a new table is not
 * forgotten. A column that is missed here gets its fate in src/core/areas/erasure/columns.ts, and, where its rows go, a rule.
 * Keeping 2, Erasure of; docs/decisions/0461.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fateOf } from '../../src/core/areas/erasure/columns.ts'
import { atOnce, inBatches } from '../../src/core/areas/erasure/rules.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await testDatabase()
})
afterAll(() => db.drop())

/** By a foreign key to accounts, or by how columns of accounts are called. */
const named = async () =>
  (
    await db.sql<{ name: string }[]>`
      select distinct c.relname || '.' || a.attname as name from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.atttypid = 'uuid'::regtype
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'account' and (
        a.attname ~ '(^|_)(account_id|by|assignee_id|actor_id|acts_for|holder_id|handler_id)$'
        or exists (
          select from pg_constraint k where k.conrelid = c.oid and k.contype = 'f' and k.confrelid = 'account'::regclass
            and a.attnum = any (k.conkey) and a.attname <> 'tenant_id'))
      order by 1`
  ).map(({ name }) => name)

describe('columns that name an account', () => {
  test('each has its fate, and none is there that the database does not have', async () => {
    expect(await named()).toEqual(Object.keys(fateOf).sort())
  })

  test('one that is new is missed', async () => {
    await db.sql`create table stray (tenant_id uuid not null, id uuid not null, account_id uuid)`
    expect(await named()).toContain('stray.account_id')
    await db.sql`drop table stray`
  })

  /** What the begin of an erasure does by itself, beside the rules. */
  const elsewhere = ['operator', 'audit_entry']

  test('rows that go, and columns that are emptied, have their rule', () => {
    const ruled = new Set([...atOnce, ...inBatches].map(({ table }) => table))
    const without = Object.entries(fateOf)
      .filter(([, fate]) => fate === 'goes' || fate === 'empty')
      .map(([column]) => column.split('.')[0]!)
      .filter((table) => !ruled.has(table) && !elsewhere.includes(table))
    expect(without).toEqual([])
  })
})
