/** The jobs of this area, each from the story that needs it. */
import type { RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { keyItems } from './filter/keying.ts'

export const itemsJobs: readonly RunnableJob[] = [keyItems]
