/**
 * Shared advisory locks on a separate connection, held until the process releases them.
 *
 * The server releases them when the connection ends for any reason, so they are a sign of
 * life. Rules do not use them: the locks of a rule belong to its transaction.
 */
import type { DatabaseAddress } from './address.ts'
import { attach, withClient } from './client.ts'

export interface LockName {
  readonly lockClass: number
  readonly key: number
}

export interface HeldLock {
  /** Resolves when the connection, and the locks with it, is gone. */
  readonly lost: Promise<void>
  release(): Promise<void>
}

/** Takes the locks over one connection, which pg_stat_activity calls `name`. Throws when the database cannot be reached. */
export async function holdSharedLocks(
  address: DatabaseAddress,
  name: string,
  locks: readonly LockName[],
): Promise<HeldLock> {
  const { promise: lost, resolve } = Promise.withResolvers<void>()
  const { client, end } = await attach(address, name, (fresh) => {
    fresh.on('error', () => resolve())
    fresh.on('end', () => resolve())
  })
  const release = async () => {
    await end()
    resolve()
  }
  try {
    for (const { lockClass, key } of locks)
      await client.query('select pg_advisory_lock_shared($1::int, $2::int)', [lockClass, key])
    return { lost, release }
  } catch (error) {
    await release()
    throw error
  }
}

/** Whether any session in this database holds the lock; the check itself takes no lock. */
export const isLockHeld = (address: DatabaseAddress, { lockClass, key }: LockName): Promise<boolean> =>
  withClient(address, async (client) => {
    const { rows } = await client.query<{ held: boolean }>(
      `select exists (
         select from pg_locks
         where locktype = 'advisory' and granted and classid = $1::int::oid and objid = $2::int::oid and objsubid = 2
           and database = (select oid from pg_database where datname = current_database())
       ) as held`,
      [lockClass, key],
    )
    return rows[0]?.held === true
  })
