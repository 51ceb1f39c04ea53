/** The jobs of this area, each from the story that needs it. */
import type { RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { wordAccounts } from './accounts/words.ts'

export const identityJobs: readonly RunnableJob[] = [wordAccounts]
