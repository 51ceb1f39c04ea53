/** The jobs of this area. */
import type { RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { followAiModel } from './follow-model.ts'
import { tellAiNotice } from './notice-mails.ts'

export const aiJobs: readonly RunnableJob[] = [tellAiNotice, followAiModel]
