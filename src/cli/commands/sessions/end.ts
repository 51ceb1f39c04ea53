import { Args, Flags } from '@oclif/core'
import { sessionOperations } from '../../../core/contract/auth/operations.ts'
import { Problem } from '../../../core/contract/problem.ts'
import { CallerCommand } from '../../base-command.ts'
import { type Caller, pagesOf } from '../../call/caller.ts'
import { Failure } from '../../failure.ts'

export default class SessionsEnd extends CallerCommand {
  static override summary = 'End a session of your account, or all but the one of this call'
  static override description =
    'Whoever uses an ended session has to sign in again. `logout` ends the session of this profile.'
  static override examples = [
    '<%= config.bin %> sessions end 0190c9d2-7a3b-7cde-8f01-23456789abcd',
    '<%= config.bin %> sessions end --others',
  ]
  static override args = {
    session: Args.string({ ignoreStdin: true, description: "the session's id, as `sessions list` shows it" }),
  }
  static override flags = {
    others: Flags.boolean({ summary: 'End every session but the one of this call.' }),
  }

  async run(): Promise<{ ended: string[] }> {
    const { args, flags } = await this.parse(SessionsEnd)
    if ((args.session === undefined) === !flags.others)
      throw new Failure('usage', 'Name one session, or --others.', '`svc sessions list` shows your sessions.')
    const caller = await this.open(flags)
    if (args.session !== undefined) {
      await caller.call(sessionOperations.endSession, { sessionId: args.session })
      this.tell(`Session ${args.session} has ended. Whoever used it has to sign in again.`)
      return { ended: [args.session] }
    }
    const ended = await endOthers(caller)
    this.tell(
      ended.length === 0
        ? 'There is no other session.'
        : `${ended.length} session(s) have ended. Access tokens go on: \`svc tokens list\` shows them.`,
    )
    return { ended }
  }
}

/** All are read before one is ended, because an ended one would move the pages. */
async function endOthers(caller: Caller): Promise<string[]> {
  const others: string[] = []
  for await (const { data } of pagesOf(caller, sessionOperations.listSessions, { size: 200 }))
    others.push(...data.filter(({ is_current }) => !is_current).map(({ id }) => id))
  for (const sessionId of others)
    await caller.call(sessionOperations.endSession, { sessionId }).catch((error: unknown) => {
      // It has ended by itself meanwhile.
      if (!(error instanceof Problem) || error.code !== 'not_found') throw error
    })
  return others
}
