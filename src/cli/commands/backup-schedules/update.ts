import { Args, Flags } from '@oclif/core'
import { type BackupSchedule, backupScheduleOperations } from '../../../core/contract/backup/schedules.ts'
import { CallerCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'
import { findSchedule } from '../../find/backup-schedules.ts'
import { readSchedule, scheduleFlags } from '../../input/schedule-flags.ts'
import { scheduleDetails } from '../../render/backup-schedule.ts'

export default class BackupSchedulesUpdate extends CallerCommand {
  static override summary = 'Change a schedule of backups, turn it off or on'
  static override description =
    'Without its flag a value stays as it is. Another --keep counts from the next verified run on; of its rules those that are named change.'
  static override examples = [
    '<%= config.bin %> backup-schedules update nightly --cron "0 4 * * *"',
    '<%= config.bin %> backup-schedules update nightly --keep daily=30',
    '<%= config.bin %> backup-schedules update nightly --no-enabled',
  ]
  static override args = {
    schedule: Args.string({ ignoreStdin: true, required: true, description: "the schedule's name or id" }),
  }
  static override flags = {
    name: Flags.string({ summary: 'Another name.' }),
    cron: Flags.string({ summary: 'When it runs.', helpValue: 'CRON' }),
    target: Flags.string({ summary: 'Another backup target: its name or id.', helpValue: 'TARGET' }),
    enabled: Flags.boolean({ summary: 'Whether it runs.', allowNo: true }),
    ...scheduleFlags,
  }

  async run(): Promise<BackupSchedule> {
    const { args, flags } = await this.parse(BackupSchedulesUpdate)
    const caller = await this.open(flags)
    const { name, cron, enabled } = flags
    const body = {
      ...(await readSchedule(caller, flags)),
      ...(name === undefined ? {} : { name }),
      ...(cron === undefined ? {} : { cron }),
      ...(enabled === undefined ? {} : { is_enabled: enabled }),
    }
    if (Object.keys(body).length === 0)
      throw new Failure('usage', 'Nothing is given to change.', 'Name --cron, --target, --keep or another flag.')
    const before = await findSchedule(caller, args.schedule)
    const schedule = await caller.call(backupScheduleOperations.changeBackupSchedule, {
      scheduleId: before.id,
      ifMatch: `"${before.version}"`,
      body,
    })
    this.log(scheduleDetails(schedule))
    if (schedule.version === before.version) this.tell('Nothing changed: the schedule already had these values.')
    return schedule
  }
}
