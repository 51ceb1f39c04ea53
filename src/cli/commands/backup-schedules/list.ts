import { type BackupSchedule, backupScheduleOperations } from '../../../core/contract/backup/schedules.ts'
import { CallerCommand } from '../../base-command.ts'
import { lastRunOf, stateOfSchedule } from '../../render/backup-schedule.ts'
import { moment } from '../../render/moment.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<BackupSchedule>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'STATE', cell: stateOfSchedule, whole: true },
  { head: 'CRON', cell: ({ cron }) => cron, whole: true },
  { head: 'NEXT', cell: ({ next_run_at }) => (next_run_at ? moment(next_run_at) : '') },
  { head: 'LAST', cell: lastRunOf },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]

export default class BackupSchedulesList extends CallerCommand {
  static override summary = 'List the schedules of backups, and how their last runs went'
  static override description =
    "With an operator's token or at the database, lists those of the installation. With a session, lists those of your workspace."
  static override examples = ['<%= config.bin %> backup-schedules list']

  async run(): Promise<{ data: BackupSchedule[] }> {
    const { flags } = await this.parse(BackupSchedulesList)
    const answer = await (await this.open(flags)).call(backupScheduleOperations.listBackupSchedules, {})
    await this.show(() => table(answer.data, columns, 'There is no schedule. `svc backup-schedules create` makes one.'))
    return answer
  }
}
