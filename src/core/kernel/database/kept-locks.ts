/**
 * Shared advisory locks as a sign of life: they tell other processes on the same database
 * what a process is and knows, exactly as long as it lives.
 *
 * One connection holds all of them. If it is lost, they are taken again as soon as the
 * database is back; in between the process cannot serve anyway. The locks may change: the new
 * ones are taken before the old ones are released.
 */
import type { DatabaseAddress } from './address.ts'
import { type HeldLock, holdSharedLocks, type LockName } from './shared-lock.ts'

const retryMs = 500

export interface KeptLocks {
  /** Calls `wanted` again, and holds those locks. Throws when the database cannot be reached. */
  renew(): Promise<void>
  release(): Promise<void>
}

/** Holds the locks that `wanted` names until `release`. Throws when the database cannot be reached at first. */
export async function keepSharedLocks(
  address: DatabaseAddress,
  name: string,
  wanted: () => readonly LockName[],
): Promise<KeptLocks> {
  const stop = new AbortController()
  const hold = () => holdSharedLocks(address, name, wanted())
  let held = await hold()

  const keep = async () => {
    while (!stop.signal.aborted) {
      const watched = held
      await watched.lost
      if (watched !== held) continue // renewed: these were released on purpose
      held = (await holdAgain(hold, stop.signal)) ?? held
    }
  }
  const kept = keep()

  return {
    async renew() {
      const before = held
      held = await hold()
      await before.release()
    },
    async release() {
      stop.abort()
      await held.release()
      await kept
      await held.release()
    },
  }
}

/** Tries until the locks are held again or `signal` is aborted. */
async function holdAgain(hold: () => Promise<HeldLock>, signal: AbortSignal): Promise<HeldLock | undefined> {
  while (!signal.aborted) {
    await pause(signal)
    const held = signal.aborted ? undefined : await hold().catch(() => undefined)
    if (held) return held
  }
  return undefined
}

const pause = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, retryMs)
    const wake = () => {
      clearTimeout(timer)
      resolve()
    }
    signal.addEventListener('abort', wake, { once: true })
  })
