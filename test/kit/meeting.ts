/** Concurrent calls: a race that does not depend on the speed of the test. */
import { setTimeout as pause } from 'node:timers/promises'
import type postgres from 'postgres'

/** Too few waited: a call that should have gave its lock up, or was refused at the door. */
class NobodyWaited extends Error {}

/** A transaction gives a lock up after two seconds (kernel/database/pool.ts). */
const longestWaitSeconds = 1

/**
 * Takes a lock, begins the work, and releases the lock once so many of its transactions wait: all
 * of them have read what the first will change. Their number is at most the size of the pool.
 *
 * On a busy machine the last may come when the first has given up, and so many never wait at once. So the lock is also
 * released once several wait and the first of them has waited for a second. Throws where the work ends and none has met.
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
  await Promise.race([taken.promise, holding])
  let hasEnded = false
  const working = work().finally(() => {
    hasEnded = true
  })
  working.catch(() => undefined) // it is told below
  try {
    while (!(await haveMet(sql, count))) {
      if (hasEnded) {
        await working
        throw new NobodyWaited(`the work ended before ${count} of its transactions waited at once`)
      }
      await pause(5)
    }
  } finally {
    over.resolve()
    await holding
  }
  return working
}

const longestLookMs = 10_000

/** Waits until so many statements wait for a lock: whoever calls next waits behind them. Throws NobodyWaited. */
export async function untilWaiting(sql: postgres.Sql, count: number): Promise<void> {
  const end = performance.now() + longestLookMs
  while ((await waitingNow(sql)).waiting < count) {
    if (performance.now() > end) throw new NobodyWaited(`fewer than ${count} waited for a lock in ${longestLookMs} ms`)
    await pause(5)
  }
}

const mostRounds = 3

/**
 * Plays a scene of calls that wait for each other. On a machine that stalls for seconds one of them gives its lock up, or is refused at
 * the door (503), and then the scene says nothing: it is played anew, with people of its own.
 */
export async function played<T extends readonly { readonly status: number }[]>(scene: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      const answers = await scene()
      if (round === mostRounds || answers.every(({ status }) => status !== 503)) return answers
    } catch (error) {
      if (round === mostRounds || !(error instanceof NobodyWaited)) throw error
    }
  }
}

async function haveMet(sql: postgres.Sql, count: number): Promise<boolean> {
  const { waiting, seconds } = await waitingNow(sql)
  return waiting >= count || (waiting > 1 && seconds > longestWaitSeconds)
}

/** That a credential was used is written beside the calls: it may wait for the one that holds its row, and is no part of the work. */
async function waitingNow(sql: postgres.Sql): Promise<{ waiting: number; seconds: number }> {
  const [row] = await sql<[{ waiting: number; seconds: number }]>`
    select count(*)::int as waiting, coalesce(max(date_part('epoch', clock_timestamp() - query_start)), 0) as seconds
    from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query not like '%set last_used_at = now() where%'`
  return row
}
