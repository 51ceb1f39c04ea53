/** The jobs of this area, each from the story that needs it. */
import type { RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { backupTenantJob } from './backups/job.ts'
import { removeBackupsJob } from './backups/removal.ts'
import { exportTenantJob } from './export-job.ts'
import { resumeJobs } from './resume-jobs.ts'

export const backupJobs: readonly RunnableJob[] = [exportTenantJob, backupTenantJob, removeBackupsJob, resumeJobs]
