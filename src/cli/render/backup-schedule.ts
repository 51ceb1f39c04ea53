/** One schedule of backups, for people. */
import type { BackupSchedule } from '../../core/contract/backup/schedules.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'

export const stateOfSchedule = ({ is_enabled, paused_reason, consecutive_failures: failures }: BackupSchedule) =>
  !is_enabled ? 'off' : (paused_reason ?? (failures === 0 ? 'on' : `${failures} failed`))

export const lastRunOf = ({ last_run: run }: BackupSchedule) =>
  run === null ? '' : `${moment(run.at)}: ${run.complete} made, ${run.failed} failed`

const keepOf = ({ keep }: BackupSchedule) =>
  Object.entries(keep)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')

const workspacesOf = ({ tenants }: BackupSchedule) =>
  tenants === null ? null : tenants === 'ALL' ? 'all' : tenants.join(', ')

export const scheduleDetails = (schedule: BackupSchedule) =>
  details([
    ['id', schedule.id],
    ['name', schedule.name],
    ['state', stateOfSchedule(schedule)],
    ['cron', `${schedule.cron} (${schedule.time_zone})`],
    ['next run', schedule.next_run_at && moment(schedule.next_run_at)],
    ['last run', lastRunOf(schedule)],
    ['target', schedule.target_id],
    ['workspaces', workspacesOf(schedule)],
    ['keeps', keepOf(schedule)],
    ['verifies', schedule.verify],
    ['readable by', schedule.recipients.join(', ')],
  ])
