/** The jobs of this area, each from the story that needs it. */
import type { RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { exportTenantJob } from './export-job.ts'
import { resumeJobs } from './resume-jobs.ts'

export const backupJobs: readonly RunnableJob[] = [exportTenantJob, resumeJobs]
