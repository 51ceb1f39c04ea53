import { Args } from '@oclif/core'
import { type Hold, retentionOperations } from '../../../core/contract/retention/operations.ts'
import { tenantOperations } from '../../../core/contract/tenants/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { proofFlags } from '../../input/second-factor-input.ts'

export default class HoldsRelease extends CallerCommand {
  static override summary = 'Release a legal hold; the release itself deletes nothing'
  static override description = 'Asks for your password again.'
  static override examples = ['<%= config.bin %> holds release 0190c9d2-7a3b-7cde-8f01-23456789abcd']
  static override args = { hold: Args.string({ ignoreStdin: true, required: true, description: "the hold's id" }) }
  static override flags = { ...proofFlags }

  async run(): Promise<Hold> {
    const { args, flags } = await this.parse(HoldsRelease)
    const caller = await this.open(flags)
    const hold = await this.callProven(caller, retentionOperations.releaseHold, { holdId: args.hold }, flags)
    this.tell(`Released. The hold stays on record.`)
    const { data } = await caller.call(tenantOperations.listTenants, { state: 'PENDING_DELETION' })
    const leaving = data.find(({ id, hold_count }) => id === hold.tenant_id && hold_count === 0)
    if (leaving)
      this.tell(
        `${leaving.slug} is pending deletion, and no hold keeps it any more. To cancel the deletion: ${this.following(`tenants cancel-deletion ${leaving.slug}`, flags)}`,
      )
    return hold
  }
}
