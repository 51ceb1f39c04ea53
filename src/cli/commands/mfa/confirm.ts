import { Flags } from '@oclif/core'
import { identityOperations } from '../../../core/contract/identity/operations.ts'
import { secondFactorOperations } from '../../../core/contract/second-factor/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { drawnCodes, keepFlags, keepingCodes, keepThem } from '../../input/recovery-codes.ts'
import { secretOrAsk } from '../../input/secret-input.ts'

const { confirmTotp, confirmTotpReplacement } = secondFactorOperations

export default class MfaConfirm extends CallerCommand {
  static override summary = 'Put the second factor that `mfa enroll` began in force, with the first code of the app'
  static override description = 'Answers the recovery codes, unless it takes the place of another app.'
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
    const code = (await secretOrAsk(source, 'code', 'The code the app shows:')).replaceAll(' ', '').trim()
    const { second_factor: factor } = await caller.call(identityOperations.getOwnAccount, {})
    if (factor) {
      const replaced = await caller.call(confirmTotpReplacement, { body: { code } })
      this.tell('The new app is in force, the old one is not. Your recovery codes stay.')
      return replaced
    }
    const file = flags['recovery-codes-file']
    const made = await keepingCodes(file, () => caller.call(confirmTotp, { body: { code } }))
    await this.show(() => drawnCodes(made, file))
    this.tell(`Your second factor is on; your other sessions have ended. ${keepThem}`)
    return made
  }
}
