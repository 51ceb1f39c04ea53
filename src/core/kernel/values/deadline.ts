/** Waiting for a bounded time. */
import { setTimeout as pause } from 'node:timers/promises'

/** Rejects, with `late`, if the promise does not settle within `ms`. The work goes on; a later failure of it is ignored. */
export async function withTimeout<T>(
  ms: number,
  work: Promise<T>,
  late = () => new Error(`not within ${ms} ms`),
): Promise<T> {
  const timer = new AbortController()
  const over = pause(Math.max(0, ms), undefined, { signal: timer.signal }).then(() => {
    throw late()
  })
  over.catch(() => {})
  work.catch(() => {})
  try {
    return await Promise.race([work, over])
  } finally {
    timer.abort()
  }
}
