/** Patience with an end. */
import { setTimeout as pause } from 'node:timers/promises'

/** Rejects when the time is over; what was waited for goes on, and its failure is nobody's any more. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const timer = new AbortController()
  const over = pause(ms, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`not within ${ms} ms`)
  })
  over.catch(() => {})
  work.catch(() => {})
  try {
    return await Promise.race([work, over])
  } finally {
    timer.abort()
  }
}
