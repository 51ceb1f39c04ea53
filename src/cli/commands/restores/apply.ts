import { Args, Flags } from '@oclif/core'
import { type Restore, restoreOperations } from '../../../core/contract/backup/restores.ts'
import { CallerCommand } from '../../base-command.ts'
import { followRestore } from '../../follow/restores.ts'
import { confirmByName } from '../../input/prompts.ts'
import { proofFlags } from '../../input/second-factor-input.ts'
import { restoreDetails } from '../../render/restore.ts'

export default class RestoresApply extends CallerCommand {
  static override summary = 'Carry out the plan of a restore'
  static override description =
    'Continues only if the plan still holds. A workspace that is in use is closed for the seconds that the plan says. ' +
    'Asks for your password again. With --recovery this command does the work itself.'
  static override examples = [
    '<%= config.bin %> restores apply 0190c9d2-7a3b-7cde-8f01-23456789abcd --plan 5f3a90c1d2e4b678',
  ]
  static override args = {
    restore: Args.string({ ignoreStdin: true, required: true, description: "the restore's id" }),
  }
  static override flags = {
    plan: Flags.string({ summary: 'The hash of the plan, as it was shown.', required: true, helpValue: 'HASH' }),
    confirm: Flags.string({ summary: 'Confirm without a prompt: the slug of the workspace.', helpValue: 'SLUG' }),
    ...proofFlags,
  }

  async run(): Promise<Restore> {
    const { args, flags } = await this.parse(RestoresApply)
    const caller = await this.open(flags)
    const { id, into, tenant } = await caller.call(restoreOperations.getRestore, { restoreId: args.restore })
    if (into === 'REPLACE' && tenant)
      await confirmByName(
        tenant.slug,
        `The workspace ${tenant.slug} is closed for some seconds, and set back.`,
        flags.confirm,
      )
    const sent = { restoreId: id, body: { plan_hash: flags.plan } }
    const applying = await this.callProven(caller, restoreOperations.applyRestore, sent, flags)
    const done = await followRestore(caller, applying)
    this.log(restoreDetails(done))
    return done
  }
}
