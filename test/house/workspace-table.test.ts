/** workspace_table(): a new table of workspaces is one call, made by an owner that is no superuser, and refuses what is not fit. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withClient } from '../../src/core/kernel/database/client.ts'
import { openPool } from '../../src/core/kernel/database/pool.ts'
import { asInstallation, asPurgeOf, asTenant } from '../../src/core/kernel/database/roles.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { readCatalog } from './catalog.ts'
import { rules } from './catalog-rules.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await testDatabase()
})
afterAll(() => db.drop())

/** Runs as the role that runs migrations. */
const asOwner = (statements: string) => withClient(db.owner, (client) => client.query(statements))

const columns = 'tenant_id uuid not null, id uuid not null, words text'
const [one, two] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002']

describe('a table made with it', () => {
  beforeAll(() =>
    asOwner(`create table note (${columns}, primary key (tenant_id, id)); select workspace_table('note')`),
  )
  afterAll(() => asOwner('drop table note'))

  test('obeys every rule of the catalog but that somebody says what an export makes of it', async () => {
    const catalog = await readCatalog(db.sql)
    const broken = rules.filter(({ breaks }) => breaks(catalog).length > 0)
    expect(catalog.tables.map(({ name }) => name)).toContain('note')
    expect(broken.map(({ name, breaks }) => [name, breaks(catalog)])).toEqual([
      ['of every table of workspaces somebody says what an export makes of it', ['note']],
    ])
  })

  test('has the rights, the policies and the owner of a table that was made before', async () => {
    const described = async (name: string) => {
      const { tables } = await readCatalog(db.sql)
      const { isEnabled, isForced, owner, policies, grants } = tables.find((table) => table.name === name)!
      return { isEnabled, isForced, owner, policies, grants: grants.toSorted() }
    }
    expect(await described('note')).toEqual(await described('item'))
  })

  test('shows and takes rows of the workspace in force alone', async () => {
    const pool = openPool(db.daemon, { size: 1, applicationName: 'workspace-table' })
    const run = (role: string, statement: string) =>
      pool.transaction(role, async (tx) => (await tx.text<{ words: string }[]>(statement)).map(({ words }) => words))
    const write = (tenantId: string, words: string) =>
      `insert into note (tenant_id, id, words) values ('${tenantId}', '${tenantId}', '${words}')`
    try {
      for (const [tenantId, words] of [
        [one, 'mine'],
        [two, 'theirs'],
      ] as const)
        await run(asTenant(tenantId), write(tenantId, words))

      expect(await run(asTenant(one), 'select words from note')).toEqual(['mine'])
      expect(await run(asTenant(two), 'select words from note')).toEqual(['theirs'])
      expect(await run(asTenant(one), "update note set words = 'taken' returning words")).toEqual(['taken'])
      expect(await run(asTenant(two), 'select words from note')).toEqual(['theirs'])
      await expect(run(asTenant(one), write(two, 'planted'))).rejects.toThrow(/row-level security/)
      await expect(run(asTenant(one), `update note set tenant_id = '${two}'`)).rejects.toThrow(/row-level security/)
      await expect(run(asInstallation, 'select words from note')).rejects.toThrow(/permission denied/)
      await expect(run('', 'select words from note')).rejects.toThrow(/permission denied/)
      expect(await run(asPurgeOf(one), 'delete from note returning words')).toEqual(['taken'])
      expect(await run(asTenant(two), 'select words from note')).toEqual(['theirs'])
    } finally {
      await pool.close()
    }
  })
})

describe('it refuses', () => {
  const unfit = [
    ['no tenant_id', 'create table unfit (id uuid primary key)', /unfit has no column tenant_id uuid not null/],
    [
      'a tenant_id that is no uuid',
      'create table unfit (tenant_id text primary key)',
      /unfit has no column tenant_id uuid not null/,
    ],
    [
      'a tenant_id that may be null',
      'create table unfit (tenant_id uuid, id uuid primary key)',
      /unfit has no column tenant_id uuid not null/,
    ],
    [
      'a primary key that begins with another column',
      `create table unfit (${columns}, primary key (id, tenant_id))`,
      /the primary key of unfit does not begin with tenant_id/,
    ],
    ['no primary key', `create table unfit (${columns})`, /the primary key of unfit does not begin with tenant_id/],
    ['a view', `create view unfit as select tenant_id, id from label`, /unfit is no table of the schema public/],
    [
      'a table of another schema',
      `create schema elsewhere; create table elsewhere.unfit (${columns}, primary key (tenant_id, id)); set local search_path = public, elsewhere`,
      /unfit is no table of the schema public/,
    ],
    ['a table that is not there', 'select 1', /relation "unfit" does not exist/],
    [
      'a second call',
      `create table unfit (${columns}, primary key (tenant_id, id)); select workspace_table('unfit')`,
      /policy "one_workspace" for table "unfit" already exists/,
    ],
  ] as const

  test.each(unfit)('%s', async (_, made, told) => {
    await expect(asOwner(`begin; ${made}; select workspace_table('unfit'); rollback`)).rejects.toThrow(told)
  })
})

test('nobody but the owner may call it', async () => {
  const roles = ['svc_daemon', 'svc_tenant', 'svc_installation', 'svc_queue', 'svc_purge', 'svc_staging']
  const may = await db.sql<{ role: string; is_allowed: boolean }[]>`
    select role, has_function_privilege(role, 'workspace_table(regclass)', 'execute') as is_allowed
    from unnest(${roles}::text[]) role`
  expect(may.filter(({ is_allowed }) => is_allowed)).toEqual([])
  const [owner] = await db.sql`
    select proowner::regrole::text as owner, prosecdef from pg_proc where oid = 'workspace_table(regclass)'::regprocedure`
  expect(owner).toEqual({ owner: 'svc_owner', prosecdef: false })
  await expect(withClient(db.daemon, (client) => client.query("select workspace_table('label')"))).rejects.toThrow(
    /permission denied for function workspace_table/,
  )
})
