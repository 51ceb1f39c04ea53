/** Schedules of backups at a desk (backup-desk.ts): made, due, run to their end, and days that pass. */
import { backupTenantJob } from '../../src/core/areas/backup/backups/job.ts'
import { removeBackupsJob } from '../../src/core/areas/backup/backups/removal.ts'
import { verifyBackupJob } from '../../src/core/areas/backup/backups/verification.ts'
import { runSchedulesJob } from '../../src/core/areas/backup/schedules/job.ts'
import type { Backup } from '../../src/core/contract/backup/backups.ts'
import type { BackupSchedule } from '../../src/core/contract/backup/schedules.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import type { BackupDesk } from './backup-desk.ts'

type Named = Pick<BackupSchedule, 'id'>

export const scheduleDesk = ({ both, targetId }: Pick<BackupDesk, 'both' | 'targetId'>) => {
  const { sql, installation } = both
  const usual = { name: 'a schedule', target_id: targetId, cron: '0 2 * * *' }
  const desk = {
    /** An operator's. */
    made: (more: object): Promise<BackupSchedule> =>
      both.call('recovery', ops.createBackupSchedule, { body: { ...usual, ...more } }),
    /** A workspace's own. */
    async madeIn(tenantId: string, more: object): Promise<BackupSchedule> {
      const made = await desk.made({ tenants: 'ALL', ...more })
      await sql`update backup_schedule set tenant_id = ${tenantId}, tenants = null where id = ${made.id}`
      return made
    },
    removed: ({ id }: Named) => both.call('recovery', ops.deleteBackupSchedule, { scheduleId: id }),
    async show({ id }: Named): Promise<BackupSchedule> {
      const { data } = await both.call('recovery', ops.listBackupSchedules, {})
      const found = data.find((one) => one.id === id)
      if (!found) throw new Error('there is no such schedule')
      return found
    },
    async backupsOf({ id }: Named): Promise<Backup[]> {
      const found: Backup[] = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await both.call('recovery', ops.listBackups, {
          schedule_id: id,
          size: 200,
          ...(cursor && { cursor }),
        })
        found.push(...page.data)
        cursor = page.next_cursor
      }
      return found
    },
    runsOf: ({ id }: Named) =>
      sql<{ due_at: string; complete: number; failed: number; failure: string | null; ended_at: string | null }[]>`
        select due_at, complete, failed, failure, ended_at from backup_run where schedule_id = ${id} order by due_at`,
    due: ({ id }: Named) => sql`update backup_schedule set next_run_at = now() where id = ${id}`,
    tick: () => runSchedulesJob.run(installation, {}),
    /** Runs the jobs of backups that are queued, and then those of verifications. */
    async work({ verifies = true } = {}): Promise<void> {
      for (const [kind, job] of [
        ['BACKUP', backupTenantJob],
        ['BACKUP_VERIFY', verifyBackupJob],
      ] as const) {
        if (kind === 'BACKUP_VERIFY' && !verifies) return
        const queued = await sql<{ tenant_id: string; id: string }[]>`
          select j.tenant_id, j.id from job j join backup b on b.tenant_id = j.tenant_id and (b.job_id = j.id or b.verify_job_id = j.id)
          where j.kind = ${kind} and j.state = 'QUEUED' and b.due_at is not null`
        for (const { tenant_id, id } of queued)
          await job.run(installation, { tenantId: tenant_id, jobId: id }).catch(() => {})
      }
    },
    /** A run from its due moment to its end; a day has passed since the one before. */
    async whole(schedule: Named): Promise<void> {
      await desk.dayPassed(schedule)
      await desk.due(schedule)
      await desk.tick()
      await desk.work()
      await desk.tick()
    },
    /** What the schedule has done is a day older. */
    async dayPassed({ id }: Named, days = 1): Promise<void> {
      // By way of a time that none of them has: rows are unique one by one, not behind the statement.
      for (const by of ['-100 years', `100 years ${-days} days`]) {
        await sql`update backup_run set due_at = due_at + ${by}::interval where schedule_id = ${id}`
        await sql`
          update backup set due_at = due_at + ${by}::interval, snapshot_at = snapshot_at + ${by}::interval,
            created_at = created_at + ${by}::interval
          where schedule_id = ${id}`
      }
    },
    /** Both clocks see a time past, twice, with time between; what is marked goes with the next run. */
    async settled(): Promise<void> {
      const seconds = installation.config.purgeSettleSeconds + 1
      await removeBackupsJob.run(installation, {})
      both.clock.pass(seconds)
      both.clock.jump(-seconds)
      await removeBackupsJob.run(installation, {})
      await removeBackupsJob.run(installation, {})
    },
    async mailsOf(name: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(distinct data->>'noticeId')::int as count from pgboss.job where data->>'name' = ${name}`
      return row?.count ?? 0
    },
  }
  return desk
}
export type ScheduleDesk = ReturnType<typeof scheduleDesk>
