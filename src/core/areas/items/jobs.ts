/** The jobs of this area, each from the story that needs it. */
import type { RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { bulkItemsJob, resumeBulk } from './bulk/job.ts'
import { archiveDone } from './done.ts'
import { keyItems } from './filter/keying.ts'
import { emptyTrashJob, resumeEmptying } from './trash/emptying.ts'
import { removePurged } from './trash/removal.ts'
import { sweepTrash } from './trash/sweep.ts'

export const itemsJobs: readonly RunnableJob[] = [
  keyItems,
  archiveDone,
  bulkItemsJob,
  resumeBulk,
  emptyTrashJob,
  resumeEmptying,
  removePurged,
  sweepTrash,
]
