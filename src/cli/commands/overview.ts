import { overviewOperations } from '../../core/contract/overview/operations.ts'
import { CallerCommand } from '../base-command.ts'
import { details } from '../render/details.ts'

export default class Overview extends CallerCommand {
  static override summary = 'Show the number of workspaces in each state, and of accounts'
  static override examples = ['<%= config.bin %> overview']

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Overview)
    const caller = await this.open(flags)
    const overview = await caller.call(overviewOperations.getOverview, {})
    const { ACTIVE, SUSPENDED, PENDING_DELETION } = overview.tenants
    this.log(
      details([
        ['installation', caller.where],
        ['mode', overview.mode],
        ['active', ACTIVE],
        ['suspended', SUSPENDED],
        ['pending deletion', PENDING_DELETION],
        ['accounts', overview.accounts],
      ]),
    )
    return overview
  }
}
