/**
 * Wakes the workers whose queue has a job that is due.
 *
 * pg-boss lets each worker look for itself: a daemon with 130 workers and nothing to do sent 130 statements a second. Here one
 * statement a second looks for all of them. Spec: docs/decisions/0503.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import { queueSchema } from '../database/queue-schema.ts'

export interface Waking {
  /** Starts no other look. */
  close(): void
}

const lookMs = 1_000
/** Behind a failure, so that the log is not filled while the database is away. */
const failedMs = 5_000

/** Each queue with the ids of its workers. A look that fails is told of, and the next one comes five seconds later. */
export function startWaking(
  boss: PgBoss,
  workers: ReadonlyMap<string, readonly string[]>,
  onFailure: (error: unknown) => void,
): Waking {
  const closing = new AbortController()
  const run = async () => {
    let restMs = lookMs
    for (;;) {
      await pause(restMs, undefined, { signal: closing.signal, ref: false })
      restMs = lookMs
      try {
        const due = await findDue(boss, [...workers.keys()])
        if (closing.signal.aborted) return
        for (const name of due) for (const id of workers.get(name) ?? []) boss.notifyWorker(id)
      } catch (error) {
        restMs = failedMs
        if (!closing.signal.aborted) onFailure(error)
      }
    }
  }
  run().catch(() => {}) // ends when it is closed
  return { close: () => closing.abort() }
}

/** Which of these queues have a job that a fetch of pg-boss would find. By its index of what waits, a row for each queue. */
async function findDue(boss: PgBoss, names: readonly string[]): Promise<readonly string[]> {
  const { rows } = await boss.getDb().executeSql(
    `select w.name from unnest($1::text[]) w (name) where exists (
       select from ${queueSchema}.job_common j
       where j.name = w.name and j.state < 'active' and not j.blocked and j.start_after <= ${queueSchema}.job_now())`,
    [names],
  )
  return rows.map(({ name }: { name: string }) => name)
}
