import { Flags } from '@oclif/core'
import { type Mail, mailOperations } from '../../../core/contract/mail/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { pagesOf } from '../../call/caller.ts'
import { askedMails, mailFilterFlags } from '../../input/mail-filter.ts'
import { mailColumns } from '../../render/mail.ts'
import { table } from '../../render/table.ts'

export default class MailList extends CallerCommand {
  static override summary = 'List mails that have not gone, newest first'
  static override description =
    'For operators. Mails wait, are tried again for about a day, or have failed for good; those stay for seven days. Nobody is named: a mail shows the id of its account.'
  static override examples = [
    '<%= config.bin %> mail list',
    '<%= config.bin %> mail list --state FAILED --workspace acme',
    '<%= config.bin %> mail list --kind invitation --jq .data[].failure',
  ]
  static override flags = {
    ...mailFilterFlags,
    max: Flags.integer({ summary: 'The maximum number of mails.', min: 1, default: 50 }),
  }

  async run(): Promise<{ data: Mail[] }> {
    const { flags } = await this.parse(MailList)
    const caller = await this.open(flags)
    const asked = { ...(await askedMails(caller, flags)), size: Math.min(flags.max, 200) }
    const found: Mail[] = []
    let isMore = false
    for await (const page of pagesOf(caller, mailOperations.listMails, asked)) {
      found.push(...page.data)
      isMore = page.next_cursor !== null || found.length > flags.max
      if (found.length >= flags.max) break
    }
    const data = found.slice(0, flags.max)
    await this.show(() => table(data, mailColumns, 'No such mail waits or has failed.'))
    if (isMore) this.tell(`The newest ${flags.max}; --max shows more.`)
    if (data.some(({ state }) => state === 'FAILED' || state === 'RETRYING'))
      this.tell('`svc mail resend` tries again at once. docs/runbooks/mail.md says what each failure means.')
    return { data }
  }
}
