import { Args } from '@oclif/core'
import type { BackupSchedule } from '../../../core/contract/backup/schedules.ts'
import { CallerCommand } from '../../base-command.ts'
import { findSchedule } from '../../find/backup-schedules.ts'
import { scheduleDetails } from '../../render/backup-schedule.ts'

export default class BackupSchedulesShow extends CallerCommand {
  static override summary = 'Show one schedule: when it runs, what it keeps, and how its last run went'
  static override examples = ['<%= config.bin %> backup-schedules show nightly']
  static override args = {
    schedule: Args.string({ ignoreStdin: true, required: true, description: "the schedule's name or id" }),
  }

  async run(): Promise<BackupSchedule> {
    const { args, flags } = await this.parse(BackupSchedulesShow)
    const schedule = await findSchedule(await this.open(flags), args.schedule)
    this.log(scheduleDetails(schedule))
    return schedule
  }
}
