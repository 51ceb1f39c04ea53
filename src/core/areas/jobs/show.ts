/** A job, as the API shows it to the caller. Spec: decisions 4, JobRef. */

import type { JobProgress, JobRef, jobOperations as ops } from '../../contract/jobs/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import { rankOf } from '../../contract/vocabulary.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { actsForInstallation } from '../../kernel/values/actor.ts'

interface JobRow extends Omit<JobRef, 'progress'> {
  readonly progress: JobProgress | Record<string, never>
}

const nothingDone: JobProgress = { phase: 'WAITING', done: 0, total: null }

/** Refuses not_found. */
export async function getJob(ctx: Ctx, { jobId }: Received<typeof ops.getJob>): Promise<Answer<typeof ops.getJob>> {
  const found = actsForInstallation(ctx.actor)
    ? await readJob(ctx.tx, ctx.tx.part`id = ${jobId}`)
    : await readJob(ctx.tx, ctx.tx.part`tenant_id = ${ctx.account.tenantId} and id = ${jobId} and ${isShown(ctx)}`)
  if (!found) refuse('not_found')
  return found
}

/** An ADMIN reads every job of the workspace, others read those that they asked for. */
function isShown({ tx, account }: Ctx): Part {
  const isAdmin = !account.isGuest && rankOf[account.role] >= rankOf.ADMIN && account.scopes.includes('workspace:admin')
  return isAdmin ? tx.part`true` : tx.part`params ->> 'requested_by' = ${account.accountId}`
}

/** The job that a condition selects. */
export async function readJob(tx: Tx, where: ReturnType<Tx['part']>): Promise<JobRef | undefined> {
  const [row] = await tx<JobRow[]>`
    select id as job_id, kind, state, queued_at, progress, started_at, finished_at, failure, result from job where ${where}`
  return row && { ...row, progress: 'phase' in row.progress ? (row.progress as JobProgress) : nothingDone }
}
