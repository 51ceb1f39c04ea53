import { Flags } from '@oclif/core'
import { Problem } from '../../../core/contract/problem.ts'
import { secondFactorOperations } from '../../../core/contract/second-factor/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import type { Caller } from '../../call/caller.ts'
import { askText, isInteractive } from '../../input/prompts.ts'
import { drawnCodes, keepFlags, keepingCodes, keepThem } from '../../input/recovery-codes.ts'
import { proofFlags } from '../../input/second-factor-input.ts'
import { moment } from '../../render/moment.ts'

const { enrollTotp, confirmTotp, replaceTotp, confirmTotpReplacement } = secondFactorOperations

export default class MfaEnroll extends CallerCommand {
  static override summary = 'Set up an authenticator app as a second factor'
  static override description =
    'Shows a secret for the app. On a terminal it then asks for the first code; elsewhere, give the code to `svc mfa confirm`. ' +
    'Nothing changes before that. Asks for your password again.'
  static override examples = [
    '<%= config.bin %> mfa enroll',
    '<%= config.bin %> mfa enroll --replace',
    '<%= config.bin %> mfa enroll --password-file me.password --json',
  ]
  static override flags = {
    replace: Flags.boolean({ summary: 'Move your second factor to another app.' }),
    ...keepFlags,
    ...proofFlags,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(MfaEnroll)
    const caller = await this.open(flags)
    const begun = await this.callProven(caller, flags.replace ? replaceTotp : enrollTotp, {}, flags)
    if (this.jsonEnabled()) return begun
    this.log(
      `Give your authenticator app this secret:\n\n  ${grouped(begun.secret)}\n\nor this link, as a QR code:\n\n  ${begun.otpauth_uri}\n`,
    )
    if (!isInteractive()) {
      this.tell(`Next, before ${moment(begun.expires_at)}: svc mfa confirm --code-file FILE`)
      return begun
    }
    if (flags.replace) {
      await asked((code) => caller.call(confirmTotpReplacement, { body: { code } }))
      this.tell('The new app has replaced the old one. Your recovery codes stay.')
      return begun
    }
    return this.confirmed(caller, flags['recovery-codes-file'])
  }

  private async confirmed(caller: Caller, file: string | undefined): Promise<unknown> {
    const made = await asked((code) => keepingCodes(file, () => caller.call(confirmTotp, { body: { code } })))
    this.log(`\n${drawnCodes(made, file)}`)
    this.tell(`Your second factor is on. Your other sessions have ended. ${keepThem}`)
    return made
  }
}

const grouped = (secret: string) => secret.replace(/(.{4})(?=.)/g, '$1 ')

const attempts = 3

/** Asks for the app's code until it is right, three times at most. */
async function asked<T>(confirm: (code: string) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const typed = await askText(
      attempt === 1 ? 'Code that the app shows:' : 'That code was wrong. Code that the app shows now:',
      (code) => (/^[0-9 ]+$/.test(code) ? true : 'It is six digits'),
    )
    try {
      return await confirm(typed.replaceAll(' ', ''))
    } catch (error) {
      const isMistyped =
        error instanceof Problem && (error.code === 'auth.second_factor_failed' || error.code === 'request.invalid')
      if (!isMistyped || attempt >= attempts) throw error
    }
  }
}
