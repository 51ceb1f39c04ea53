/** The jobs of this area. */
import type { RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { restoreJob } from './restore-job.ts'
import { sweepRestoresJob } from './sweep.ts'

export const restoresJobs: readonly RunnableJob[] = [restoreJob, sweepRestoresJob]
