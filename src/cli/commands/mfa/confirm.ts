import { Flags } from '@oclif/core'
import { identityOperations } from '../../../core/contract/identity/operations.ts'
import { secondFactorOperations } from '../../../core/contract/second-factor/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { drawnCodes, keepFlags, keepingCodes, keepThem } from '../../input/recovery-codes.ts'
import { secretOrAsk } from '../../input/secret-input.ts'

const { confirmTotp, confirmTotpReplacement } = secondFactorOperations

export default class MfaConfirm extends CallerCommand {
  static override summary = 'Finish `mfa enroll` with the first code of the app'
  static override description =
    'The second factor is then in force, and the recovery codes are shown. If the app replaces another one, the recovery codes stay the same.'
  static override examples = ['<%= config.bin %> mfa confirm --code-stdin < code', '<%= config.bin %> mfa confirm']
  static override flags = {
    'code-stdin': Flags.boolean({ summary: 'Read the code from standard input.', exclusive: ['code-file'] }),
    'code-file': Flags.string({ summary: 'Read the code from a file of mode 0600.', helpValue: 'FILE' }),
    ...keepFlags,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(MfaConfirm)
    const caller = await this.open(flags)
    const source = { stdin: flags['code-stdin'], file: flags['code-file'] }
    const code = (await secretOrAsk(source, 'code', 'Code that the app shows:')).replaceAll(' ', '').trim()
    const { second_factor: factor } = await caller.call(identityOperations.getOwnAccount, {})
    if (factor) {
      const replaced = await caller.call(confirmTotpReplacement, { body: { code } })
      this.tell('The new app has replaced the old one. Your recovery codes stay.')
      return replaced
    }
    const file = flags['recovery-codes-file']
    const made = await keepingCodes(file, () => caller.call(confirmTotp, { body: { code } }))
    await this.show(() => drawnCodes(made, file))
    this.tell(`Your second factor is on. Your other sessions have ended. ${keepThem}`)
    return made
  }
}
