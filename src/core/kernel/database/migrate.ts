/**
 * Migrations: forward only, one story each, run by one process at a time.
 *
 * Three steps, each safe to repeat: our SQL files (node-pg-migrate, under its advisory
 * lock), pg-boss's own schema and our queues, and the grants of the daemon's login.
 * Spec: database design; docs/decisions/0003.
 */
import type { Client } from 'pg'
import type { DatabaseAddress } from './address.ts'
import { withClient } from './client.ts'
import { migrationFolder, migrationNames, olderCodeRuns } from './migration-names.ts'
import { queueIndexes, queueSchema } from './queue-schema.ts'
import { revokeFromEverybody } from './rights.ts'

const table = 'pgmigrations'
const lockQueues = 'select pg_advisory_lock(7302)'

/** Older versions of PostgreSQL lack what the schema needs. */
const oldestServer = 150_000

export interface MigrationStatus {
  /** Names that the database has run. */
  readonly applied: readonly string[]
  /** Names of this release that it has not. */
  readonly pending: readonly string[]
  /** Names that it has run and this release does not know: it was migrated by a newer one. */
  readonly unknown: readonly string[]
  /** Those of `unknown` on which older code must not run. */
  readonly barring: readonly string[]
}

/** The schema is not what this release needs: one clear line with the remedy. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
}

/** Brings the database up to this release, with a queue for each name; answers the migrations it ran. Throws SchemaError for a newer database or an old server. */
export async function migrate(
  owner: DatabaseAddress,
  daemon: DatabaseAddress,
  queues: readonly string[],
): Promise<readonly string[]> {
  return withClient(owner, async (client) => {
    await checkServer(client)
    await checkPrimary(client)
    const { unknown, applied } = await statusOf(client)
    if (unknown.length > 0) throw newerDatabase(unknown)
    // The commits need not wait for the disk one by one; the last one brings all of them there.
    await client.query('set synchronous_commit = off')
    const makeAll = () => withClient(owner, (other) => makeQueues(other, queues))
    // Side by side, a new database takes a tenth less time. Elsewhere a migration that fails must leave the queue's schema to
    // the release of before.
    const isNew = applied.length === 0
    const [ran] = isNew
      ? await Promise.all([runAll(client, { isNew }), makeAll()])
      : [await runAll(client, { isNew }), await makeAll()]
    await noteOlderCode(client)
    await grantQueues(client)
    await grantLogin(client, daemon.user)
    await client.query('reset synchronous_commit')
    // A commit waits only if it wrote something, and grants that are there already write nothing.
    await client.query(`comment on table ${table} is 'The migrations that this database has run.'`)
    return ran.map(({ name }) => name)
  })
}

/** Loads what a new database needs, while it is being made. */
export const loadRunner = () => import('node-pg-migrate')

/** Each in a transaction of its own, so that what has run stays; a new database has nothing to keep, and one commit is faster. */
async function runAll(client: Client, { isNew }: { isNew: boolean }): Promise<readonly { readonly name: string }[]> {
  const { runner } = await loadRunner()
  return runner({
    dbClient: client,
    dir: migrationFolder,
    direction: 'up',
    migrationsTable: table,
    advisoryLockMode: 'wait',
    checkOrder: true,
    singleTransaction: isNew,
    verbose: false,
    log: () => {},
  })
}

/** What the database has run, compared with this release. */
export const migrationStatus = (address: DatabaseAddress): Promise<MigrationStatus> => withClient(address, statusOf)

/**
 * Throws SchemaError unless this release may run on the database. Answers the migrations of a newer release that it has,
 * on which older code runs: a daemon that fails during a rolling upgrade starts again.
 */
export const checkMigrated = (address: DatabaseAddress, queues: readonly string[]): Promise<readonly string[]> =>
  withClient(address, async (client) => {
    await checkPrimary(client)
    const { pending, unknown, barring } = await statusOf(client)
    if (barring.length > 0) throw newerDatabase(barring)
    if (pending.length > 0)
      throw new SchemaError(
        `The database lacks ${pending.length} migration(s), the first is ${pending[0]}. Run: svc db migrate`,
      )
    const [queue] = await queuesLacked(client, queues)
    if (queue) throw new SchemaError(`The database lacks the queue of the job ${queue}. Run: svc db migrate`)
    return unknown
  })

/** The queues of this release that the database lacks: a release may bring one without a migration of its own. */
export const missingQueues = (address: DatabaseAddress, queues: readonly string[]): Promise<readonly string[]> =>
  withClient(address, (client) => queuesLacked(client, queues))

/** Leaves the client in the queue's role. */
async function queuesLacked(client: Client, queues: readonly string[]): Promise<readonly string[]> {
  await client.query('set role svc_queue')
  const { rows } = await client.query<{ name: string }>(`select name from ${queueSchema}.queue`)
  return queues.filter((name) => !rows.some((row) => row.name === name))
}

