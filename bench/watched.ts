import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import type { Ground } from './ground.ts'

/** Observes the transactions of this process from outside, every few milliseconds. */
export function watch({ superuser }: Ground): { stop(): Promise<{ longestMs: number; modes: ReadonlySet<string> }> } {
  const sql = postgres({ ...postgresOptions(superuser), max: 1, onnotice: () => undefined })
  const modes = new Set<string>()
  let longestMs = 0
  let isOver = false
  const looking = (async () => {
    for (; !isOver; await pause(5))
      for (const { mode, age_ms } of await sql<{ mode: string | null; age_ms: number }[]>`
        select l.mode, extract(epoch from clock_timestamp() - a.xact_start)::float8 * 1000 as age_ms
        from pg_stat_activity a left join pg_locks l on l.pid = a.pid and l.locktype = 'relation'
        where a.application_name = 'svc bench' and a.xact_start is not null`) {
        if (mode) modes.add(mode)
        longestMs = Math.max(longestMs, age_ms)
      }
  })()
  return {
    async stop() {
      isOver = true
      await looking
      await sql.end() // a second time it does nothing
      return { longestMs, modes }
    },
  }
}
