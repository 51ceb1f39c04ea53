/** The jobs of this area, each from the story that needs it. */
import type { RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { backupTenantJob } from './backups/job.ts'
import { removeBackupsJob } from './backups/removal.ts'
import { sweepScratchJob, verifyBackupJob } from './backups/verification.ts'
import { exportTenantJob } from './export-job.ts'
import { resumeJobs } from './resume-jobs.ts'
import { runSchedulesJob } from './schedules/job.ts'

/** Those that a person waits for: without a daemon, the command that queued one does it itself. */
export const awaitedJobs = [exportTenantJob, backupTenantJob, verifyBackupJob] as const

export const backupJobs: readonly RunnableJob[] = [
  ...awaitedJobs,
  removeBackupsJob,
  resumeJobs,
  runSchedulesJob,
  sweepScratchJob,
]
