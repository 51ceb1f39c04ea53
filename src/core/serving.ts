/**
 * Whether a daemon serves this installation, told through the database.
 *
 * A daemon that admits traffic holds a shared lock. Recovery commands ask before they
 * change what a daemon may be serving. When the connection is lost the lock is taken
 * again as soon as the database is back; in between nobody is served anyway.
 *
 * Spec: decisions 6 (`--recovery` refuses while a daemon admits traffic).
 */
import type { DatabaseAddress } from './database/address.ts'
import { type HeldLock, holdSharedLock, isLockHeld } from './database/shared-lock.ts'

const servingLock = { lockClass: 7303, key: 1 }
const retryMs = 500

export interface Serving {
  release(): Promise<void>
}

/** Announces that this process serves, until `release`. Throws when the database cannot be reached at first. */
export async function announceServing(address: DatabaseAddress): Promise<Serving> {
  const stop = new AbortController()
  let held = await holdSharedLock(address, servingLock)

  const keep = async () => {
    while (!stop.signal.aborted) {
      await held.lost
      held = (await holdAgain(address, stop.signal)) ?? held
    }
  }
  const kept = keep()

  return {
    async release() {
      stop.abort()
      await held.release()
      await kept
      await held.release()
    },
  }
}

/** Tries until the lock is held again, or nobody wants it any more. */
async function holdAgain(address: DatabaseAddress, signal: AbortSignal): Promise<HeldLock | undefined> {
  while (!signal.aborted) {
    await pause(signal)
    const held = signal.aborted ? undefined : await holdSharedLock(address, servingLock).catch(() => undefined)
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

/** Whether any daemon admits traffic now. */
export const isServed = (address: DatabaseAddress): Promise<boolean> => isLockHeld(address, servingLock)
