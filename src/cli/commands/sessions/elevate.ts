import { Flags } from '@oclif/core'
import { provingOperations } from '../../../core/contract/auth/proving.ts'
import { CallerCommand } from '../../base-command.ts'
import { proofFlags } from '../../input/second-factor-input.ts'
import { moment } from '../../render/moment.ts'

export default class SessionsElevate extends CallerCommand {
  static override summary = 'Confirm your password once for some minutes'
  static override description =
    'Until then, what you do to other accounts asks no further password or code: disabling, enabling, disconnecting, removing a lost second factor. Changes of your own ways in, and commands of operators, always ask. It needs a session: `svc login`.'
  static override examples = [
    '<%= config.bin %> sessions elevate',
    '<%= config.bin %> sessions elevate --minutes 15',
    '<%= config.bin %> sessions elevate --minutes 0',
  ]
  static override flags = {
    minutes: Flags.integer({
      summary: 'For how long, at most 15; 0 ends it.',
      helpValue: 'N',
      min: 0,
      max: 15,
      default: 5,
    }),
    ...proofFlags,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(SessionsElevate)
    const caller = await this.open(flags)
    const body = { minutes: flags.minutes }
    const answer = await this.callProven(caller, provingOperations.elevateSession, { body }, flags)
    this.tell(
      answer.elevated_until === null
        ? 'The session is elevated no more. Each such command asks for your password again.'
        : `The session is elevated until ${moment(answer.elevated_until)}. To end it: svc sessions elevate --minutes 0`,
    )
    return answer
  }
}
