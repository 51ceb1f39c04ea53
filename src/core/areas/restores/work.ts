/**
 * What every step of a restore works with: the claimed job, the row, and transactions that only the current attempt commits.
 * Spec: Keeping, 3; docs/decisions/0033.
 */
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { openSealed } from '../../kernel/transaction/sealed-values.ts'
import { type JobRun, Superseded } from '../jobs/run.ts'
import type { LedgerFacts } from './erasures.ts'
import { type RestoreRow, readRestore } from './row.ts'

export interface RestoreWork {
  readonly installation: Installation
  readonly job: JobRun
  readonly tenantId: string
  readonly restoreId: string
  readonly row: RestoreRow
  readonly facts: LedgerFacts
  /** An age identity that the caller brought. */
  readonly identity: string | undefined
  /** Whether the workspace that the archive is of is there. */
  readonly isSourcePresent: boolean
}

/** Undefined: the restore is gone. */
export async function openWork(
  installation: Installation,
  job: JobRun,
  facts: LedgerFacts,
): Promise<RestoreWork | undefined> {
  const { tenantId, params } = job.claim
  const restoreId = String(params['restore_id'])
  return installation.transaction(job.actor, { tenantId, readOnly: true }, async (ctx) => {
    const row = await readRestore(ctx, tenantId, restoreId)
    if (!row) return undefined
    const [sealed] = await ctx.tx`
      select from sealed_value where tenant_id = ${tenantId} and kind = 'restore.identity' and owner_id = ${restoreId}`
    const identity = sealed
      ? await openSealed(ctx, { tenantId, kind: 'restore.identity', ownerId: restoreId })
      : undefined
    const isSourcePresent = await ctx.asInstallation(async () => {
      const [source] = await ctx.tx`select from tenant where id = ${row.source_tenant_id}`
      return source !== undefined
    })
    return { installation, job, tenantId, restoreId, row, facts, identity, isSourcePresent }
  })
}

/**
 * Writes how the restore that is under way has ended, and `more` of its columns. The identity that the caller brought goes with it:
 * whoever reads the end finds no secret of it.
 */
export async function writeEnd(
  tx: Ctx['tx'],
  { tenantId, restoreId }: Pick<RestoreWork, 'tenantId' | 'restoreId'>,
  { state, more }: { readonly state: 'DONE' | 'FAILED'; readonly more: Part },
): Promise<void> {
  void tx`
    delete from sealed_value where tenant_id = ${tenantId} and kind = 'restore.identity' and owner_id = ${restoreId}`
  await tx`
    update restore set state = ${state}, ${more}, version = version + 1
    where tenant_id = ${tenantId} and id = ${restoreId} and state in ('PLANNING', 'APPLYING')`
}

/**
 * One transaction of the workspace. The job's row is only read, so that the beats of the attempt wait for none; what two attempts
 * write is the same. Throws Superseded.
 */
export function step<T>(
  { installation, job }: Pick<RestoreWork, 'installation' | 'job'>,
  work: (ctx: Ctx) => Promise<T>,
): Promise<T> {
  const { tenantId, jobId, attempt } = job.claim
  job.signal.throwIfAborted()
  return installation.transaction(job.actor, { tenantId }, async (ctx) => {
    const current = await ctx.tx`
      select from job where tenant_id = ${tenantId} and id = ${jobId} and attempt = ${attempt} and state = 'RUNNING'`
    if (current.length === 0) throw new Superseded('another attempt has the job')
    return work(ctx)
  })
}
