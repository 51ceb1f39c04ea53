import { Args } from '@oclif/core'
import { type Hold, retentionOperations } from '../../../core/contract/retention/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { holdDetails } from '../../render/hold.ts'

export default class HoldsShow extends CallerCommand {
  static override summary = 'Show one legal hold'
  static override examples = ['<%= config.bin %> holds show 0190c9d2-7a3b-7cde-8f01-23456789abcd']
  static override args = { hold: Args.string({ ignoreStdin: true, required: true, description: "the hold's id" }) }

  async run(): Promise<Hold> {
    const { args, flags } = await this.parse(HoldsShow)
    const caller = await this.open(flags)
    const hold = await caller.call(retentionOperations.getHold, { holdId: args.hold })
    this.log(holdDetails(hold))
    return hold
  }
}
