import { Args } from '@oclif/core'
import { backupOperations, type StoredArchive } from '../../../core/contract/backup/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findTarget } from '../../find/backup-targets.ts'
import { moment } from '../../render/moment.ts'
import { withProgress } from '../../render/progress.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<StoredArchive>[] = [
  { head: 'MADE', cell: (backup) => moment(backup.created_at), whole: true },
  { head: 'BYTES', cell: (backup) => String(backup.size_bytes), align: 'right' },
  { head: 'COMPLETE', cell: (backup) => (backup.complete ? 'yes' : 'no') },
  { head: 'BY', cell: (backup) => backup.product_version ?? '' },
  { head: 'PATH', cell: (backup) => backup.path, whole: true },
]

export default class BackupTargetsBackups extends CallerCommand {
  static override summary = 'List the archives at a backup target, newest first'
  static override examples = ['<%= config.bin %> backup-targets backups disk']
  static override args = {
    target: Args.string({ ignoreStdin: true, required: true, description: "the target's name or id" }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(BackupTargetsBackups)
    const caller = await this.open(flags)
    const target = await findTarget(caller, args.target)
    const answer = await withProgress(`Reading the list of archives at ${target.name}`, () =>
      caller.call(backupOperations.listArchives, { targetId: target.id }),
    )
    this.log(await table(answer.data, columns, 'There is no archive at this target. `svc tenants export` makes one.'))
    return answer
  }
}
