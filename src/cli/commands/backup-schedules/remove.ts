import { Args, Flags } from '@oclif/core'
import { backupScheduleOperations } from '../../../core/contract/backup/schedules.ts'
import { CallerCommand } from '../../base-command.ts'
import { findSchedule } from '../../find/backup-schedules.ts'
import { confirmByName } from '../../input/prompts.ts'

export default class BackupSchedulesRemove extends CallerCommand {
  static override summary = 'Remove a schedule; its backups stay until somebody removes them'
  static override examples = ['<%= config.bin %> backup-schedules remove nightly --confirm nightly']
  static override args = {
    schedule: Args.string({ ignoreStdin: true, required: true, description: "the schedule's name or id" }),
  }
  static override flags = {
    confirm: Flags.string({ summary: 'Confirm without a prompt: the name of the schedule.', helpValue: 'NAME' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BackupSchedulesRemove)
    const caller = await this.open(flags)
    const schedule = await findSchedule(caller, args.schedule)
    await confirmByName(
      schedule.name,
      'No further backup is made by it, and none of its backups goes by its rules.',
      flags.confirm,
    )
    await caller.call(backupScheduleOperations.deleteBackupSchedule, {
      scheduleId: schedule.id,
      ifMatch: `"${schedule.version}"`,
    })
    this.tell(`Removed ${schedule.name}. Its backups stay: ${this.following('backups list', flags)}`)
  }
}
