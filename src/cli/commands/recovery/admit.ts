import { Flags } from '@oclif/core'
import type { Admission } from '../../../core/areas/recovery/admit.ts'
import { acceptableCodes, type CheckCode } from '../../../core/contract/recovery-checks.ts'
import { BaseCommand } from '../../base-command.ts'
import { demandBegun, ledgerFlag, withInstallation } from '../../call/recovery-installation.ts'
import { exitCodes } from '../../failure.ts'
import { checkTable } from '../../render/recovery.ts'

export default class RecoveryAdmit extends BaseCommand {
  static override summary = 'Admit workspaces again, once every check passes or is accepted by name'
  static override description =
    'Every session and step-up from before is void: people sign in again. Cursors from before are answered 410. Exits 8, with the gate closed, while a finding is neither mended nor accepted.'
  static override examples = [
    '<%= config.bin %> recovery admit',
    '<%= config.bin %> recovery admit --accept ledger --accept jobs',
  ]
  static override flags = {
    accept: Flags.option({
      summary: 'A finding to admit in spite of; may be given several times.',
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
        `\nThe gate is open. ${admission.sessions_ended} session(s) and ${admission.proofs_voided} proof(s) are void.`,
      )
    } else {
      this.tell(`\nThe gate stays closed: ${admission.refused_by.join(', ')}.`)
      process.exitCode = exitCodes.findings
    }
    return admission
  }
}
