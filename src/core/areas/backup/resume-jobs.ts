/** Resumes exports and backups whose worker died, once a minute, and cleans up the spool. Spec: T-25. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { resumeLost } from '../jobs/resume.ts'
import { mostAttempts } from './archive-attempt.ts'
import { resumeBackups } from './backups/job.ts'
import { resumeVerifications } from './backups/verification.ts'
import { exportTenantJob } from './export-job.ts'

const spoolMs = 24 * 3600 * 1000

export const resumeJobs = defineJob({
  name: 'resume_jobs',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  cron: '* * * * *',
  async run(installation) {
    await installation.transaction({ kind: 'SYSTEM', job: 'resume_jobs' }, {}, async (ctx) => {
      await resumeLost(ctx, 'TENANT_EXPORT', exportTenantJob, mostAttempts)
      await resumeBackups(ctx)
      await resumeVerifications(ctx)
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
