/** The jobs of this area. */
import type { RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { runRulesJob } from './nightly.ts'

export const retentionJobs: readonly RunnableJob[] = [runRulesJob]
