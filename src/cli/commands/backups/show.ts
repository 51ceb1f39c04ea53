import { Args } from '@oclif/core'
import { type Backup, workspaceBackupOperations } from '../../../core/contract/backup/backups.ts'
import { CallerCommand } from '../../base-command.ts'
import { backupDetails } from '../../render/backup.ts'

export default class BackupsShow extends CallerCommand {
  static override summary = 'Show one backup: how far it is, who can read it, and why it stays'
  static override examples = ['<%= config.bin %> backups show 0190c9d2-7a3b-7cde-8f01-23456789abcd']
  static override args = { backup: Args.string({ ignoreStdin: true, required: true, description: "the backup's id" }) }

  async run(): Promise<Backup> {
    const { args, flags } = await this.parse(BackupsShow)
    const caller = await this.open(flags)
    const backup = await caller.call(workspaceBackupOperations.getBackup, { backupId: args.backup })
    this.log(backupDetails(backup))
    return backup
  }
}
