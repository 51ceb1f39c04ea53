/** The database of this configuration, for commands that maintain it and call no operation. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../core/kernel/config/config.ts'
import type { DatabaseAddress } from '../../core/kernel/database/address.ts'
import { Failure } from '../failure.ts'
import { onInterruption } from '../interruption.ts'

export interface HeldDatabase {
  readonly owner: DatabaseAddress
  readonly daemon: DatabaseAddress
  readonly standby?: DatabaseAddress
  /** Folder of the embedded cluster; undefined for an external database. */
  readonly embedded: string | undefined
  release(): Promise<void>
}

/** Whether the embedded database of this configuration exists. */
export const hasEmbedded = (config: Config) => existsSync(join(config.dataDir, 'postgres.json'))

/** The addresses of the database; starts the embedded one. Fails (usage) if it does not exist, because inspecting must not create one. */
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

/** Runs work while it holds the database, and always releases it. */
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

/** The number of values that are sealed under each key, read in a role that cannot read the values. */
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
