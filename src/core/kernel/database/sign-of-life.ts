/**
 * A daemon's sign of life: what it tells the other processes on its database, exactly as long as it lives.
 *
 *    7303         it admits traffic (serving.ts)
 *    7305..7307   which keys it holds (areas/keyring/daemon-keyrings.ts)
 *    7318         how far its host's clock is ahead (clock.ts)
 *
 * All of it are shared locks on one connection, which pg_stat_activity calls `svc life of HOST PID`.
 */
import { hostname } from 'node:os'
import type { DatabaseAddress } from './address.ts'
import { type KeptLocks, keepSharedLocks } from './kept-locks.ts'
import type { LockName } from './shared-lock.ts'

export interface SignOfLife {
  /** Tells what `locks` answers, now and at each renewal, until the end. Throws when the database cannot be reached. */
  tell(locks: () => readonly LockName[]): Promise<void>
  /** Tells again what has changed. Throws when the database cannot be reached; then what was told stays. */
  renew(): Promise<void>
  end(): Promise<void>
}

const called = 'svc life of '
/** PostgreSQL truncates longer names. */
const nameBytes = 63

/** `HOST PID` of the daemon whose sign of life has this name. */
export const placeOfSign = (name: string) => name.replace(called, '')

/** Connects when there is something to tell. */
export function signOfLife(address: DatabaseAddress): SignOfLife {
  const name = `${called}${hostname()} ${process.pid}`.slice(0, nameBytes)
  const all = new Set<() => readonly LockName[]>()
  const wanted = () => [...all].flatMap((locks) => locks())
  let kept: KeptLocks | undefined
  /** One after the other: a renewal that began earlier must not end later. */
  let last: Promise<void> = Promise.resolve()
  const hold = async () => {
    if (kept) await kept.renew()
    else kept = await keepSharedLocks(address, name, wanted)
  }
  const renew = () => {
    const next = last.then(hold)
    last = next.catch(() => {})
    return next
  }
  return {
    renew,
    async tell(locks) {
      all.add(locks)
      try {
        await renew()
      } catch (error) {
        all.delete(locks)
        throw error
      }
    },
    async end() {
      await last
      await kept?.release()
    },
  }
}
