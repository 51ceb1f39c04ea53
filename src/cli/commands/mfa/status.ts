import { identityOperations } from '../../../core/contract/identity/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { details } from '../../render/details.ts'
import { moment } from '../../render/moment.ts'

export default class MfaStatus extends CallerCommand {
  static override summary = 'Show whether your account has a second factor, and whether it needs one'
  static override examples = ['<%= config.bin %> mfa status']

  async run(): Promise<unknown> {
    const { flags } = await this.parse(MfaStatus)
    const caller = await this.open(flags)
    const account = await caller.call(identityOperations.getOwnAccount, {})
    const { second_factor: factor, second_factor_demanded: demanded } = account
    await this.show(() =>
      details([
        ['account', account.email ?? account.display_name],
        ['second factor', factor ? `on, since ${moment(factor.enrolled_at)}` : 'off'],
        ['recovery codes left', factor?.recovery_codes_left],
        ['required', demanded ? 'yes' : 'no'],
      ]),
    )
    if (demanded && !factor) this.tell('\nSet up a second factor before you do anything else: svc mfa enroll')
    else if (factor && factor.recovery_codes_left < 3)
      this.tell('\nYou have few recovery codes left. To make new ones: svc mfa recovery-codes')
    return { second_factor: factor, second_factor_demanded: demanded }
  }
}
