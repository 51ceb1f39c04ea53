import type { GateState } from '../../../core/recovery/gate.ts'
import { BaseCommand } from '../../base-command.ts'
import { withInstallation } from '../../recovery-installation.ts'
import { gateDetails } from '../../render/gate.ts'

export default class RecoveryStatus extends BaseCommand {
  static override summary = 'Show whether the installation admits workspaces, and if not, why'
  static override examples = ['<%= config.bin %> recovery status']

  async run(): Promise<GateState> {
    await this.parse(RecoveryStatus)
    const state = await withInstallation(this.note, async (installation) => {
      const { lookAtGate } = await import('../../../core/recovery/gate.ts')
      return lookAtGate(installation)
    })
    this.log(gateDetails(state))
    return state
  }
}
