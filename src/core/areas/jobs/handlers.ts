/** The rules of this area, by operation. */
import type { jobOperations } from '../../contract/jobs/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { getJob } from './show.ts'

export const jobsHandlers = {
  getJob,
} satisfies HandlersOf<typeof jobOperations>
