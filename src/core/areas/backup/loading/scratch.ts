/**
 * Databases for tries: a schema for each try, which goes when it is over.
 *
 *    SVC_SCRATCH_URL, or this database with its owner's login ──▶ scratch_<job>_<attempt> ──▶ dropped; leftovers each hour
 *
 * The schema is its owner's alone, and says whose it is, so that installations may share a database for tries. Spec: Keeping, 3, N18.
 */
import type { Client } from 'pg'
import type { DatabaseAddress } from '../../../kernel/database/address.ts'
import { withClient } from '../../../kernel/database/client.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'

/** Undefined: there is none. */
const addressOf = ({ config, owner }: Installation): DatabaseAddress | undefined => config.scratch ?? owner

/** Whether a try could begin now: somebody answers there, and may make a schema. */
export async function hasScratch(installation: Installation): Promise<boolean> {
  const address = addressOf(installation)
  if (!address) return false
  try {
    return await withClient(address, async (client) => {
      const { rows } = await client.query<{ may: boolean }>(
        `select has_database_privilege(current_database(), 'create') as may`,
      )
      return rows[0]?.may === true
    })
  } catch {
    return false
  }
}

/** The database for tries cannot be used; this says nothing of a backup. */
export class ScratchFailure extends Error {
  override readonly name = 'ScratchFailure'
}

const nameOf = (jobId: string, attempt: number) => `scratch_${jobId.replaceAll('-', '')}_${attempt}`
const ownerOf = ({ identity }: Installation) => `svc ${identity.id}`

/** Runs a try in a schema that is new, and is gone afterwards. Throws ScratchFailure where there is no database for it. */
export async function inScratch<T>(
  installation: Installation,
  { jobId, attempt }: { readonly jobId: string; readonly attempt: number },
  work: (client: Client, schema: string) => Promise<T>,
): Promise<T> {
  const address = addressOf(installation)
  if (!address) throw new ScratchFailure('there is none')
  const schema = nameOf(jobId, attempt)
  return withClient(address, async (client) => {
    await prepare(client, installation, jobId, schema)
    try {
      return await work(client, schema)
    } finally {
      // A connection that is gone leaves it to the sweep.
      await client.query(`drop schema if exists "${schema}" cascade`).catch(() => {})
    }
  }).catch((error: unknown) => {
    throw isOfConnection(error) ? new ScratchFailure('it cannot be reached', { cause: error }) : error
  })
}

/** Settings by which values are read and written as an archive has them; rows of a try may be lost with the server. */
const settings =
  "set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set bytea_output = 'hex'; set synchronous_commit = off; set search_path = pg_catalog"

async function prepare(client: Client, installation: Installation, jobId: string, schema: string): Promise<void> {
  await client.query(settings)
  const { rows } = await client.query<{ name: string }>(
    `select nspname as name from pg_namespace where starts_with(nspname, $1)`,
    [nameOf(jobId, 0).slice(0, -1)],
  )
  for (const { name } of rows) await client.query(`drop schema if exists "${name}" cascade`)
  await client.query(`create schema "${schema}"`)
  await client.query(`comment on schema "${schema}" is '${ownerOf(installation)}'`)
}

/** Removes schemas of tries that are over: whose worker was killed, or lost its connection. `isOver` is asked with the id of a job. */
export async function sweepScratch(
  installation: Installation,
  isOver: (jobId: string) => Promise<boolean>,
): Promise<void> {
  const address = addressOf(installation)
  if (!address || !(await hasScratch(installation))) return
  await withClient(address, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select nspname as name from pg_namespace where nspname like 'scratch\\_%' and obj_description(oid, 'pg_namespace') = $1`,
      [ownerOf(installation)],
    )
    for (const { name } of rows)
      if (await isOver(jobIdOf(name))) await client.query(`drop schema if exists "${name}" cascade`)
  })
}

function jobIdOf(schema: string): string {
  const digits = schema.split('_')[1] ?? ''
  return [8, 12, 16, 20, 32].map((end, n) => digits.slice([0, 8, 12, 16, 20][n], end)).join('-')
}

/** SQLSTATE classes that are about the server or this login, and not about what was loaded. */
const ofServer = /^(08|28|42501|3D|53|57|58|XX)/

function isOfConnection(error: unknown): boolean {
  const code = String((error as { code?: unknown } | null)?.code ?? '')
  return (
    ofServer.test(code) || /^E[A-Z]+$/.test(code) || /Connection terminated/.test(String((error as Error)?.message))
  )
}
