import { Args, Flags } from '@oclif/core'
import { type BackupSchedule, backupScheduleOperations } from '../../../core/contract/backup/schedules.ts'
import { CallerCommand } from '../../base-command.ts'
import { readSchedule, scheduleFlags } from '../../input/schedule-flags.ts'
import { scheduleDetails } from '../../render/backup-schedule.ts'

export default class BackupSchedulesCreate extends CallerCommand {
  static override summary = 'Back workspaces up by a schedule'
  static override description =
    'The expression has five fields: minute (one number), hour, day of the month, month, day of the week. Runs that are missed ' +
    'are made up by one. Each backup is verified, and only then older ones go by --keep. A workspace schedules its own backups; ' +
    'an operator names the workspaces, or --all.'
  static override examples = [
    '<%= config.bin %> backup-schedules create nightly --cron "30 2 * * *" --target disk --all',
    '<%= config.bin %> backup-schedules create weekly --cron "0 4 * * SUN" --time-zone Europe/Zurich --target disk --workspace acme --keep last=4,monthly=12',
  ]
  static override args = {
    name: Args.string({ ignoreStdin: true, required: true, description: 'the name of the schedule' }),
  }
  static override flags = {
    cron: Flags.string({ summary: 'When it runs.', required: true, helpValue: 'CRON' }),
    target: Flags.string({ summary: "The backup target's name or id.", required: true, helpValue: 'TARGET' }),
    ...scheduleFlags,
  }

  async run(): Promise<BackupSchedule> {
    const { args, flags } = await this.parse(BackupSchedulesCreate)
    const caller = await this.open(flags)
    const { target_id = '', ...body } = await readSchedule(caller, flags)
    const schedule = await caller.call(backupScheduleOperations.createBackupSchedule, {
      body: { ...body, name: args.name, cron: flags.cron, target_id },
    })
    this.log(scheduleDetails(schedule))
    this.tell(`A worker runs it. To see how it goes: ${this.following('backup-schedules list', flags)}`)
    return schedule
  }
}
