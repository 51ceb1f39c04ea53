/**
 * Sends the mail of notifications. Title and access are read together as it leaves, so that nothing is told of what was
 * hidden meanwhile. What was read in the application by then is not mailed.
 *
 * What concerns the own ways in goes to each address of the account, and although it was read: whoever took the account over
 * reads, too. Everything else goes to the primary one alone, if somebody has confirmed it. Spec: people 1, Addresses; 3; docs/decisions/0433, 0480.
 */
import { z } from 'zod'
import type { NotificationCategory } from '../../contract/notifications/categories.ts'
import { mailFolderOf } from '../../kernel/config/mail-settings.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { dateNow } from '../../kernel/values/time.ts'
import { isSeenByAccount } from '../access/account-access.ts'
import { isRestricted } from '../access/restriction.ts'
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
    /** DAILY: a digest, also where several subjects were due together. */
    form: z.enum(['IMMEDIATE', 'DAILY']),
    /** A further address, for what concerns the own ways in; absent: the primary one when the mail leaves. */
    addressId: z.guid().optional(),
  }),
  // 30 s, then doubled each time up to 2 h: a relay may be unavailable for most of a day.
  retryLimit: 16,
  retryDelaySeconds: 30,
  longestRetryDelaySeconds: 7200,
  // Relays limit the connections of one sender.
  atOnce: 5,
  async run(installation, { tenantId, accountId, mailId, form, addressId }) {
    const found = await readForMail(installation, { tenantId, accountId, mailId, addressId })
    const [first] = found?.rows ?? []
    if (!found || !first) return
    const { place, recipient } = found
    const { mail } = installation.config
    const own = { ...mail, folder: mailFolderOf(mail, tenantId) }
    const notice = {
      ...{ id: mailId, name: form === 'DAILY' ? ('digest' as const) : ('notification' as const) },
      // Of a digest when it leaves, else when the newest event happened.
      ...{
        at: form === 'DAILY' ? dateNow().toISOString() : (found.rows.at(-1) ?? first).at,
        params: { title: first.title },
      },
      lines: merged(found.rows)
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

interface MailedRow {
  readonly at: string
  readonly began_at: string
  readonly category: NotificationCategory
  readonly subject: string
  readonly title: string
  readonly text: string | null
  readonly count: number
}

interface ForMail {
  readonly place: Place
  readonly recipient: Recipient
  /** In the order of the events. */
  readonly rows: readonly MailedRow[]
}

interface Named {
  readonly tenantId: string
  readonly accountId: string
  readonly mailId: string
  readonly addressId: string | undefined
}

interface PersonRow {
  readonly email: string
  readonly name: string | null
  readonly locale: string | null
  readonly time_zone: string | null
  /** Whether the address gets what concerns the own ways in alone: it is a further one, or nobody has confirmed it. */
  readonly is_for_security: boolean
  readonly removed_at: string | null
  readonly is_restricted: boolean
}

/**
 * Undefined if the account or the workspace is not ACTIVE any more. Where nobody has confirmed the address a stranger may read
 * what is sent there: it gets what all mail about the own ways in says, and nothing of the work.
 */
const readForMail = (
  installation: Installation,
  { tenantId, accountId, mailId, addressId }: Named,
): Promise<ForMail | undefined> =>
  installation.transaction(sender, { tenantId, readOnly: true }, async ({ tx }) => {
    const [[place], [person], rows] = await Promise.all([
      tx<Place[]>`
        select display_name, default_locale, default_time_zone from tenant where id = ${tenantId} and state = 'ACTIVE'`,
      tx<PersonRow[]>`
        select coalesce(d.email, a.email) as email, a.display_name as name, p.locale, p.time_zone, d.removed_at,
               ${isRestricted(tx)} as is_restricted,
               ${addressId !== undefined} or exists (
                 select from account_address o
                 where o.tenant_id = a.tenant_id and o.account_id = a.id and o.is_primary and o.confirmed_at is null) as is_for_security
        from account a
        left join account_preference p on p.tenant_id = a.tenant_id and p.account_id = a.id
        left join account_address d on d.tenant_id = a.tenant_id and d.account_id = a.id and d.id = ${addressId ?? null}
        where a.tenant_id = ${tenantId} and a.id = ${accountId} and a.state = 'ACTIVE'
          and (d.id is not null or ${addressId ?? null}::uuid is null and a.email is not null)`,
      tx<(Omit<MailedRow, 'title'> & { title: string | null })[]>`
        select n.at, n.began_at, n.category, n.subject, n.text, n.mail_count as count, coalesce(i.title, c.name) as title
        from notification n
        join account a on a.tenant_id = n.tenant_id and a.id = n.account_id
        left join item i on i.tenant_id = n.tenant_id and i.id = n.item_id and i.purged_at is null
        left join container c on c.tenant_id = n.tenant_id and c.id = coalesce(i.container_id, n.container_id)
        left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
        where n.tenant_id = ${tenantId} and n.account_id = ${accountId} and n.mail_id = ${mailId}
          and (n.read_at is null or n.category = 'SECURITY')
          and (n.item_id is null or i.id is not null)
          and ${isSeenByAccount(tx, tenantId, tx.part`coalesce(i.container_id, n.container_id)`)}
        order by n.at, n.id`,
    ])
    if (!place || !person) return undefined
    // Of a restricted account nothing is done but storing it: its own security it is told all the same.
    const told = person.is_restricted ? rows.filter(({ category }) => category === 'SECURITY') : rows
    return {
      place: {
        ...place,
        default_locale: person.locale ?? place.default_locale,
        default_time_zone: person.time_zone ?? place.default_time_zone,
      },
      recipient: { accountId, name: person.name, address: person.email, addressId },
      rows: told
        .filter((row) => !person.is_for_security || isForFormer(row, person))
        .map((row) => ({ ...row, title: row.title ?? place.display_name })),
    }
  })

/** Whether it concerns the own ways in, and began while the account had the address. */
const isForFormer = ({ category, began_at }: Pick<MailedRow, 'category' | 'began_at'>, { removed_at }: PersonRow) =>
  category === 'SECURITY' && (removed_at === null || Date.parse(began_at) <= Date.parse(removed_at))
