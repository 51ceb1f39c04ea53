/** The rules of the database, held against its catalog. Each rule is shown an offender first. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installationTables, workspaceTables } from '../../src/core/contract/tables.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { type Catalog, readCatalog } from './catalog.ts'
import { rules } from './catalog-rules.ts'

let own: TestInstallation
let scratch: TestDatabase
let catalog: Catalog
beforeAll(async () => {
  own = await testInstallation()
  scratch = await testDatabase()
  catalog = await readCatalog(own.oracle)
})
afterAll(async () => {
  await scratch.drop()
  await own.close()
})

/** The catalog as it would be after the statements; they are undone. */
async function catalogAfter(statements: string): Promise<Catalog> {
  let after: Catalog | undefined
  const undo = new Error('undo')
  await scratch.sql
    .begin(async (sql) => {
      await sql.unsafe(statements)
      after = await readCatalog(sql)
      throw undo
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error
    })
  return after!
}

describe('the database', () => {
  test('is read at all', () => {
    expect(catalog.tables.length).toBe(Object.keys(workspaceTables).length + Object.keys(installationTables).length)
    expect(catalog.roles.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['svc_daemon', 'svc_installation', 'svc_purge', 'svc_queue', 'svc_tenant']),
    )
  })

  test.each(rules)('$name', async ({ breaks, offence, named, why }) => {
    expect(breaks(await catalogAfter(offence)), 'the rule does not catch its own example').toContain(named)
    expect(breaks(catalog), why).toEqual([])
  })
})

describe('a transaction as a workspace', () => {
  const read = (table: string, tenantId?: string) =>
    own.oracle.begin(async (sql) => {
      await sql.unsafe('set local role svc_tenant')
      if (tenantId !== undefined) await sql.unsafe(`set local app.tenant_id = '${tenantId}'`)
      return (await sql.unsafe(`select distinct tenant_id from ${table}`)).map((row) => row['tenant_id'] as string)
    })

  /** Tables that a provisioning and a redemption fill; the others are empty, and empty for everybody. */
  const filled = [
    'account',
    'account_address',
    'account_word',
    'membership',
    'invitation',
    'container',
    'bucket',
    'label',
    'audit_entry',
    'outbox_counter',
    'outbox_event',
    'search_pending',
  ]

  test.each(Object.keys(workspaceTables))(
    'sees of %s its own rows, and none while it names no workspace',
    async (table) => {
      const [one, two] = [await own.provision(), await own.provision()]
      expect(await read(table)).toEqual([])
      for (const { tenant } of [one, two])
        expect(await read(table, tenant.id)).toEqual(filled.includes(table) ? [tenant.id] : [])
    },
  )

  test.each(filled)('cannot write a row of %s for another workspace, nor move one there', async (table) => {
    const [one, two] = [await own.provision(), await own.provision()]
    const asOne = (statement: string) =>
      own.oracle.begin(async (sql) => {
        await sql.unsafe(`set local role svc_tenant; set local app.tenant_id = '${one.tenant.id}'`)
        return sql.unsafe(statement)
      })
    const columns = catalog.tables
      .find(({ name }) => name === table)!
      .columns.filter(({ isGenerated }) => !isGenerated)
      .map(({ name }) => name)
    const copied = columns.map((name) => (name === 'tenant_id' ? `'${two.tenant.id}'::uuid` : name)).join(', ')
    await expect(asOne(`insert into ${table} (${columns.join(', ')}) select ${copied} from ${table}`)).rejects.toThrow(
      /row-level security policy/,
    )
    await expect(asOne(`update ${table} set tenant_id = '${two.tenant.id}'`)).rejects.toThrow(
      /row-level security policy|permission denied/,
    )
  })

  test.each(['container', 'bucket', 'label', 'audit_entry', 'outbox_counter', 'outbox_event'])(
    'as the installation %s cannot be read at all',
    async (table) => {
      const asInstallation = own.oracle.begin(async (sql) => {
        await sql.unsafe('set local role svc_installation')
        return sql.unsafe(`select 1 from ${table} limit 1`)
      })
      await expect(asInstallation).rejects.toThrow(/permission denied/)
    },
  )
})
