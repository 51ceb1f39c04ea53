import { Args, Flags } from '@oclif/core'
import { type Backup, workspaceBackupOperations } from '../../../core/contract/backup/backups.ts'
import { CallerCommand } from '../../base-command.ts'
import { confirmByName } from '../../input/prompts.ts'
import { proofFlags } from '../../input/second-factor-input.ts'
import { moment } from '../../render/moment.ts'

export default class BackupsRemove extends CallerCommand {
  static override summary = 'Remove a backup and its archive'
  static override description =
    'Asks for your password again. The newest good backup of a workspace stays, and so do all while a legal hold is in force. ' +
    'The archive goes as soon as its target obeys.'
  static override examples = [
    '<%= config.bin %> backups remove 0190c9d2-7a3b-7cde-8f01-23456789abcd --confirm 0190c9d2-7a3b-7cde-8f01-23456789abcd',
  ]
  static override args = { backup: Args.string({ ignoreStdin: true, required: true, description: "the backup's id" }) }
  static override flags = {
    confirm: Flags.string({ summary: 'Confirm without a prompt: the id of the backup.', helpValue: 'ID' }),
    ...proofFlags,
  }

  async run(): Promise<Backup> {
    const { args, flags } = await this.parse(BackupsRemove)
    const caller = await this.open(flags)
    const backup = await caller.call(workspaceBackupOperations.getBackup, { backupId: args.backup })
    const of = backup.snapshot_at ? ` of ${moment(backup.snapshot_at)}` : ''
    await confirmByName(backup.id, `The backup${of} is removed for good.`, flags.confirm)
    const sent = { backupId: backup.id, ifMatch: `"${backup.version}"` }
    const removed = await this.callProven(caller, workspaceBackupOperations.removeBackup, sent, flags)
    this.tell('Removed. Its archive goes as soon as the target obeys.')
    return removed
  }
}
