/** The jobs of this area, each from the story that needs it. */
import type { RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { sweepOutbox } from './retention.ts'

export const eventsJobs: readonly RunnableJob[] = [sweepOutbox]
