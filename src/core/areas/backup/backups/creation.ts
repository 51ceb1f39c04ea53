/** `POST /backups`: queues a backup. The trail and the journal name the target, never the content. Spec: Keeping, 3, N16. */
import type { Backup, workspaceBackupOperations as ops } from '../../../contract/backup/backups.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse, refuseMember } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { type Actor, accountIdOf } from '../../../kernel/values/actor.ts'
import { newId } from '../../../kernel/values/id.ts'
import { spend } from '../../settings/quotas.ts'
import { exportQuotas } from '../export-quota.ts'
import { vetRecipientList } from '../recipients.ts'
import { servesWorkspace } from '../target.ts'
import { record } from './evidence.ts'
import { backupTenantJob } from './job.ts'
import { type BackupRow, backupColumns, backupOf, openWorkspace, workspaceMeant } from './row.ts'

/** Tries to encrypt for each recipient, with no transaction open. Refuses request.invalid. */
export async function vetRecipients(
  _installation: Installation,
  _actor: Actor,
  { body: { recipients = [] } }: Received<typeof ops.createBackup>,
): Promise<void> {
  await vetRecipientList(recipients)
}

/** Refuses not_found, request.invalid, admin.tenant_deletion_underway, quota.exceeded. */
export async function createBackup(
  ctx: Ctx,
  { body }: Received<typeof ops.createBackup>,
): Promise<Answer<typeof ops.createBackup>> {
  const { target_id: targetId, recipients = [], keep_days } = body
  const tenantId = workspaceMeant(ctx, body.tenant_id)
  const tenant = await openWorkspace(ctx, tenantId)
  if (tenant.purge_started_at !== null) refuse('admin.tenant_deletion_underway')
  if (!(await servesWorkspace(ctx, tenantId, targetId))) refuseMember('/target_id', 'reference.unknown')
  await spend(ctx, exportQuotas, 'export_jobs', { tenantId })

  const { tx } = ctx
  const [id, jobId] = [newId(), newId()]
  const outside = recipients.map((recipient) => ({ kind: 'OUTSIDE', id: recipient }))
  void tx`
    insert into job (tenant_id, id, kind, params)
    values (${tenantId}, ${jobId}, 'BACKUP', ${tx.json({ target_id: targetId, requested_by: accountIdOf(ctx.actor) })})`
  void tx`
    insert into backup (tenant_id, id, target_id, job_id, recipients, kept_until)
    values (${tenantId}, ${id}, ${targetId}, ${jobId}, ${tx.json(outside)}, now() + ${keep_days ?? null}::integer * interval '1 day')`
  const backup = readBackup(ctx, tenantId, id)
  await record(ctx, tenant, 'tenant.backup_requested', { id, targetId })
  await ctx.enqueue(backupTenantJob, { tenantId, jobId })

  return (await backup) ?? refuse('not_found')
}

async function readBackup(ctx: Ctx, tenantId: string, id: string): Promise<Backup | undefined> {
  const [row] = await ctx.tx<BackupRow[]>`
    select ${backupColumns(ctx)} from backup b where b.tenant_id = ${tenantId} and b.id = ${id}`
  return row && backupOf(row)
}
