/**
 * Shared advisory locks as a sign of life: a process tells the others of its database what
 * it is and knows, for as long as it lives and no longer.
 *
 * One connection holds them all. When it is lost they are taken again as soon as the
 * database is back; in between nobody is served anyway. What is told may change: the new
 * locks are held before the old ones are let go.
 */
import type { DatabaseAddress } from './address.ts'
import { type HeldLock, holdSharedLocks, type LockName } from './shared-lock.ts'

const retryMs = 500

export interface KeptLocks {
  /** Asks again which locks are wanted, and holds those. Throws when the database cannot be reached. */
  renew(): Promise<void>
  release(): Promise<void>
}

/** Holds what `wanted` answers until `release`. Throws when the database cannot be reached at first. */
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
      if (watched !== held) continue // renewed: let go on purpose
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

/** Tries until the locks are held again, or nobody wants them any more. */
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
