/** The jobs of this area, each from the story that needs it. */
import type { RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { examineMedia } from './examination.ts'
import { makeMissingPreviews } from './previewing.ts'
import { sweepMedia } from './sweep.ts'

export const mediaJobs: readonly RunnableJob[] = [examineMedia, sweepMedia, makeMissingPreviews]
