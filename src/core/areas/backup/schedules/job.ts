/**
 * Runs of schedules, looked after once a minute.
 *
 *    due ──begin──▶ a row of the due moment ──spread──▶ a backup for each workspace, which waits
 *                     │                                   └─start: there is room in export_jobs─▶ a job ─▶ made, verified
 *                     └──────────────settle: all of them have ended───────────────────────────────────────▶ ended
 *
 * Always true:
 *  - a due moment has one row, whoever sees it, so that it runs once;
 *  - however many moments were missed, the last of them alone is made up;
 *  - each step is a transaction that begins with what is there: killed anywhere, the next minute goes on.
 *
 * The time is the database's. One that is set forward makes one backup early, one that is set back none: moments that have their
 * row are over. What destroys has its own time (backups/expiry.ts). Gate closed: the queue runs no job. Spec: Keeping, 1 and 3.
 */
import { z } from 'zod'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import type { SystemActor } from '../../../kernel/values/actor.ts'
import { beginRun } from './begin.ts'
import { nextRunOf } from './row.ts'
import { settleRuns } from './settle.ts'
import { spreadRuns } from './spread.ts'
import { startWaiting } from './start.ts'

const worker: SystemActor = { kind: 'SYSTEM', job: 'run_backup_schedules' }
/** Schedules of one run; the next one goes on. */
const most = 1000

export const runSchedulesJob = defineJob({
  name: 'run_backup_schedules',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  atOnce: 1,
  takesLong: true,
  cron: '* * * * *',
  async run(installation) {
    await planAgain(installation)
    for (const schedule of await findDue(installation)) await beginRun(installation, worker, schedule)
    await spreadRuns(installation, worker)
    await startWaiting(installation, worker)
    await settleRuns(installation, worker)
  },
})

interface Planned {
  readonly tenant_id: string
  readonly id: string
  readonly cron: string
  readonly time_zone: string
  readonly now: string
}

/** Those that were planned later than it is now: the clock was set back, and their next run would be too late by as much. */
async function planAgain(installation: Installation): Promise<void> {
  await installation.transaction(worker, {}, async ({ tx }) => {
    const found = await tx<Planned[]>`
      select tenant_id, id, cron, time_zone, now() as now from backup_schedule
      where next_run_at is not null and planned_at > now() + interval '1 minute' order by planned_at desc limit ${most}`
    for (const one of found)
      void tx`
        update backup_schedule set next_run_at = ${nextRunOf(one, one.now)}, planned_at = now()
        where tenant_id = ${one.tenant_id} and id = ${one.id} and next_run_at is not null and planned_at > now() + interval '1 minute'`
  })
}

const findDue = (installation: Installation) =>
  installation.transaction(
    worker,
    { readOnly: true },
    ({ tx }) => tx.last<{ tenant_id: string; id: string; target_id: string }[]>`
      select tenant_id, id, target_id from backup_schedule where next_run_at <= now() order by next_run_at limit ${most}`,
  )
