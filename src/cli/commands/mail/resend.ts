import { Args, Flags } from '@oclif/core'
import { type Mail, mailOperations } from '../../../core/contract/mail/operations.ts'
import { Problem } from '../../../core/contract/problem.ts'
import { CallerCommand } from '../../base-command.ts'
import { type Caller, pagesOf } from '../../call/caller.ts'
import { Failure } from '../../failure.ts'
import { askedMails, mailFilterFlags } from '../../input/mail-filter.ts'

interface Resent {
  resent: string[]
  refused: { mail_id: string; code: string }[]
  over: number
}

export default class MailResend extends CallerCommand {
  static override summary = 'Send mails again: one, or all that match'
  static override description =
    'A mail that has failed gets one more attempt; one that is tried again gets its next attempt now. Who reads it, and its link, are decided anew. ' +
    'Exits 8 if some were refused, or if more than --max match.'
  static override examples = [
    '<%= config.bin %> mail resend 0190c9d2-7a3b-7cde-8f01-23456789abcd',
    '<%= config.bin %> mail resend --state FAILED --workspace acme',
    '<%= config.bin %> mail resend --state RETRYING --max 1000 --dry-run',
  ]
  static override args = {
    mail: Args.string({ ignoreStdin: true, description: "one mail's id, as `mail list` shows it; or use --state" }),
  }
  static override flags = {
    ...mailFilterFlags,
    max: Flags.integer({ summary: 'The maximum number of mails.', min: 1, max: 10_000, default: 100 }),
    'dry-run': Flags.boolean({ summary: 'Show what would be sent again, and send nothing.' }),
  }

  async run(): Promise<Mail | Resent | { chosen: string[]; over: number }> {
    const { args, flags } = await this.parse(MailResend)
    if ((args.mail === undefined) === (flags.state === undefined))
      throw new Failure('usage', 'Name one mail, or a --state.', '`svc mail list` shows the mails.')
    const caller = await this.open(flags)
    if (args.mail !== undefined) {
      const mail = await caller.call(mailOperations.resendMail, { mailId: args.mail })
      this.tell(
        `Mail ${mail.id} (${mail.kind}) is due now. \`${this.following('mail list', flags)}\` shows whether it goes.`,
      )
      return mail
    }

    const { chosen, over } = await chosenMails(caller, await askedMails(caller, flags), flags.max)
    this.tell(`${chosen.length} of state ${flags.state}${over > 0 ? `; more than --max ${flags.max} match` : ''}.`)
    if (flags['dry-run']) return { chosen, over }
    const { resent, refused } = await resendEach(caller, chosen)
    await this.show(() =>
      [`Due now: ${resent.length}.`, ...refused.map(({ mail_id, code }) => `Refused: ${mail_id} (${code}).`)].join(
        '\n',
      ),
    )
    if (refused.length > 0 || over > 0) process.exitCode = 8
    return { resent, refused, over }
  }
}

/** `over`: how many more the last page had; at least one if there are more. */
async function chosenMails(caller: Caller, asked: Awaited<ReturnType<typeof askedMails>>, max: number) {
  const chosen: string[] = []
  for await (const page of pagesOf(caller, mailOperations.listMails, { ...asked, size: 200 })) {
    chosen.push(...page.data.map(({ id }) => id))
    if (chosen.length > max || (chosen.length === max && page.next_cursor !== null))
      return { chosen: chosen.slice(0, max), over: Math.max(1, chosen.length - max) }
  }
  return { chosen, over: 0 }
}

/** A mail that has gone in the meantime is no failure of the call. */
async function resendEach(caller: Caller, ids: readonly string[]) {
  const resent: string[] = []
  const refused: Resent['refused'] = []
  for (const mailId of ids) {
    try {
      await caller.call(mailOperations.resendMail, { mailId })
      resent.push(mailId)
    } catch (error) {
      if (!(error instanceof Problem) || (error.code !== 'not_found' && error.code !== 'mail.under_way')) throw error
      refused.push({ mail_id: mailId, code: error.code })
    }
  }
  return { resent, refused }
}
