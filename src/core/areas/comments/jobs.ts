/** The jobs of this area, each from the story that needs it. */
import type { RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { purgeComments } from './purge.ts'

export const commentsJobs: readonly RunnableJob[] = [purgeComments]
