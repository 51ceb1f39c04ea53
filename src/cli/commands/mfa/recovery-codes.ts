import { secondFactorOperations } from '../../../core/contract/second-factor/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { drawnCodes, keepFlags, keepingCodes, keepThem } from '../../input/recovery-codes.ts'
import { proofFlags } from '../../input/second-factor-input.ts'

export default class MfaRecoveryCodes extends CallerCommand {
  static override summary = 'Make new recovery codes; the old codes stop working'
  static override description = 'Asks for your password and a code again.'
  static override examples = [
    '<%= config.bin %> mfa recovery-codes',
    '<%= config.bin %> mfa recovery-codes --recovery-codes-file codes.txt',
  ]
  static override flags = { ...keepFlags, ...proofFlags }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(MfaRecoveryCodes)
    const caller = await this.open(flags)
    const file = flags['recovery-codes-file']
    const made = await keepingCodes(file, () =>
      this.callProven(caller, secondFactorOperations.regenerateRecoveryCodes, {}, flags),
    )
    await this.show(() => drawnCodes(made, file))
    this.tell(keepThem)
    return made
  }
}
