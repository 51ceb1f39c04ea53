/**
 * Sends the mail of notifications. Title and access are read together as it leaves, so that nothing is told of what was
 * hidden meanwhile. What was read in the application by then is not mailed. Spec: people 3; docs/decisions/0433.
 */
import { z } from 'zod'
import type { NotificationCategory } from '../../contract/notifications/categories.ts'
import { mailFolderOf } from '../../kernel/config/mail-settings.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { dateNow } from '../../kernel/values/time.ts'
import { isSeenByAccount } from '../access/account-access.ts'
import { composeMail, type Place, type Recipient } from '../mail/message.ts'
import { deliver } from '../mail/transport.ts'

const sender = { kind: 'SYSTEM', job: 'send_notification' } as const
/** Lines of a mail; the application shows the others. */
const mostLines = 100

export const sendNotification = defineJob({
  name: 'send_notification',
  payload: z.object({
    tenantId: z.guid(),
    accountId: z.guid(),
    mailId: z.guid(),
    form: z.enum(['IMMEDIATE', 'DAILY']),
  }),
  // 30 s, then doubled each time up to 2 h: a relay may be unavailable for most of a day.
  retryLimit: 16,
  retryDelaySeconds: 30,
  longestRetryDelaySeconds: 7200,
  // Relays limit the connections of one sender.
  atOnce: 5,
  async run(installation, { tenantId, accountId, mailId, form }) {
    const [first, ...rest] = await readForMail(installation, tenantId, accountId, mailId)
    if (!first) return
    const { mail } = installation.config
    const own = { ...mail, folder: mailFolderOf(mail, tenantId) }
    const place: Place = first
    const recipient: Recipient = { accountId, name: first.name, address: first.email }
    const rows = [first, ...rest]
    const notice = {
      ...{ id: mailId, name: form === 'DAILY' ? ('digest' as const) : ('notification' as const) },
      ...{ at: dateNow().toISOString(), params: { title: first.title } },
      lines: merged(rows)
        .slice(0, mostLines)
        .map(({ category, title, count, text }) => ({
          category,
          values: { title, count: String(count), text: text ?? '' },
        })),
    }
    await deliver(own, composeMail(notice, place, recipient, mail.from))
  },
})

/** What was told in several hours of one subject is one line; what a rule says is each its own. */
function merged(rows: readonly MailedRow[]): readonly MailedRow[] {
  const lines = new Map<string, MailedRow>()
  for (const row of rows) {
    const key = `${row.category} ${row.subject} ${row.text ?? ''}`
    lines.set(key, { ...row, count: row.count + (lines.get(key)?.count ?? 0) })
  }
  return [...lines.values()]
}

interface MailedRow extends Place {
  readonly subject: string
  readonly email: string
  readonly name: string | null
  readonly category: NotificationCategory
  readonly title: string
  readonly text: string | null
  readonly count: number
}

/** What the mail tells, in the order of the events; nothing if the account or the workspace is not ACTIVE any more. */
const readForMail = (
  installation: Installation,
  tenantId: string,
  accountId: string,
  mailId: string,
): Promise<readonly MailedRow[]> =>
  installation.transaction(
    sender,
    { tenantId, readOnly: true },
    ({ tx }) => tx<MailedRow[]>`
      select a.email, a.display_name as name, w.display_name, coalesce(p.locale, w.default_locale) as default_locale,
             coalesce(p.time_zone, w.default_time_zone) as default_time_zone,
             n.category, n.subject, n.text, n.mail_count as count, coalesce(i.title, c.name, w.display_name) as title
      from notification n
      join account a on a.tenant_id = n.tenant_id and a.id = n.account_id and a.state = 'ACTIVE' and a.email is not null
      join tenant w on w.id = n.tenant_id and w.state = 'ACTIVE'
      left join account_preference p on p.tenant_id = a.tenant_id and p.account_id = a.id
      left join item i on i.tenant_id = n.tenant_id and i.id = n.item_id and i.purged_at is null
      left join container c on c.tenant_id = n.tenant_id and c.id = coalesce(i.container_id, n.container_id)
      left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
      where n.tenant_id = ${tenantId} and n.account_id = ${accountId} and n.mail_id = ${mailId} and n.read_at is null
        and (n.item_id is null or i.id is not null)
        and ${isSeenByAccount(tx, tx.part`coalesce(i.container_id, n.container_id)`)}
      order by n.at, n.id`,
  )
