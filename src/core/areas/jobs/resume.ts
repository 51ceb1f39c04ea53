/**
 * Resumes jobs whose worker died.
 *
 * A killed worker reports nothing; its row only stops beating. After as many attempts as its kind may have, the job is
 * FAILED with `worker.lost`. A kind that has rows to empty names no number here, and ends itself. A job that is QUEUED in
 * its row but is not in the queue (a queue that was restored from elsewhere) is queued again. Spec: T-25.
 */
import type { JobKind } from '../../contract/jobs/operations.ts'
import type { Job } from '../../kernel/queue/job.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'

const silence = '1 minute'

export async function resumeLost(
  ctx: Ctx,
  kind: JobKind,
  job: Job<{ tenantId: string; jobId: string }>,
  mostAttempts?: number,
): Promise<void> {
  if (mostAttempts !== undefined)
    await ctx.tx`
      update job set state = 'FAILED', finished_at = now(), failure = 'worker.lost'
      where kind = ${kind} and state = 'RUNNING' and beat_at < now() - ${silence}::interval and attempt >= ${mostAttempts}`
  const waiting = await ctx.tx<{ tenant_id: string; id: string }[]>`
    update job set state = 'QUEUED', beat_at = now()
    where kind = ${kind} and ((state = 'RUNNING' and beat_at < now() - ${silence}::interval)
       or (state = 'QUEUED' and beat_at < now() - interval '10 minutes'))
    returning tenant_id, id`
  for (const { tenant_id, id } of waiting) await ctx.enqueue(job, { tenantId: tenant_id, jobId: id })
}
