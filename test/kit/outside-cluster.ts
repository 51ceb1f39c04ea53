/**
 * The PostgreSQL that SVC_TEST_DATABASE_URL names, in place of one of ours: whole test runs against a stock server of a
 * distribution. The URL is a superuser's. The server must serve nothing else: the logins of svc belong to the whole
 * server, are made anew for each run and dropped after it, with every database of a test.
 */
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { addressOf, type DatabaseAddress, postgresOptions } from '../../src/core/kernel/database/address.ts'

export const outsideVariable = 'SVC_TEST_DATABASE_URL'

/** A test that reads its server's files, or asks what only a newer PostgreSQL answers, is skipped then. */
export const isOutside = process.env[outsideVariable] !== undefined

export interface OutsideCluster {
  readonly owner: DatabaseAddress
  readonly daemon: DatabaseAddress
  readonly superuser: DatabaseAddress
  drop(): Promise<void>
}

const oldest = 150_000

/** Makes the logins. Refuses a login that is no superuser, PostgreSQL before 15, and a server with an installation. */
export async function openOutsideCluster(url: string, template: string): Promise<OutsideCluster> {
  const superuser = addressOf(url)
  const sql = postgres({ ...postgresOptions(superuser), max: 1, onnotice: () => undefined })
  try {
    await check(sql, template)
    await sweep(sql, template)
  } catch (error) {
    await sql.end()
    throw error
  }
  const login = (name: string): DatabaseAddress => ({
    ...superuser,
    user: name,
    password: randomBytes(16).toString('hex'),
  })
  const owner = login('svc_owner')
  const daemon = login('svc_daemon')
  await sql.unsafe(`create role svc_owner login createrole password '${owner.password}'`)
  await sql.unsafe(`create role svc_daemon login noinherit password '${daemon.password}'`)
  return {
    owner,
    daemon,
    superuser,
    async drop() {
      await sweep(sql, template)
      await sql.end()
    },
  }
}

async function check(sql: postgres.Sql, template: string): Promise<void> {
  const [server] = await sql<{ version: number; super: boolean; foreign: string | null }[]>`
    select current_setting('server_version_num')::int as version,
           (select rolsuper from pg_roles where rolname = current_user) as super,
           (select min(datname) from pg_database d join pg_roles r on r.oid = d.datdba
            where r.rolname like 'svc%' and datname <> ${template} and datname !~ '^test_[0-9a-f]{12}$') as foreign`
  const refuse = (why: string) => {
    throw new Error(`${outsideVariable}: ${why}`)
  }
  if (!server?.super) refuse('the login must be a superuser, because tests look behind row-level security')
  if (server!.version < oldest) refuse('svc needs PostgreSQL 15 or newer')
  if (server!.foreign !== null)
    refuse(`the server has the installation ${server!.foreign}; name a server that has nothing to lose`)
}

/** Drops what a run made, also one that was killed. */
async function sweep(sql: postgres.Sql, template: string): Promise<void> {
  const databases = await sql<{ datname: string }[]>`
    select datname from pg_database where datname = ${template} or datname ~ '^test_[0-9a-f]{12}$'`
  for (const { datname } of databases) await sql.unsafe(`drop database "${datname}" with (force)`)
  const roles = await sql<{ rolname: string }[]>`select rolname from pg_roles where rolname like 'svc\\_%'`
  for (const { rolname } of roles) await sql.unsafe(`drop role "${rolname}"`)
}

/** What tests fill tables with. PostgreSQL has it since 18. */
export const uuidv7 = `
  create function pg_catalog.uuidv7(shift interval default '0') returns uuid language sql volatile as $$
    select encode(set_byte(set_byte(overlay(
      uuid_send(gen_random_uuid()) placing substring(int8send(micros / 1000) from 3) from 1 for 6),
      6, 112 | ((micros % 1000) * 4 / 256)::int), 7, ((micros % 1000) * 4 % 256)::int), 'hex')::uuid
    from (select (extract(epoch from clock_timestamp() + shift) * 1000000)::bigint as micros) at $$`
