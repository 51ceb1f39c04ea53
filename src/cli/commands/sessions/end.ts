import { Args, Flags } from '@oclif/core'
import { sessionOperations } from '../../../core/contract/auth/operations.ts'
import type { Answer } from '../../../core/contract/operation.ts'
import { CallerCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'

type Revoked = Answer<typeof sessionOperations.revokeOtherSessions>

export default class SessionsEnd extends CallerCommand {
  static override summary = 'End a session of your account, or all but the one of this call'
  static override description =
    'Whoever uses an ended session has to sign in again. `logout` ends the session of this profile.'
  static override examples = [
    '<%= config.bin %> sessions end 0190c9d2-7a3b-7cde-8f01-23456789abcd',
    '<%= config.bin %> sessions end --others',
    '<%= config.bin %> sessions end --others --tokens',
  ]
  static override args = {
    session: Args.string({ ignoreStdin: true, description: "the session's id, as `sessions list` shows it" }),
  }
  static override flags = {
    others: Flags.boolean({ summary: 'End every session but the one of this call.' }),
    tokens: Flags.boolean({
      summary: 'With --others: also revoke your access tokens, and what they made, but the one of this call.',
      dependsOn: ['others'],
    }),
  }

  async run(): Promise<{ ended: string[] } | Revoked> {
    const { args, flags } = await this.parse(SessionsEnd)
    if ((args.session === undefined) === !flags.others)
      throw new Failure('usage', 'Name one session, or --others.', '`svc sessions list` shows your sessions.')
    const caller = await this.open(flags)
    if (args.session !== undefined) {
      await caller.call(sessionOperations.endSession, { sessionId: args.session })
      this.tell(`Session ${args.session} has ended. Whoever used it has to sign in again.`)
      return { ended: [args.session] }
    }
    const ended = await caller.call(sessionOperations.revokeOtherSessions, { body: { tokens: flags.tokens } })
    const tokens = flags.tokens
      ? `${ended.tokens} token(s) are revoked.`
      : 'Access tokens go on: `svc tokens list` shows them.'
    this.tell(
      ended.sessions === 0
        ? `There is no other session. ${tokens}`
        : `${ended.sessions} session(s) have ended. ${tokens}`,
    )
    return ended
  }
}
