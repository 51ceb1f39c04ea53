/**
 * Wakes the workers whose queue has a job that is due.
 *
 * pg-boss lets each worker look for itself: a daemon with 130 workers and nothing to do sent 130 statements a second. Here one
 * statement a second looks for all of them. What this process queues itself, it does not look for: the workers are woken when
 * the transaction has committed. Spec: docs/decisions/0503, 0520.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import { queueSchema } from '../database/queue-schema.ts'
import type { Queue } from './queue.ts'

export interface Waking {
  /** Starts no other look. */
  close(): void
}

const lookMs = 1_000
/** Behind a failure, so that the log is not filled while the database is away. */
const failedMs = 5_000

/** Each queue with the ids of its workers. A look that fails is told of, and the next one comes five seconds later. */
export async function startWaking(
  queue: Queue,
  workers: ReadonlyMap<string, readonly string[]>,
  onFailure: (error: unknown) => void,
  lookEachMs = lookMs,
): Promise<Waking> {
  const boss = await queue.boss()
  const closing = new AbortController()
  const wake = (names: readonly string[]) => {
    if (closing.signal.aborted) return
    for (const name of names) for (const id of workers.get(name) ?? []) boss.notifyWorker(id)
  }
  queue.onQueued(wake)
  const run = async () => {
    let restMs = lookEachMs
    for (;;) {
      await pause(restMs, undefined, { signal: closing.signal, ref: false })
      restMs = lookEachMs
      try {
        wake(await findDue(boss, [...workers.keys()]))
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
