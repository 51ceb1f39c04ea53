/** Concurrent calls: a race that does not depend on the speed of the test. */
import { setTimeout as pause } from 'node:timers/promises'
import type postgres from 'postgres'

/**
 * Takes a lock, begins the work, and releases the lock once so many of its transactions wait: all
 * of them have read what the first will change. Their number is at most the size of the pool, and
 * they wait less long than a statement may.
 */
export async function meeting<T>(
  sql: postgres.Sql,
  lock: (sql: postgres.TransactionSql) => Promise<unknown>,
  count: number,
  work: () => Promise<T>,
): Promise<T> {
  const [taken, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = sql.begin(async (transaction) => {
    await lock(transaction)
    taken.resolve()
    await over.promise
  })
  await taken.promise
  const working = work()
  const waiting = () =>
    sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await waiting()).length < count) await pause(5)
  over.resolve()
  await holding
  return working
}
