/**
 * Backups of schedules wait here until there is room: in the workspace's export_jobs, and among those of all schedules, so that one
 * by hand does not wait for ten thousand. Spec: Keeping, 3, N16 ("scheduled ones wait").
 */
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { firstId } from '../../../kernel/transaction/page.ts'
import type { SystemActor } from '../../../kernel/values/actor.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { hasRoomFor } from '../../settings/quotas.ts'
import { backupTenantJob } from '../backups/job.ts'
import { exportQuotas } from '../export-quota.ts'

/** How many of schedules have a job that has not ended. */
const mostBegun = 200
/** Looked at together. */
const portion = 500

interface Waiting {
  readonly tenant_id: string
  readonly id: string
}

export async function startWaiting(installation: Installation, worker: SystemActor): Promise<void> {
  let room = mostBegun - (await countBegun(installation, worker))
  /** Workspaces that have no room: those behind wait, too. */
  const full = new Set<string>()
  for (let last = firstId; room > 0; ) {
    const from: string = last
    const waiting = await installation.transaction(
      worker,
      { readOnly: true },
      ({ tx }) => tx.last<Waiting[]>`
        select tenant_id, id from backup where is_waiting and id > ${from}::uuid order by id limit ${portion}`,
    )
    for (const one of waiting) {
      if (room === 0 || full.has(one.tenant_id)) continue
      const isBegun = await installation.transaction(worker, {}, (ctx) => start(ctx, one))
      failpoint('schedule.started')
      if (isBegun) room -= 1
      else full.add(one.tenant_id)
    }
    if (waiting.length < portion) return
    last = waiting.at(-1)?.id ?? last
  }
}

async function countBegun(installation: Installation, worker: SystemActor): Promise<number> {
  const [row] = await installation.transaction(
    worker,
    { readOnly: true },
    ({ tx }) => tx.last<{ count: number }[]>`
      select count(*)::int as count from backup where state in ('QUEUED', 'RUNNING') and not is_waiting and due_at is not null`,
  )
  return row?.count ?? 0
}

/** Whether it has its job now. */
async function start(ctx: Ctx, { tenant_id: tenantId, id }: Waiting): Promise<boolean> {
  const { tx } = ctx
  const [tenant] = await tx<{ state: string }[]>`select state from tenant where id = ${tenantId} for update`
  const [backup] = await tx<{ job_id: string; target_id: string; schedule_id: string }[]>`
    select job_id, target_id, schedule_id from backup
    where tenant_id = ${tenantId} and id = ${id} and is_waiting for update skip locked`
  if (!backup || !tenant) return false
  if (tenant.state === 'PENDING_DELETION') {
    await tx`delete from backup where tenant_id = ${tenantId} and id = ${id}`
    return false
  }
  if (!(await hasRoomFor(ctx, exportQuotas, 'export_jobs', { tenantId }))) return false

  const { job_id: jobId, target_id, schedule_id } = backup
  void tx`
    insert into job (tenant_id, id, kind, params) values (${tenantId}, ${jobId}, 'BACKUP', ${tx.json({ target_id, schedule_id })})`
  void tx`update backup set is_waiting = false, version = version + 1 where tenant_id = ${tenantId} and id = ${id}`
  const evidence = { subject: { kind: 'backup', id }, params: { target_id, schedule_id } }
  await ctx.inWorkspace(tenantId, () => ctx.audit('tenant.backup_requested', evidence))
  await ctx.enqueue(backupTenantJob, { tenantId, jobId })
  return true
}
