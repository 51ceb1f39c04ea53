import { type BackupTarget, backupOperations } from '../../../core/contract/backup/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { whereOf } from '../../find/backup-targets.ts'
import { day } from '../../render/moment.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<BackupTarget>[] = [
  { head: 'NAME', cell: (target) => target.name },
  { head: 'KIND', cell: (target) => target.kind, whole: true },
  { head: 'WHERE', cell: whereOf },
  { head: 'TESTED', cell: (target) => day(target.last_tested_at) },
  { head: 'ID', cell: (target) => target.id, whole: true },
]

export default class BackupTargetsList extends CallerCommand {
  static override summary = 'List the backup targets'
  static override description =
    "With an operator's token or at the database, lists the targets of the installation, which every workspace can use. With a session, lists the targets of your workspace."
  static override examples = ['<%= config.bin %> backup-targets list']

  async run(): Promise<unknown> {
    const { flags } = await this.parse(BackupTargetsList)
    const answer = await (await this.open(flags)).call(backupOperations.listBackupTargets, {})
    this.log(await table(answer.data, columns, 'There is no backup target yet. `svc backup-targets add` adds one.'))
    return answer
  }
}
