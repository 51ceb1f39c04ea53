/** Schedules of backups: listed, added, changed, removed. Spec: Keeping, 3, N12–N15. */
import { type Keep, type backupScheduleOperations as ops, usualKeep } from '../../../contract/backup/schedules.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse, refuseMember } from '../../../contract/problem.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import type { Actor } from '../../../kernel/values/actor.ts'
import { newId } from '../../../kernel/values/id.ts'
import { knownTimeZone } from '../../../kernel/values/locale.ts'
import { hasScratch } from '../loading/scratch.ts'
import { vetRecipientList } from '../recipients.ts'
import {
  checkCron,
  checkTarget,
  checkTenants,
  nextRunOf,
  recordSchedule,
  type ScheduleRow,
  scheduleColumns,
  scheduleOf,
  scopeOfSchedules,
} from './row.ts'

/** Of a scope. */
const mostSchedules = 20

/** Oldest first. */
export async function listBackupSchedules(ctx: Ctx): Promise<Answer<typeof ops.listBackupSchedules>> {
  const rows = await ctx.tx.last<ScheduleRow[]>`
    select ${scheduleColumns(ctx)} from backup_schedule where tenant_id = ${scopeOfSchedules(ctx)} order by id limit ${mostSchedules}`
  return { data: rows.map(scheduleOf) }
}

/**
 * Tries to encrypt for each recipient, and looks for a database for tries where one is asked for, with no transaction open. Refuses
 * request.invalid, backup.no_scratch.
 */
export async function vetSchedule(
  installation: Installation,
  _actor: Actor,
  { body: { recipients = [], verify } }: Received<typeof ops.createBackupSchedule | typeof ops.changeBackupSchedule>,
): Promise<void> {
  await vetRecipientList(recipients)
  if (verify === 'RESTORE' && !(await hasScratch(installation))) refuse('backup.no_scratch')
}

/** Refuses request.invalid, structure.full. */
export async function createBackupSchedule(
  ctx: Ctx,
  { body }: Received<typeof ops.createBackupSchedule>,
): Promise<Answer<typeof ops.createBackupSchedule>> {
  const { tx } = ctx
  const scope = scopeOfSchedules(ctx)
  const { name, target_id, cron, recipients = [], verify = 'HASHES', is_enabled = true } = body
  checkCron(ctx, cron)
  const keep = keptAs(usualKeep, body.keep)
  const zone = body.time_zone === undefined ? await zoneOf(ctx, scope) : knownTimeZone(body.time_zone, '/time_zone')
  await checkTenants(ctx, body.tenants)
  await checkTarget(ctx, scope, target_id)
  await takePlace(ctx, scope)

  const id = newId()
  const next = is_enabled ? nextRunOf({ id, cron, time_zone: zone }, await ctx.now()) : null
  const tenants = body.tenants === undefined ? null : tx.json(body.tenants)
  const [row] = await tx<ScheduleRow[]>`
    insert into backup_schedule (tenant_id, id, name, target_id, cron, time_zone, tenants, keep, verify, recipients, is_enabled, next_run_at)
    values (${scope}, ${id}, ${name}, ${target_id}, ${cron}, ${zone}, ${tenants}, ${tx.json(keep)}, ${verify}, ${tx.json(recipients)},
            ${is_enabled}, ${next})
    returning ${scheduleColumns(ctx)}`
  await recordSchedule(ctx, 'backup_schedule.created', id, { target_id })

  if (!row) throw new Error('an inserted schedule was not returned')
  return scheduleOf(row)
}

/** Refuses not_found, precondition.failed, request.invalid. */
export async function changeBackupSchedule(
  ctx: Ctx,
  { scheduleId, body }: Received<typeof ops.changeBackupSchedule>,
): Promise<Answer<typeof ops.changeBackupSchedule>> {
  const { tx } = ctx
  const scope = scopeOfSchedules(ctx)
  const held = await lockSchedule(ctx, scope, scheduleId)
  const next = changed(held, body)
  await checkChange(ctx, scope, body, held)
  const members = Object.keys(body).filter(
    (name) => !isSame(held[name as keyof ScheduleRow], next[name as keyof ScheduleRow]),
  )
  if (members.length === 0) return scheduleOf(held)

  const isMoved = members.some((name) => ['cron', 'time_zone', 'is_enabled'].includes(name))
  const now = await ctx.now()
  const nextRun = !next.is_enabled ? null : isMoved ? nextRunOf(next, now) : held.next_run_at
  const isElsewhere = members.includes('target_id')
  const [row] = await tx<ScheduleRow[]>`
    update backup_schedule set name = ${next.name}, target_id = ${next.target_id}, cron = ${next.cron}, time_zone = ${next.time_zone},
      tenants = ${next.tenants === null ? null : tx.json(next.tenants)}, keep = ${tx.json(next.keep)}, verify = ${next.verify},
      recipients = ${tx.json(next.recipients)}, is_enabled = ${next.is_enabled}, next_run_at = ${nextRun},
      planned_at = case when ${isMoved} then ${now}::timestamptz else planned_at end,
      paused_reason = case when ${isElsewhere} then null else paused_reason end,
      consecutive_failures = case when ${isElsewhere} then 0 else consecutive_failures end,
      updated_at = now(), version = version + 1
    where tenant_id = ${scope} and id = ${scheduleId}
    returning ${scheduleColumns(ctx)}`
  await recordSchedule(ctx, 'backup_schedule.changed', scheduleId, { members })

  if (!row) refuse('not_found')
  return scheduleOf(row)
}

