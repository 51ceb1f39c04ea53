/** The job that reseals. Spec: Admin: encryption keyring, `:reseal`. */
import { z } from 'zod'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob, type RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { resealUntil } from './reseal.ts'

/** Less than the time that a daemon has to drain. */
const shareMs = 5_000

/** Installations of this process that are resealing now: a second run for one of them does nothing. */
const atWork = new WeakSet<Installation>()

/**
 * Started by `:reseal`, by itself while there is more to do, and every minute to continue after a
 * killed worker. Workers of several daemons share the scopes.
 */
export const resealValues = defineJob({
  name: 'reseal',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  atOnce: 2,
  takesLong: true,
  cron: '* * * * *',
  async run(installation) {
    if (atWork.has(installation)) return
    atWork.add(installation)
    try {
      if (await resealUntil(installation, performance.now() + shareMs)) return
      await installation.transaction({ kind: 'SYSTEM', job: 'reseal' }, {}, (ctx) => ctx.enqueue(resealValues, {}))
    } finally {
      atWork.delete(installation)
    }
  },
})

/** The jobs of this area. */
export const keyringJobs: readonly RunnableJob[] = [resealValues]
