/** A run becomes a backup for each workspace, fifty in a transaction. None has a job yet (start.ts). Spec: Keeping, 3. */
import type { BackupSchedule } from '../../../contract/backup/schedules.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { firstId } from '../../../kernel/transaction/page.ts'
import type { SystemActor } from '../../../kernel/values/actor.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { newId } from '../../../kernel/values/id.ts'

/** Workspaces of one transaction. */
const portion = 50
/** Runs of one minute. */
const most = 1000

interface OpenRun {
  readonly tenant_id: string
  readonly schedule_id: string
  readonly due_at: string
}

export async function spreadRuns(installation: Installation, worker: SystemActor): Promise<void> {
  const runs = await installation.transaction(
    worker,
    { readOnly: true },
    ({ tx }) => tx.last<OpenRun[]>`
      select tenant_id, schedule_id, due_at from backup_run where ended_at is null and not is_spread order by due_at limit ${most}`,
  )
  for (const run of runs)
    while (await installation.transaction(worker, {}, (ctx) => spreadSome(ctx, run))) failpoint('schedule.spread')
}

interface LockedRun extends Pick<BackupSchedule, 'target_id' | 'tenants' | 'recipients'> {
  readonly after: string | null
}

/**
 * Whether there are more. The row of the run is locked: two that spread it take turns, and the second finds it done. So is the
 * schedule's: its removal waits, and finds what was made.
 */
async function spreadSome(ctx: Ctx, { tenant_id: scope, schedule_id, due_at }: OpenRun): Promise<boolean> {
  const { tx } = ctx
  const [run] = await tx<LockedRun[]>`
    select s.target_id, s.tenants, s.recipients, r.after_tenant_id as after
    from backup_run r join backup_schedule s on s.tenant_id = r.tenant_id and s.id = r.schedule_id
    where r.tenant_id = ${scope} and r.schedule_id = ${schedule_id} and r.due_at = ${due_at} and not r.is_spread and r.ended_at is null
    for update of r skip locked for share of s`
  if (!run) return false
  const tenants = await readTenants(ctx, scope, run)
  const outside = run.recipients.map((recipient) => ({ kind: 'OUTSIDE', id: recipient }))
  for (const { id: tenantId, is_leaving } of tenants) {
    if (is_leaving) continue
    // One that is under way still is enough.
    void tx`
      insert into backup (tenant_id, id, target_id, job_id, schedule_id, due_at, is_waiting, recipients)
      select ${tenantId}, ${newId()}, ${run.target_id}, ${newId()}, ${schedule_id}, ${due_at}, true, ${tx.json(outside)}
      where not exists (
        select from backup b where b.tenant_id = ${tenantId} and b.schedule_id = ${schedule_id} and b.state in ('QUEUED', 'RUNNING'))
      on conflict do nothing`
  }
  const last = tenants.at(-1)?.id ?? run.after
  const isOver = tenants.length < portion
  await tx`
    update backup_run set after_tenant_id = ${last}, is_spread = ${isOver}
    where tenant_id = ${scope} and schedule_id = ${schedule_id} and due_at = ${due_at}`
  return !isOver
}

/** The next workspaces, in the order of their ids. One whose deletion was asked for gets no backup. */
function readTenants({ tx }: Ctx, scope: string, { tenants, after }: LockedRun) {
  const named =
    scope !== installationScope
      ? tx.part`id = ${scope}`
      : tenants === null || tenants === 'ALL'
        ? tx.part`true`
        : tx.part`id in ${tx.list(tenants)}`
  return tx<{ id: string; is_leaving: boolean }[]>`
    select id, state = 'PENDING_DELETION' as is_leaving from tenant
    where ${named} and id > ${after ?? firstId}::uuid order by id limit ${portion}`
}
