/** The row of a due moment. Whoever writes it has the run; whoever comes second writes nothing. Spec: Keeping, 3. */
import type { BackupSchedule } from '../../../contract/backup/schedules.ts'
import { Problem } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import type { SystemActor } from '../../../kernel/values/actor.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { targetServing } from '../target.ts'
import { jitterMs, lastDue } from './cron.ts'
import { noteFailures } from './failing.ts'
import { nextRunOf } from './row.ts'

/** How many runs a schedule remembers: more than an hourly one has in the time by which a clock is ever wrong. */
const remembered = 1000

export interface DueSchedule {
  readonly tenant_id: string
  readonly id: string
  readonly target_id: string
}

interface LockedSchedule extends Pick<BackupSchedule, 'id' | 'cron' | 'time_zone' | 'target_id'> {
  readonly now: string
}

export async function beginRun(installation: Installation, worker: SystemActor, due: DueSchedule): Promise<void> {
  const reason = await hindranceOf(installation, worker, due)
  await installation.transaction(worker, {}, async (ctx) => {
    const { tx } = ctx
    const { tenant_id: scope } = due
    // Another target since: the next minute looks at that one.
    const [schedule] = await tx<LockedSchedule[]>`
      select id, cron, time_zone, target_id, now() as now from backup_schedule
      where tenant_id = ${scope} and id = ${due.id} and target_id = ${due.target_id} and next_run_at <= now()
      for update skip locked`
    if (!schedule) return
    const { id, now } = schedule
    const moment = new Date(lastDue(schedule.cron, schedule.time_zone, Date.parse(now) - jitterMs(id))).toISOString()
    const begun = await tx`
      insert into backup_run (tenant_id, schedule_id, due_at, is_spread, ended_at, failure)
      values (${scope}, ${id}, ${moment}, ${reason !== null}, case when ${reason !== null} then now() end, ${reason})
      on conflict do nothing`
    void tx`
      update backup_schedule set next_run_at = ${nextRunOf(schedule, now)}, planned_at = now(), paused_reason = ${reason}
      where tenant_id = ${scope} and id = ${id}`
    if (begun.count === 0) return
    void forgetOld(ctx, scope, id)
    failpoint('schedule.marked')
    if (reason !== null) await noteFailures(ctx, scope, id)
  })
  failpoint('schedule.begun')
}

/** Why no backup can be made now; null: nothing is known against it. */
async function hindranceOf(
  installation: Installation,
  worker: SystemActor,
  { tenant_id, target_id }: DueSchedule,
): Promise<BackupSchedule['paused_reason']> {
  try {
    return (await targetServing(installation, worker, tenant_id, target_id)) ? null : 'TARGET_REMOVED'
  } catch (error) {
    if (error instanceof Problem && error.code === 'secret.unavailable') return 'SECRET_UNAVAILABLE'
    throw error
  }
}

const forgetOld = ({ tx }: Ctx, scope: string, id: string) => tx`
  delete from backup_run where tenant_id = ${scope} and schedule_id = ${id} and ended_at is not null and due_at < (
    select due_at from backup_run where tenant_id = ${scope} and schedule_id = ${id} order by due_at desc offset ${remembered} limit 1)`
