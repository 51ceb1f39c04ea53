/** The export: an archive in clear, that anybody can read with docs/archive-format.md. Spec: Admin: workspaces, rule 4. */
import { z } from 'zod'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { type ArchiveWork, attemptArchive } from './archive-attempt.ts'
import { inClear } from './archive-form.ts'

const work: ArchiveWork = { kind: 'TENANT_EXPORT', job: 'export_tenant', formOf: async () => inClear }

export const exportTenantJob = defineJob({
  name: 'export_tenant',
  payload: z.object({ tenantId: z.guid(), jobId: z.guid() }),
  // The row decides what is run again (resume-jobs.ts), not the queue.
  retryLimit: 0,
  atOnce: 2,
  takesLong: true,
  longestSeconds: 23 * 3600,
  run: (installation, payload) => attemptArchive(installation, work, payload),
})
