/**
 * The end of a backup: its row says so first, and then a job takes its archive away, until the target obeys.
 *
 *    REMOVING ──no hold is in force──▶ the archive is removed ──▶ the row goes
 *
 * Killed between the two, the job finds the row again, and removing what is gone is no fault. The bytes of files stay: other
 * archives of the workspace may have them. Spec: Keeping, 1 and 3, K5.
 */
import { z } from 'zod'
import type { workspaceBackupOperations as ops } from '../../../contract/backup/backups.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { firstId } from '../../../kernel/transaction/page.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { trustedTime } from '../../items/trusted-time.ts'
import { removeDeparted } from '../departed.ts'
import { applyKeepRules } from '../keeping/application.ts'
import { withStore } from '../open-store.ts'
import { StoreFailure } from '../store.ts'
import { targetServing } from '../target.ts'
import { record } from './evidence.ts'
import { expireBackups } from './expiry.ts'
import { type BackupRow, backupColumns, backupOf, lockBackups, workspaceOfBackup } from './row.ts'

/** Refuses not_found, precondition.failed, backup.state, backup.kept. */
export async function removeBackup(
  ctx: Ctx,
  { backupId }: Received<typeof ops.removeBackup>,
): Promise<Answer<typeof ops.removeBackup>> {
  const { tx } = ctx
  const { id: tenantId, slug } = await workspaceOfBackup(ctx, backupId)
  void lockBackups(ctx, tenantId)
  void tx`select from backup where tenant_id = ${tenantId} and id = ${backupId} for update`
  const [row] = await tx<BackupRow[]>`
    select ${backupColumns(ctx)} from backup b where b.tenant_id = ${tenantId} and b.id = ${backupId}`
  if (!row) refuse('not_found')
  ctx.unchanged(row.version)
  if (row.state === 'REMOVING') return backupOf(row)
  if (row.state === 'QUEUED' || row.state === 'RUNNING') refuse('backup.state', { state: row.state })
  if (row.is_held || row.is_newest_good) refuse('backup.kept', { reason: row.is_held ? 'HOLD' : 'NEWEST_GOOD' })

  void tx`
    update backup set state = 'REMOVING', version = version + 1 where tenant_id = ${tenantId} and id = ${backupId}`
  await record(ctx, { id: tenantId, slug }, 'tenant.backup_removed', { id: backupId, targetId: row.target_id })
  await ctx.enqueue(removeBackupsJob, {})

  return backupOf({ ...row, state: 'REMOVING', version: row.version + 1 })
}

const worker = { kind: 'SYSTEM', job: 'remove_backups' } as const
/** Of one run; the next one goes on. */
const most = 100

interface Leaving {
  readonly tenant_id: string
  readonly id: string
  readonly target_id: string
  readonly path: string | null
}

export const removeBackupsJob = defineJob({
  name: 'remove_backups',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  atOnce: 1,
  takesLong: true,
  cron: '* * * * *',
  async run(installation) {
    let last = firstId
    for (let count = 0; count < most; count += 1) {
      const backup = await readLeaving(installation, last)
      if (!backup) break
      await remove(installation, backup)
      last = backup.id
    }
    // Behind the removals, because it throws while the clocks differ. What is marked goes with the next run.
    const trusted = await trustedTime(installation, worker)
    if (!trusted) return
    await expireBackups(installation, worker, trusted)
    await applyKeepRules(installation, worker, trusted)
    await removeDeparted(installation, worker, trusted)
  },
})

/**
 * The next that no hold covers. Each is looked for when the one before it is gone: a removal may take minutes, and a hold that is
 * placed meanwhile keeps what is left. In the order of ids, so that one that its target keeps back does not keep the others.
 */
async function readLeaving(installation: Installation, last: string): Promise<Leaving | undefined> {
  const [next] = await installation.transaction(
    worker,
    { readOnly: true },
    ({ tx }) => tx.last<Leaving[]>`
      select b.tenant_id, b.id, b.target_id, b.path from backup b
      where b.state = 'REMOVING' and b.id > ${last}::uuid
        and not exists (select from legal_hold h where h.tenant_id = b.tenant_id and h.released_at is null)
      order by b.id limit 1`,
  )
  return next
}

async function remove(
  installation: Installation,
  { tenant_id: tenantId, id, target_id, path }: Leaving,
): Promise<void> {
  try {
    const target = await targetServing(installation, worker, tenantId, target_id)
    if (target && path !== null) await withStore(installation, target, (store) => store.remove(path))
  } catch (error) {
    // The target is away, or full of faults: it is asked again in a minute.
    if (error instanceof StoreFailure) return
    throw error
  }
  failpoint('backup.removed')
  await installation.transaction(worker, { tenantId }, (ctx) => end(ctx, { id, target_id, tenant_id: tenantId }))
}

/** The end of the row. A hold that came while the target was at work could not stop it: whoever placed it learns of it. */
async function end(ctx: Ctx, { id, target_id, tenant_id: tenantId }: Omit<Leaving, 'path'>): Promise<void> {
  const { tx } = ctx
  const gone = await tx`delete from backup where tenant_id = ${tenantId} and id = ${id} and state = 'REMOVING'`
  const [held] = await tx`select from legal_hold where tenant_id = ${tenantId} and released_at is null limit 1`
  if (gone.count === 0 || !held) return
  const [tenant] = await tx<{ id: string; slug: string }[]>`select id, slug from tenant where id = ${tenantId}`
  if (tenant) await record(ctx, tenant, 'tenant.backup_gone_under_hold', { id, targetId: target_id })
}
