/** The job of a step, as a row and in the queue. Spec: docs/decisions/0033; Keeping, 3. */
import { z } from 'zod'
import type { Job } from '../../kernel/queue/job.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { accountIdOf } from '../../kernel/values/actor.ts'
import { newId } from '../../kernel/values/id.ts'

export type Step = 'PLAN' | 'APPLY' | 'UNDO'

/** The job of restore-job.ts as the queue knows it: what carries a step out is not loaded by whoever asks for it. */
const restoreTenant: Job<{ tenantId: string; jobId: string }> = {
  name: 'restore_tenant',
  payload: z.object({ tenantId: z.guid(), jobId: z.guid() }),
  retryLimit: 0,
  longestSeconds: 23 * 3600,
}

/** Queues a step, in the role of the workspace or of the installation; answers its job. */
export async function queueStep(
  ctx: Ctx,
  { tenantId, restoreId, step }: { readonly tenantId: string; readonly restoreId: string; readonly step: Step },
): Promise<string> {
  const { tx } = ctx
  const jobId = newId()
  const params = { restore_id: restoreId, step, requested_by: accountIdOf(ctx.actor) }
  void tx`insert into job (tenant_id, id, kind, params) values (${tenantId}, ${jobId}, 'RESTORE', ${tx.json(params)})`
  await ctx.enqueue(restoreTenant, { tenantId, jobId })
  return jobId
}
