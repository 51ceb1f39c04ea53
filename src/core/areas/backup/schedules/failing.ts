/**
 * Runs in a row that failed: from three on a mail, and then one a week, to the workspace's administrators, or to the operators
 * where the schedule is the installation's. Spec: Keeping, 3.
 */
import { installationScope } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { tellAdministrators } from '../../mail/jobs.ts'
import { tellOperators } from '../../mail/operators.ts'

const mailedFrom = 3

/** One more of them, as the installation. */
export async function noteFailures(ctx: Ctx, scope: string, scheduleId: string): Promise<void> {
  const { tx } = ctx
  const [row] = await tx<{ failures: number; is_due: boolean; now: string }[]>`
    select consecutive_failures + 1 as failures, now() as now,
      mailed_at is null or mailed_at <= now() - interval '7 days' or mailed_at > now() as is_due
    from backup_schedule where tenant_id = ${scope} and id = ${scheduleId} for update`
  if (!row) return
  const { failures } = row
  const isMailed = failures >= mailedFrom && row.is_due
  void tx`
    update backup_schedule set consecutive_failures = ${failures} where tenant_id = ${scope} and id = ${scheduleId}`
  if (!isMailed) return
  void tx`update backup_schedule set mailed_at = now() where tenant_id = ${scope} and id = ${scheduleId}`
  const action = 'backup_schedule.failing'
  const evidence = { subject: { kind: 'backup_schedule', id: scheduleId }, params: { failures } }
  if (scope === installationScope) {
    await tellOperators(ctx, 'backups_failing_told', await ctx.journal(action, null, evidence))
    return
  }
  const noticeId = await ctx.inWorkspace(scope, () => ctx.audit(action, evidence))
  await ctx.enqueue(tellAdministrators, { tenantId: scope, noticeId, name: 'backups_failing', at: row.now })
}

/** The end of them. */
export const noteSuccess = ({ tx }: Ctx, scope: string, scheduleId: string) => tx`
  update backup_schedule set consecutive_failures = 0, mailed_at = null where tenant_id = ${scope} and id = ${scheduleId}`
