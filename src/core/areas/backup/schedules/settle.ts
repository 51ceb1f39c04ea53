/**
 * The end of a run: each of its backups was made and verified, or was not.
 *
 * How it ended for one workspace is said by the backup itself (`run_ok`), in the transaction that knows it: the job that failed, or
 * the verification. What ended elsewhere, such as a verification whose worker was lost, is found here. Spec: Keeping, 3.
 */
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import type { SystemActor } from '../../../kernel/values/actor.ts'
import { noteFailures, noteSuccess } from './failing.ts'

const most = 1000

interface OpenRun {
  readonly tenant_id: string
  readonly schedule_id: string
  readonly due_at: string
}

export async function settleRuns(installation: Installation, worker: SystemActor): Promise<void> {
  await installation.transaction(worker, {}, endedElsewhere)
  const runs = await installation.transaction(
    worker,
    { readOnly: true },
    ({ tx }) => tx.last<OpenRun[]>`
      select r.tenant_id, r.schedule_id, r.due_at from backup_run r
      where r.ended_at is null and r.is_spread and not exists (
        select from backup b where b.schedule_id = r.schedule_id and b.due_at = r.due_at and b.run_ok is null)
      order by r.due_at limit ${most}`,
  )
  for (const run of runs) await installation.transaction(worker, {}, (ctx) => settle(ctx, run))
}

/** Failed, removed, or COMPLETE with a verification that has ended and said nothing. */
const endedElsewhere = async ({ tx }: Ctx): Promise<void> => {
  await tx`
    update backup b set run_ok = false
    where b.due_at is not null and b.run_ok is null and (b.state in ('FAILED', 'REMOVING', 'MISSING') or (b.state = 'COMPLETE' and not exists (
      select from job j where j.tenant_id = b.tenant_id and j.id = b.verify_job_id and j.state in ('QUEUED', 'RUNNING'))))`
}

async function settle(ctx: Ctx, { tenant_id: scope, schedule_id, due_at }: OpenRun): Promise<void> {
  const { tx } = ctx
  const [schedule] = await tx`
    select from backup_schedule where tenant_id = ${scope} and id = ${schedule_id} for update`
  const [run] = await tx<{ begun_at: string }[]>`
    select begun_at from backup_run
    where tenant_id = ${scope} and schedule_id = ${schedule_id} and due_at = ${due_at} and ended_at is null for update`
  if (!schedule || !run) return
  const [made] = await tx<{ complete: number; failed: number }[]>`
    select count(*) filter (where b.run_ok)::int as complete, count(*) filter (where not b.run_ok)::int as failed
    from backup b where b.schedule_id = ${schedule_id} and b.due_at = ${due_at}`
  const { complete = 0, failed = 0 } = made ?? {}
  void tx`
    update backup_run set ended_at = now(), complete = ${complete}, failed = ${failed}
    where tenant_id = ${scope} and schedule_id = ${schedule_id} and due_at = ${due_at}`
  void tx`
    update backup_schedule set last_run_at = ${run.begun_at}, last_complete = ${complete}, last_failed = ${failed}
    where tenant_id = ${scope} and id = ${schedule_id}`
  if (failed > 0) await noteFailures(ctx, scope, schedule_id)
  // A run that found none to back up says nothing.
  else if (complete > 0) void noteSuccess(ctx, scope, schedule_id)
}
