import { Flags } from '@oclif/core'
import type { Admission } from '../../../core/areas/recovery/admit.ts'
import { acceptableCodes, type CheckCode } from '../../../core/contract/recovery-checks.ts'
import { BaseCommand } from '../../base-command.ts'
import { demandBegun, ledgerFlag, withInstallation } from '../../call/recovery-installation.ts'
import { exitCodes } from '../../failure.ts'
import { checkTable } from '../../render/recovery.ts'

export default class RecoveryAdmit extends BaseCommand {
  static override summary = 'Admit workspaces again, after every check has passed or was accepted by name'
  static override description =
    'Ends all earlier sessions and step-ups, so people sign in again. Earlier cursors are answered 410. If a finding is neither fixed nor accepted, the gate stays closed and the command exits 8.'
  static override examples = [
    '<%= config.bin %> recovery admit',
    '<%= config.bin %> recovery admit --accept ledger --accept jobs',
  ]
  static override flags = {
    accept: Flags.option({
      summary: 'A finding to accept; may be given several times.',
      multiple: true,
      options: acceptableCodes,
      helpValue: 'FINDING',
    })(),
    ...ledgerFlag,
  }

  async run(): Promise<Admission> {
    const { flags } = await this.parse(RecoveryAdmit)
    const accept: readonly CheckCode[] = flags.accept ?? []
    const admission = await withInstallation(this.note, async (installation, actor) => {
      await demandBegun(installation)
      const { admitTraffic } = await import('../../../core/areas/recovery/admit.ts')
      return admitTraffic(installation, actor, { accept, ledgers: flags.ledger ?? [] })
    })
    this.log(await checkTable(admission.checks))
    if (admission.admitted) {
      this.tell(
        `\nThe gate is open. ${admission.sessions_ended} session(s) and ${admission.proofs_voided} proof(s) were ended.`,
      )
    } else {
      this.tell(`\nThe gate stays closed because of: ${admission.refused_by.join(', ')}.`)
      process.exitCode = exitCodes.findings
    }
    return admission
  }
}
