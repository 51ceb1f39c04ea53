/** What the daemon's login may do: the four roles, what every role may, and nothing beside. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { withClient } from '../../src/core/kernel/database/client.ts'
import { openPool } from '../../src/core/kernel/database/pool.ts'
import { readExcessRights, revokeFromEverybody } from '../../src/core/kernel/database/rights.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { isOutside } from '../kit/outside-cluster.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await testDatabase()
})
afterAll(() => db.drop())

const nothing = { functions: [], places: [], powers: [], settings: [] }
const everybody = ['svc_daemon', 'svc_tenant', 'svc_installation', 'svc_queue', 'svc_purge', 'svc_staging']
/** A purge is a workspace that may remove itself. */
const mayBecome = { svc_purge: ['svc_tenant'] } as Record<string, string[]>

describe('the login and the four roles', () => {
  test.each(everybody)('%s may do nothing that it need not', async (role) => {
    const found = await withClient(db.owner, (client) => readExcessRights(client, role))
    const powers = found.powers.filter((power) => !mayBecome[role]?.includes(power))
    expect({ ...found, powers }).toEqual(nothing)
  })

  test.skipIf(isOutside)("nor in the embedded server's own database", async () => {
    const found = await withClient(inject('cluster').owner, (client) => readExcessRights(client, 'svc_daemon'))
    expect(found).toEqual(nothing)
  })

  const refused = [
    ['a large object', 'select lo_create(0)'],
    ['a large object from bytes', "select lo_from_bytea(0, 'abc')"],
    ['an old-style large object', 'select lo_creat(-1)'],
    ['a message in the log', "select pg_logical_emit_message(true, 'a', 'b')"],
    ['a temporary table', 'create temporary table mine (id integer)'],
    ['a table', 'create table public.mine (id integer)'],
    ['a schema', 'create schema mine'],
    ['a file of the server', "select pg_read_file('PG_VERSION')"],
    ['a program on the server', "copy (select 1) to program 'true'"],
    ['another role', 'set role svc_owner'],
    ['how long it lives', "alter role current_user valid until '2000-01-01'"],
    ['an attribute', 'alter role current_user createdb'],
  ] as const
  test.each(refused)('the login is refused %s', async (_, statement) => {
    await withClient(db.daemon, async (client) => {
      await expect(client.query(statement)).rejects.toThrow(/permission denied|must be/)
    })
  })
})

test('the rules bite: what is granted is seen', async () => {
  const undo = new Error('undo')
  const seen = db.sql.begin(async (sql) => {
    await sql.unsafe(`
      grant execute on function lo_create(oid) to public; grant temporary on database ${db.daemon.database} to public;
      grant create on schema public to svc_daemon; grant pg_monitor to svc_daemon; alter role svc_daemon createdb;
      alter role svc_daemon set work_mem = '1GB'`)
    const query = async (text: string, values: string[]) => ({ rows: await sql.unsafe(text, values) })
    expect(await readExcessRights({ query } as never, 'svc_daemon')).toEqual({
      functions: ['lo_create(oid)'],
      places: ['temporary', 'create in public'],
      powers: ['createdb', 'pg_monitor'],
      settings: ['work_mem=1GB'],
    })
    // The owner may not, and is not stopped by it.
    await sql.unsafe('set local role svc_owner')
    await sql.unsafe(revokeFromEverybody)
    throw undo
  })
  await expect(seen).rejects.toBe(undo)
})

test('what the login stores for itself, which nobody can forbid, changes nothing that a transaction depends on', async () => {
  const { database } = db.daemon
  const stored = {
    default_transaction_read_only: 'off',
    default_transaction_isolation: 'serializable',
    row_security: 'off',
    role: 'svc_purge',
    search_path: 'pg_temp',
    statement_timeout: '0',
    TimeZone: 'Asia/Tokyo',
    jit: 'on',
  }
  await withClient(db.daemon, async (client) => {
    for (const [name, value] of Object.entries(stored))
      await client.query(`alter role svc_daemon in database ${database} set ${name} = '${value}'`)
  })
  const pool = openPool(db.daemon, { size: 1, applicationName: 'stored' })
  try {
    const [found] = await pool.transaction('', (tx) =>
      tx.text(`
      select current_setting('default_transaction_read_only') as read_only, current_setting('transaction_isolation') as isolation,
             current_setting('row_security') as row_security, current_user::text as me, current_setting('search_path') as path,
             current_setting('statement_timeout') as statement, current_setting('TimeZone') as zone,
             current_setting('jit') as jit`),
    )
    expect(found).toEqual({
      read_only: 'on',
      isolation: 'read committed',
      row_security: 'on',
      me: 'svc_daemon',
      path: 'public',
      statement: '5s',
      zone: 'UTC',
      jit: 'off',
    })
    // So do sessions of the package `pg`, which jobs and maintenance use.
    const { rows } = await withClient(db.daemon, (client) => client.query('show jit'))
    expect(rows).toEqual([{ jit: 'off' }])
    await expect(
      pool.transaction('', (tx) => tx.text("alter role current_user password 'mine'"), { readOnly: true }),
    ).rejects.toThrow(/read-only transaction/)
    const told = await withClient(db.owner, (client) => readExcessRights(client, 'svc_daemon'))
    expect(told.settings).toHaveLength(Object.keys(stored).length)
  } finally {
    await pool.close()
    await db.sql.unsafe(`alter role svc_daemon in database ${database} reset all`)
  }
})
