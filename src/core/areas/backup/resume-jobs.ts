/**
 * Resumes jobs whose worker died, once a minute, and cleans up the spool.
 *
 * A killed worker reports nothing; its row only stops beating. Three attempts are made; then the
 * job is FAILED with `worker.lost`. A job that is QUEUED in its row but is not in the queue (a
 * queue that was restored from elsewhere) is queued again. Spec: T-25.
 */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { exportTenantJob, mostAttempts } from './export-job.ts'

const silence = '1 minute'
const spoolMs = 24 * 3600 * 1000

export const resumeJobs = defineJob({
  name: 'resume_jobs',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  cron: '* * * * *',
  async run(installation) {
    await installation.transaction({ kind: 'SYSTEM', job: 'resume_jobs' }, {}, async (ctx) => {
      await ctx.tx`
        update job set state = 'FAILED', finished_at = now(), failure = 'worker.lost'
        where kind = 'TENANT_EXPORT' and state = 'RUNNING' and beat_at < now() - ${silence}::interval and attempt >= ${mostAttempts}`
      const waiting = await ctx.tx<{ tenant_id: string; id: string }[]>`
        update job set state = 'QUEUED', beat_at = now()
        where kind = 'TENANT_EXPORT' and ((state = 'RUNNING' and beat_at < now() - ${silence}::interval)
           or (state = 'QUEUED' and beat_at < now() - interval '10 minutes'))
        returning tenant_id, id`
      for (const { tenant_id, id } of waiting) await ctx.enqueue(exportTenantJob, { tenantId: tenant_id, jobId: id })
    })
    await sweepSpool(installation)
  },
})

/** Removes folders of killed attempts. A recent folder may be in use by another process. */
async function sweepSpool({ config }: Installation): Promise<void> {
  const spool = join(config.dataDir, 'spool')
  for (const name of await readdir(spool).catch(() => [])) {
    const found = await stat(join(spool, name)).catch(() => undefined)
    if (found && Date.now() - found.mtimeMs > spoolMs) await rm(join(spool, name), { recursive: true, force: true })
  }
}