const newerDatabase = (unknown: readonly string[]) =>
  new SchemaError(
    `The database was migrated by a newer svc: it has ${unknown.join(', ')}, which this release does not know. Run the newer release, or restore a backup from before the upgrade (docs/runbooks/upgrade.md).`,
  )

async function statusOf(client: Client): Promise<MigrationStatus> {
  const { rows } = await client.query<{ known: boolean }>('select to_regclass($1) is not null as known', [
    `public.${table}`,
  ])
  // By way of JSON, because the column may be missing.
  const known = rows[0]?.known
    ? (
        await client.query<{ name: string; older_code_runs: boolean }>(
          `select name, coalesce((to_jsonb(m) ->> 'older_code_runs')::boolean, false) as older_code_runs
           from ${table} m order by name`,
        )
      ).rows
    : []
  const applied = known.map(({ name }) => name)
  const wanted = migrationNames()
  return {
    applied,
    pending: wanted.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !wanted.includes(name)),
    barring: known
      .filter(({ name, older_code_runs }) => !older_code_runs && !wanted.includes(name))
      .map(({ name }) => name),
  }
}

/** Notes beside each migration whether older code runs on it. Until that is done, older code does not start. */
async function noteOlderCode(client: Client): Promise<void> {
  const { rows } = await client.query(
    "select from pg_attribute where attrelid = $1::regclass and attname = 'older_code_runs'",
    [table],
  )
  if (rows.length === 0) await client.query(`alter table ${table} add column older_code_runs boolean`)
  await client.query(`update ${table} set older_code_runs = name = any($1::text[]) where older_code_runs is null`, [
    migrationNames().filter(olderCodeRuns),
  ])
}

/** A standby takes no changes, and what it answers may be late. */
async function checkPrimary(client: Client): Promise<void> {
  const { rows } = await client.query<{ is_standby: boolean }>('select pg_is_in_recovery() as is_standby')
  if (rows[0]?.is_standby)
    throw new SchemaError(
      'The database is a standby and takes no changes. Set SVC_DATABASE_URL to the primary, or promote this server (docs/runbooks/database-failover.md).',
    )
}

async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: number; text: string }>(
    "select current_setting('server_version_num')::int as version, current_setting('server_version') as text",
  )
  const [server] = rows
  if (server && server.version < oldestServer)
    throw new SchemaError(`The server is PostgreSQL ${server.text}; svc needs 15 or newer.`)
}

/** pg-boss's own schema, made or brought up by its own plans, and one queue for each job. */
async function makeQueues(client: Client, queues: readonly string[]): Promise<void> {
  await client.query('set synchronous_commit = off') // as the migrations beside it
  const { PgBoss } = await import('pg-boss')
  const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) }
  const boss = new PgBoss({ db, schema: queueSchema, migrate: true, supervise: false, schedule: false })
  await client.query(lockQueues) // until the connection ends
  await boss.start()
  const known = new Set((await boss.getQueues()).map(({ name }) => name))
  for (const name of queues) if (!known.has(name)) await boss.createQueue(name, { policy: 'standard' })
  await boss.stop({ graceful: false })
}

async function grantQueues(client: Client): Promise<void> {
  await client.query(lockQueues)
  try {
    await client.query(queueIndexes)
    await client.query(`
      grant usage on schema ${queueSchema} to svc_queue;
      grant select, insert, update, delete on all tables in schema ${queueSchema} to svc_queue;
      grant usage on all sequences in schema ${queueSchema} to svc_queue;
      grant execute on all functions in schema ${queueSchema} to svc_queue`)
  } finally {
    await client.query('select pg_advisory_unlock(7302)')
  }
}

/** The daemon's login may act as the five roles, and as nothing else. */
async function grantLogin(client: Client, login: string): Promise<void> {
  const { rows } = await client.query<{ me: string; tells_set_from_inherit: boolean }>(
    "select current_user as me, current_setting('server_version_num')::int >= 160000 as tells_set_from_inherit",
  )
  const quoted = `"${login.replaceAll('"', '""')}"`
  // A transaction takes rights by `set local role`; the login alone has none. Before PostgreSQL 16, the login's own
  // NOINHERIT ensures that.
  const how = rows[0]?.tells_set_from_inherit ? ' with inherit false, set true' : ''
  await client.query(`grant svc_tenant, svc_installation, svc_queue, svc_purge, svc_staging to ${quoted}${how}`)
  if (rows[0]?.me !== login)
    await client.query(`grant usage on schema public to ${quoted}; grant select on ${table} to ${quoted}`)
  await client.query(revokeFromEverybody)
}
