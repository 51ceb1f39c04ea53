/**
 * A reading of the database for gauges: when they are scraped, and no more often than it says.
 *
 * All gauges of a reading ask at the same time, and wait for the same one. If the database does not answer in time, they
 * keep what they said last.
 */

/** A scraper stops waiting after some seconds. */
const patienceMs = 1_000

/** Answers the function that gauges call when they are scraped. */
export function readingEach(eachMs: number, read: () => Promise<void>): () => Promise<void> {
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> = Promise.resolve()
  return () => {
    if (performance.now() - readAt < eachMs) return reading
    readAt = performance.now()
    const { promise: waited, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, patienceMs)
    reading = Promise.race([read().catch(() => undefined), waited]).finally(() => clearTimeout(timer))
    return reading
  }
}
