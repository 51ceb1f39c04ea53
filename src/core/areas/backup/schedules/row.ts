/**
 * The row of a schedule, and what is said of it.
 *
 * A schedule belongs to its scope: a workspace, or the installation (nil). Whatever adds one to a scope, or changes one, is in the
 * trail of the workspace, or in the journal. Spec: Keeping, 3.
 */
import type { BackupSchedule } from '../../../contract/backup/schedules.ts'
import { refuseMember } from '../../../contract/problem.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { actsForInstallation } from '../../../kernel/values/actor.ts'
import { servesWorkspace } from '../target.ts'
import { jitterMs, minutesApart, nextDue } from './cron.ts'

export interface ScheduleRow extends Omit<BackupSchedule, 'last_run'> {
  readonly last_run_at: string | null
  readonly last_complete: number | null
  readonly last_failed: number | null
}

/** The columns of an answer. */
export const scheduleColumns = ({ tx }: Pick<Ctx, 'tx'>): Part => tx.part`
  id, name, target_id, cron, time_zone, tenants, keep, verify, recipients, is_enabled, next_run_at, paused_reason, last_run_at,
  last_complete, last_failed, consecutive_failures, created_at, updated_at, version`

export const scheduleOf = ({ last_run_at, last_complete, last_failed, ...row }: ScheduleRow): BackupSchedule => ({
  ...row,
  last_run: last_run_at === null ? null : { at: last_run_at, complete: last_complete ?? 0, failed: last_failed ?? 0 },
})

/** The scope whose schedules a caller sees. */
export const scopeOfSchedules = (ctx: Ctx): string =>
  actsForInstallation(ctx.actor) ? installationScope : ctx.account.tenantId

/** Refuses request.invalid: it is no expression, or its times are closer than the setting allows. */
export function checkCron({ config }: Pick<Ctx, 'config'>, cron: string): void {
  const apart = minutesApart(cron)
  if (apart === undefined) refuseMember('/cron', 'value.format', { format: 'cron' })
  if (apart < config.backupApartMinutes) refuseMember('/cron', 'cron.too_often', { minutes: config.backupApartMinutes })
}

/** Refuses request.invalid: no target that serves the scope. */
export async function checkTarget(ctx: Ctx, scope: string, targetId: string): Promise<void> {
  if (!(await servesWorkspace(ctx, scope, targetId))) refuseMember('/target_id', 'reference.unknown')
}

/** Refuses request.invalid: a workspace names none, an operator has to, and each of them has to be there. */
export async function checkTenants(ctx: Ctx, tenants: BackupSchedule['tenants'] | undefined): Promise<void> {
  if (!actsForInstallation(ctx.actor)) {
    if (tenants !== undefined) refuseMember('/tenants', 'member.unknown')
    return
  }
  if (tenants === undefined || tenants === null) return refuseMember('/tenants', 'member.required')
  if (tenants === 'ALL') return
  if (new Set(tenants).size < tenants.length) refuseMember('/tenants', 'list.unique')
  const there = await ctx.tx<{ id: string }[]>`select id from tenant where id in ${ctx.tx.list(tenants)}`
  const known = new Set(there.map(({ id }) => id))
  const unknown = tenants.findIndex((id) => !known.has(id))
  if (unknown >= 0) refuseMember(`/tenants/${unknown}`, 'reference.unknown')
}

interface RulesOfSchedule {
  readonly verify: BackupSchedule['verify']
  readonly keep: BackupSchedule['keep']
  readonly time_zone: string
}

/** What a schedule says of its backups: one of the workspace, or of the installation; undefined: it was removed. In either role. */
export function findRules(ctx: Ctx, tenantId: string, scheduleId: string): Promise<RulesOfSchedule | undefined> {
  return ctx.asInstallation(async () => {
    for (const scope of [tenantId, installationScope]) {
      const [found] = await ctx.tx<RulesOfSchedule[]>`
        select verify, keep, time_zone from backup_schedule where tenant_id = ${scope} and id = ${scheduleId}`
      if (found) return found
    }
    return undefined
  })
}

/** When it runs next behind a moment, delay included. */
export function nextRunOf(row: Pick<BackupSchedule, 'id' | 'cron' | 'time_zone'>, after: string): string {
  const delay = jitterMs(row.id)
  return new Date(nextDue(row.cron, row.time_zone, Date.parse(after) - delay) + delay).toISOString()
}

/** In the workspace's trail, or in the journal where the schedule is the installation's. */
export async function recordSchedule(
  ctx: Ctx,
  action: 'backup_schedule.created' | 'backup_schedule.changed' | 'backup_schedule.removed',
  id: string,
  params: Readonly<Record<string, unknown>>,
): Promise<void> {
  const evidence = { subject: { kind: 'backup_schedule', id }, params }
  if (actsForInstallation(ctx.actor)) await ctx.journal(action, null, evidence)
  else await ctx.audit(action, evidence)
}
