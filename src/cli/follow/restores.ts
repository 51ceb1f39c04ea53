/** Follows a step of a restore to its end. */
import { type Restore, restoreOperations } from '../../core/contract/backup/restores.ts'
import { jobOperations } from '../../core/contract/jobs/operations.ts'
import type { Caller } from '../call/caller.ts'
import { patiently } from './closed.ts'
import { followJob } from './jobs.ts'

/** Waits for the job of the step, and answers the restore behind it. Fails if the step failed. */
export async function followRestore(caller: Caller, restore: Restore): Promise<Restore> {
  const job = await patiently(() => caller.call(jobOperations.getJob, { jobId: restore.job_id }))
  // At the database this process does it, wherever the workspace is or will be.
  await followJob(caller, job, await caller.workspaceOfJob?.(restore.job_id))
  return patiently(() => caller.call(restoreOperations.getRestore, { restoreId: restore.id }))
}