/** Its backups stay, as if they had been made by hand. Refuses not_found, precondition.failed. */
export async function deleteBackupSchedule(
  ctx: Ctx,
  { scheduleId }: Received<typeof ops.deleteBackupSchedule>,
): Promise<void> {
  const { tx } = ctx
  const scope = scopeOfSchedules(ctx)
  const { target_id } = await lockSchedule(ctx, scope, scheduleId)
  const ofScope = scope === installationScope ? tx.part`` : tx.part`and tenant_id = ${scope}`

  // What waits for its turn was never begun.
  void tx`delete from backup where schedule_id = ${scheduleId} and is_waiting ${ofScope}`
  void tx`
    update backup set is_orphaned = true, ruled_by = '[]', keeping_due = false, version = version + 1
    where schedule_id = ${scheduleId} and not is_orphaned ${ofScope}`
  void tx`delete from backup_run where tenant_id = ${scope} and schedule_id = ${scheduleId}`
  void tx`delete from backup_schedule where tenant_id = ${scope} and id = ${scheduleId}`
  await recordSchedule(ctx, 'backup_schedule.removed', scheduleId, { target_id })
}

async function lockSchedule(ctx: Ctx, scope: string, scheduleId: string): Promise<ScheduleRow> {
  const [row] = await ctx.tx<ScheduleRow[]>`
    select ${scheduleColumns(ctx)} from backup_schedule where tenant_id = ${scope} and id = ${scheduleId} for update`
  if (!row) refuse('not_found')
  ctx.unchanged(row.version)
  return row
}

type Change = Received<typeof ops.changeBackupSchedule>['body']

const changed = (held: ScheduleRow, body: Change): ScheduleRow => ({
  ...held,
  name: body.name ?? held.name,
  target_id: body.target_id ?? held.target_id,
  cron: body.cron ?? held.cron,
  time_zone: body.time_zone ?? held.time_zone,
  tenants: body.tenants ?? held.tenants,
  keep: keptAs(held.keep, body.keep),
  verify: body.verify ?? held.verify,
  recipients: body.recipients ?? held.recipients,
  is_enabled: body.is_enabled ?? held.is_enabled,
})

/** What is changed alone: a schedule whose target was removed can be renamed. */
async function checkChange(
  ctx: Ctx,
  scope: string,
  { cron, time_zone, tenants, target_id }: Change,
  held: ScheduleRow,
) {
  if (cron !== undefined) checkCron(ctx, cron)
  if (time_zone !== undefined) knownTimeZone(time_zone, '/time_zone')
  if (tenants !== undefined) await checkTenants(ctx, tenants)
  if (target_id !== undefined && target_id !== held.target_id) await checkTarget(ctx, scope, target_id)
}

/** Refuses request.invalid where nothing would be kept. */
function keptAs(before: Keep, named: Change['keep'] = {}): Keep {
  const of = (name: keyof Keep) => named[name] ?? before[name]
  const keep: Keep = {
    last: of('last'),
    hourly: of('hourly'),
    daily: of('daily'),
    weekly: of('weekly'),
    monthly: of('monthly'),
    yearly: of('yearly'),
    min_days: of('min_days'),
  }
  if (Object.values(keep).every((count) => count === 0)) refuseMember('/keep', 'value.minimum', { minimum: 1 })
  return keep
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

async function zoneOf({ tx }: Ctx, scope: string): Promise<string> {
  if (scope === installationScope) return 'UTC'
  const [tenant] = await tx<{ zone: string }[]>`select default_time_zone as zone from tenant where id = ${scope}`
  return tenant?.zone ?? 'UTC'
}

/** Refuses structure.full. */
async function takePlace({ tx }: Ctx, scope: string): Promise<void> {
  void tx`select pg_advisory_xact_lock(${lockClasses.backupSchedules}, hashtext(${scope}))`
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from backup_schedule where tenant_id = ${scope}`
  if ((row?.count ?? 0) >= mostSchedules) refuse('structure.full', { limit: mostSchedules })
}
