import { Args } from '@oclif/core'
import { type Restore, restoreOperations } from '../../../core/contract/backup/restores.ts'
import { CallerCommand } from '../../base-command.ts'
import { planned, restoreDetails } from '../../render/restore.ts'

export default class RestoresShow extends CallerCommand {
  static override summary = 'Show one restore: what it would do, how far it is, and until when it can be undone'
  static override examples = ['<%= config.bin %> restores show 0190c9d2-7a3b-7cde-8f01-23456789abcd']
  static override args = {
    restore: Args.string({ ignoreStdin: true, required: true, description: "the restore's id" }),
  }

  async run(): Promise<Restore> {
    const { args, flags } = await this.parse(RestoresShow)
    const caller = await this.open(flags)
    const restore = await caller.call(restoreOperations.getRestore, { restoreId: args.restore })
    this.log(restoreDetails(restore))
    if (restore.state === 'PLANNED' && restore.plan) this.log(`\n${await planned(restore.plan)}`)
    return restore
  }
}
