import type { GateState } from '../../../core/areas/recovery/gate.ts'
import type { LedgerStatus } from '../../../core/areas/recovery/ledger/ledger-status.ts'
import { BaseCommand } from '../../base-command.ts'
import { withInstallation } from '../../call/recovery-installation.ts'
import { gateDetails } from '../../render/gate.ts'
import { ledgerMembers } from '../../render/ledger.ts'

export default class RecoveryStatus extends BaseCommand {
  static override summary =
    'Show whether the installation admits workspaces, and where copies of the obligation ledger are'
  static override description = 'Asks every backup target of the installation. Changes nothing.'
  static override examples = ['<%= config.bin %> recovery status']

  async run(): Promise<GateState & { ledger: LedgerStatus }> {
    await this.parse(RecoveryStatus)
    const state = await withInstallation(this.note, async (installation) => {
      const { lookAtGate } = await import('../../../core/areas/recovery/gate.ts')
      const { lookAtLedger } = await import('../../../core/areas/recovery/ledger/ledger-status.ts')
      return { ...(await lookAtGate(installation)), ledger: await lookAtLedger(installation) }
    })
    this.log(gateDetails(state, ledgerMembers(state.ledger)))
    return state
  }
}
