/** A separate database for a test file: a copy of the migrated template. */
import { randomBytes } from 'node:crypto'
import type { NetConnectOpts } from 'node:net'
import postgres from 'postgres'
import { inject } from 'vitest'
import { type DatabaseAddress, postgresOptions } from '../../src/core/kernel/database/address.ts'
import { templateName } from './cluster.ts'

export interface TestDatabase {
  readonly owner: DatabaseAddress
  readonly daemon: DatabaseAddress
  /** The same through PgBouncer, if the tests are to go through one. */
  readonly pooled?: DatabaseAddress
  /** A superuser's client, for oracles. */
  readonly sql: postgres.Sql
  /** Ends `sql` and deletes the database, even if clients are connected. */
  drop(): Promise<void>
}

/**
 * Copies the template: as files, which takes half as long as block by block; `template0` has no schema. Roles belong to the
 * whole cluster: a test that makes one removes it.
 */
export async function testDatabase(template: string = templateName): Promise<TestDatabase> {
  const { owner, daemon, superuser, pooled } = inject('cluster')
  const database = `test_${randomBytes(6).toString('hex')}`
  await asSuperuser(
    superuser,
    `create database ${database} template ${template} owner svc_owner strategy file_copy`,
    `revoke all on database ${database} from public; grant connect on database ${database} to svc_daemon`,
  )
  const sql = postgres({ ...postgresOptions({ ...superuser, database }), max: 4, onnotice: () => undefined })
  return {
    owner: { ...owner, database },
    daemon: { ...daemon, database },
    ...(pooled === undefined ? {} : { pooled: { ...pooled, database } }),
    sql,
    async drop() {
      await sql.end()
      await asSuperuser(superuser, `drop database if exists ${database} with (force)`)
    },
  }
}

/** Where `node:net` finds a server. */
export const socketOf = ({ host, port }: DatabaseAddress): NetConnectOpts =>
  host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }

let superuserClient: postgres.Sql | undefined

/** One client for all files of a worker: a connection costs more than these statements. */
async function asSuperuser(superuser: DatabaseAddress, ...statements: readonly string[]): Promise<void> {
  superuserClient ??= postgres({
    ...postgresOptions({ ...superuser, database: 'postgres' }),
    max: 1,
    idle_timeout: 30,
    fetch_types: false,
    onnotice: () => undefined,
  })
  for (const statement of statements) await superuserClient.unsafe(statement)
}
