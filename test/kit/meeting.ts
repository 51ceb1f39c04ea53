/** Calls that meet: a race that a test cannot lose by being slow. */
import { setTimeout as pause } from 'node:timers/promises'
import type postgres from 'postgres'

/**
 * Takes a lock, begins the work, and lets go once so many of its transactions wait: they
 * have all looked at what the first of them is about to change. Their number is at most the
 * pool's, and they wait less long than a statement may.
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
