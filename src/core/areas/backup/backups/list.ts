/** The backups that a caller sees. Spec: Keeping, 3, N17 and K4. */
import type { workspaceBackupOperations as ops } from '../../../contract/backup/backups.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { lastId, pageOfRows, pageStart } from '../../../kernel/transaction/page.ts'
import { type BackupRow, backupColumns, backupOf, isVisible } from './row.ts'

/** Newest first: ids rise with the moment. Refuses cursor.invalid. */
export async function listBackups(
  ctx: Ctx,
  { cursor, size, ...filters }: Received<typeof ops.listBackups>,
): Promise<Answer<typeof ops.listBackups>> {
  const { tx } = ctx
  const list = { operation: 'listBackups', filters }
  const before = pageStart(ctx, list, cursor) ?? lastId
  const { tenant_id, target_id, schedule_id, state } = filters
  const ofTenant = tenant_id === undefined ? tx.part`` : tx.part`and b.tenant_id = ${tenant_id}`
  const atTarget = target_id === undefined ? tx.part`` : tx.part`and b.target_id = ${target_id}`
  const bySchedule = schedule_id === undefined ? tx.part`` : tx.part`and b.schedule_id = ${schedule_id}`
  const inState = state === undefined ? tx.part`` : tx.part`and b.state = ${state}`
  const rows = await tx.last<BackupRow[]>`
    select ${backupColumns(ctx)} from backup b
    where ${isVisible(ctx)} and b.id < ${before}::uuid ${ofTenant} ${atTarget} ${bySchedule} ${inState}
    order by b.id desc limit ${size + 1}`
  return pageOfRows(ctx, list, rows.map(backupOf), size)
}

/** Refuses not_found. */
export async function getBackup(
  ctx: Ctx,
  { backupId }: Received<typeof ops.getBackup>,
): Promise<Answer<typeof ops.getBackup>> {
  const [row] = await ctx.tx.last<BackupRow[]>`
    select ${backupColumns(ctx)} from backup b where ${isVisible(ctx)} and b.id = ${backupId}`
  return row ? backupOf(row) : refuse('not_found')
}
