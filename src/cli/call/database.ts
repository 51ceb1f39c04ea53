/** The database of this configuration, for commands that look after it rather than call operations. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../core/kernel/config/config.ts'
import type { DatabaseAddress } from '../../core/kernel/database/address.ts'
import { Failure } from '../failure.ts'
import { onInterruption } from '../interruption.ts'

export interface HeldDatabase {
  readonly owner: DatabaseAddress
  readonly daemon: DatabaseAddress
  /** Folder of the embedded cluster; undefined on a database of the operator's own. */
  readonly embedded: string | undefined
  release(): Promise<void>
}

/** Whether the embedded database of this configuration has been made. */
export const hasEmbedded = (config: Config) => existsSync(join(config.dataDir, 'postgres.json'))

/** Where the database is; the embedded one is started. Fails (usage) where it has not been made: looking must not make one. */
async function holdDatabase(config: Config, note: (line: string) => void): Promise<HeldDatabase> {
  if (config.database) return { ...config.database, embedded: undefined, release: async () => undefined }
  if (!hasEmbedded(config))
    throw new Failure(
      'usage',
      `There is no database in ${config.dataDir}, and SVC_DATABASE_URL is not set.`,
      '`svc up` makes one here.',
    )
  const { holdEmbedded } = await import('../../core/kernel/database/embedded.ts')
  const { owner, daemon, where, release } = await holdEmbedded(config.dataDir, { note })
  return { owner, daemon, embedded: where, release }
}

/** Runs work with the database held, and lets go of it whatever happens. */
export async function withDatabase<T>(
  config: Config,
  note: (line: string) => void,
  work: (database: HeldDatabase) => Promise<T>,
): Promise<T> {
  const database = await holdDatabase(config, note)
  const stopHeeding = onInterruption(() => database.release())
  try {
    return await work(database)
  } finally {
    stopHeeding()
    await database.release()
  }
}

export interface KeyCount {
  readonly key_id: string
  readonly values: number
}

/** How many values are sealed under each key; counts only, in the role that may see no more. */
export async function countSealed(daemon: DatabaseAddress): Promise<KeyCount[]> {
  const { withClient } = await import('../../core/kernel/database/client.ts')
  return withClient(daemon, async (client) => {
    await client.query('begin read only; set local role svc_installation')
    const { rows } = await client.query<KeyCount>(
      'select key_id, count(*)::int as values from sealed_value group by key_id order by key_id',
    )
    await client.query('commit')
    return rows
  })
}
