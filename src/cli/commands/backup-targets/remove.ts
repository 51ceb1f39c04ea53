import { Args, Flags } from '@oclif/core'
import { backupOperations } from '../../../core/contract/backup/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { findTarget } from '../../find/backup-targets.ts'
import { confirmByName } from '../../input/prompts.ts'
import { proofFlags } from '../../input/second-factor-input.ts'

export default class BackupTargetsRemove extends CallerCommand {
  static override summary = 'Remove a backup target and its credentials; its archives stay'
  static override description = 'Asks for your password again.'
  static override examples = ['<%= config.bin %> backup-targets remove disk --confirm disk']
  static override args = {
    target: Args.string({ ignoreStdin: true, required: true, description: "the target's name or id" }),
  }
  static override flags = {
    confirm: Flags.string({ summary: 'Confirm without a prompt: the name of the target.', helpValue: 'NAME' }),
    ...proofFlags,
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(BackupTargetsRemove)
    const caller = await this.open(flags)
    const target = await findTarget(caller, args.target)
    await confirmByName(
      target.name,
      `The credentials of ${target.name} are deleted; you need them to add it again.`,
      flags.confirm,
    )
    const sent = { targetId: target.id, ifMatch: `"${target.version}"` }
    await this.callProven(caller, backupOperations.deleteBackupTarget, sent, flags)
    this.tell(`Removed ${target.name}. Its archives are still there.`)
  }
}
