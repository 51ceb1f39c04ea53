/**
 * F-27: a migration that is killed has happened or has not, and the next run brings the
 * database to where an undisturbed one comes. One that has ended is on the disk.
 *
 *     SVC_FAULTS=full vitest run test/campaigns/killed-migration.test.ts    20 kills instead of 4
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { postgresOptions } from '../../src/core/kernel/database/address.ts'
import { migrationStatus } from '../../src/core/kernel/database/migrate.ts'
import { migrationNames } from '../../src/core/kernel/database/migration-names.ts'
import { ownCluster } from '../kernel/database/own-cluster.ts'
import { urlOf } from '../kit/daemon.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'

const kills = process.env['SVC_FAULTS'] === 'full' ? 20 : 4
const runner = fileURLToPath(new URL('../kit/migration-runner.ts', import.meta.url))
const { owner, daemon, superuser } = inject('cluster')

let whole: TestDatabase
beforeAll(async () => {
  whole = await testDatabase()
})
afterAll(() => whole.drop())

/** Every column of every table, in our schema and the queue's. */
/** Tables that pg-boss names by the day may have been made on either side of midnight. */
const shapeOf = (sql: postgres.Sql) => sql<{ column: string }[]>`
  select n.nspname || '.' || regexp_replace(c.relname, '_[0-9]{8}$', '_day') || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) as column
  from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p') join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('public', 'pgboss') and a.attnum > 0 and not a.attisdropped order by 1`

/** Starts a run and kills it after so many milliseconds; 'done' where it was faster. */
async function killedAfter(database: string, ms: number): Promise<'killed' | 'done'> {
  const urls = [urlOf({ ...owner, database }), urlOf({ ...daemon, database })]
  const child = spawn(process.execPath, [runner, ...urls], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  await once(child.stdout, 'data')
  const timer = setTimeout(() => child.kill('SIGKILL'), ms)
  const [code] = (await ended) as [number | null]
  clearTimeout(timer)
  return code === 0 ? 'done' : 'killed'
}

test(`${kills} kills leave no migration half done`, async () => {
  const database = `test_${randomBytes(6).toString('hex')}`
  await whole.sql.unsafe(`create database ${database} owner svc_owner`)
  const sql = postgres({ ...postgresOptions({ ...superuser, database }), max: 1, onnotice: () => undefined })
  let killed = 0
  try {
    for (let turn = 1; killed < kills; turn += 1) {
      if ((await killedAfter(database, 15 * turn)) === 'done') {
        expect(killed, 'it is faster than it can be killed').toBeGreaterThan(0)
        await sql.unsafe(
          'drop schema public cascade; create schema public authorization svc_owner; drop schema if exists pgboss cascade',
        )
        turn = 0
        continue
      }
      killed += 1
      const { applied, unknown } = await migrationStatus({ ...owner, database })
      expect(unknown).toEqual([])
      expect(applied, 'in order, without a gap').toEqual(migrationNames().slice(0, applied.length))
    }
    expect(await killedAfter(database, 60_000)).toBe('done')
    expect(await shapeOf(sql)).toEqual(await shapeOf(whole.sql))
  } finally {
    await sql.end()
    await whole.sql.unsafe(`drop database ${database} with (force)`)
  }
}, 300_000)

test('what a migration said it did is there after PostgreSQL was killed', async () => {
  // Nothing reaches the disk before a commit waits for it.
  const cluster = await ownCluster({ wal_writer_delay: '10s', wal_writer_flush_after: '1GB', wal_buffers: '64MB' })
  try {
    await cluster.migrate()
    await cluster.killAndRestart()
    expect(await migrationStatus(cluster.address('svc_owner'))).toEqual({
      applied: migrationNames(),
      pending: [],
      unknown: [],
      barring: [],
    })
  } finally {
    await cluster.remove()
  }
})
