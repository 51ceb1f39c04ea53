/**
 * When a notification is mailed.
 *
 *    IMMEDIATE   behind 120 s of quiet of its subject, or 30 min after the first event; one mail a subject in 30 min. Of more than
 *                three subjects that are due together one mail tells all, in the form of a digest
 *    DAILY       at the next 08:00 of the account's zone, all that waits in one mail
 *
 * A mail is an id that its rows get in the transaction that queues its job. The job reads what is told, and whether it may
 * still be seen, as the mail leaves (sending.ts). What concerns the own ways in goes to each address of the account, as all
 * mail about itself does, and is never gathered with others. Spec: people 1, Addresses; 3; items 10, 14; docs/decisions/0433,
 * 0480, 0518.
 */
import type { NotificationCategory } from '../../contract/notifications/categories.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { nextHour } from '../../kernel/values/day.ts'
import { newId } from '../../kernel/values/id.ts'
import { dateNow } from '../../kernel/values/time.ts'
import { sendNotification } from './sending.ts'

/** Of a digest, in the account's zone. */
export const digestHour = 8
/** How long quiet is waited for at most, and the time between two mails of one subject. */
const mailMinutes = 30
/** Subjects of an account that are mailed one by one. */
const mostSubjects = 3
/** Mails that one turn queues. */
const mailsAtOnce = 100

interface OfSubject {
  readonly account_id: string
  readonly subject: string
}

/** Moves the mail of each of these subjects to where its next quiet moment is. Sends one statement, behind what it counts. */
export function settleQuiet({ tx, config }: Ctx, tenantId: string, subjects: readonly OfSubject[]): void {
  const once = new Map(subjects.map(({ account_id, subject }) => [`${account_id} ${subject}`, { account_id, subject }]))
  if (once.size === 0) return
  void tx`
    with told as (
      select n.account_id, n.subject, min(n.mail_since) as since, max(n.mailed_at) as mailed_at
      from jsonb_to_recordset(${tx.json([...once.values()])}) k (account_id uuid, subject text)
      join notification n on n.tenant_id = ${tenantId} and n.account_id = k.account_id and n.subject = k.subject
        and n.mail_form = 'IMMEDIATE' and n.at > now() - interval '1 day'
      group by n.account_id, n.subject)
    update notification n set mail_due_at = greatest(
      least(now() + make_interval(secs => ${config.notifications.quietSeconds}), t.since + make_interval(mins => ${mailMinutes})),
      t.mailed_at + make_interval(mins => ${mailMinutes}))
    from told t
    where n.tenant_id = ${tenantId} and n.account_id = t.account_id and n.subject = t.subject and n.mail_form = 'IMMEDIATE'
      and n.at > now() - interval '1 day' and n.mail_since is not null and t.since is not null`
}

interface DueRow {
  readonly account_id: string
  readonly form: 'IMMEDIATE' | 'DAILY'
  /** Null: a digest tells of all. */
  readonly subject: string | null
  /** Whether it may be gathered with other subjects. */
  readonly is_plain: boolean
  readonly began_at: string
  /** Null: that of the workspace. */
  readonly time_zone: string | null
}

/** Queues a mail for each that is due; answers whether there was any. `zone`: of the workspace. */
export async function queueMails(ctx: Ctx, tenantId: string, zone: string): Promise<boolean> {
  const due = await findDue(ctx, tenantId)
  if (due.length === 0) return false
  const now = dateNow().getTime()
  // Of an account whose zone is another one now, the digest may be too early.
  const early = due.flatMap((row) => {
    const at = row.form === 'DAILY' ? nextHour(digestHour, Date.parse(row.began_at), row.time_zone ?? zone) : now
    return at > now ? [{ account_id: row.account_id, at: new Date(at) }] : []
  })
  const waiting = new Set(early.map(({ account_id }) => account_id))
  const mails = gathered(due.filter(({ form, account_id }) => form === 'IMMEDIATE' || !waiting.has(account_id)))
  if (early.length > 0) postpone(ctx, tenantId, early)
  const marked = mails.length > 0 ? await mark(ctx, tenantId, mails) : []
  for (const { account_id: accountId, mail_id: mailId, subject } of mails)
    await ctx.enqueue(sendNotification, { tenantId, accountId, mailId, form: subject === null ? 'DAILY' : 'IMMEDIATE' })
  await queueToOthers(
    ctx,
    tenantId,
    marked.filter(({ category }) => category === 'SECURITY'),
  )
  return true
}

/** A mail for each, but one for all of an account that has too many of them at once. */
function gathered(due: readonly DueRow[]): readonly Mail[] {
  const mail = ({ account_id, form, subject }: DueRow): Mail => ({ account_id, form, subject, mail_id: newId() })
  const plain = due.filter(({ form, is_plain }) => form === 'IMMEDIATE' && is_plain)
  const crowded = [...Map.groupBy(plain, ({ account_id }) => account_id).values()].filter(
    ({ length }) => length > mostSubjects,
  )
  const isGathered = new Set(crowded.flat())
  return [
    ...due.filter((row) => !isGathered.has(row)).map(mail),
    ...crowded.flatMap(([row]) => (row ? mail({ ...row, subject: null }) : [])),
  ]
}

interface MarkedRow {
  readonly account_id: string
  readonly mail_id: string
  readonly category: NotificationCategory
}

/** The same mails to each further address that the account has confirmed, and to one that was removed within the day. */
async function queueToOthers(ctx: Ctx, tenantId: string, marked: readonly MarkedRow[]): Promise<void> {
  if (marked.length === 0) return
  const { tx } = ctx
  const mailOf = new Map(marked.map(({ account_id, mail_id }) => [`${account_id} ${mail_id}`, { account_id, mail_id }]))
  const others = await tx<{ account_id: string; mail_id: string; address_id: string }[]>`
    select m.account_id, m.mail_id, d.id as address_id
    from jsonb_to_recordset(${tx.json([...mailOf.values()])}) m (account_id uuid, mail_id uuid)
    join account_address d on d.tenant_id = ${tenantId} and d.account_id = m.account_id and not d.is_primary
      and d.confirmed_at is not null and coalesce(d.removed_at > now() - interval '1 day', true)
    order by d.id`
  for (const { account_id: accountId, mail_id: mailId, address_id: addressId } of others)
    await ctx.enqueue(sendNotification, { tenantId, accountId, mailId, form: 'IMMEDIATE', addressId })
}

/** Whether the notification `n` may be gathered with those of other subjects. */
const isPlain = (tx: Tx): Part => tx.part`n.category not in ('SECURITY', 'ADMINISTRATION')`

const findDue = ({ tx }: Ctx, tenantId: string): Promise<DueRow[]> => tx<DueRow[]>`
  select n.account_id, n.mail_form as form, case n.mail_form when 'IMMEDIATE' then n.subject end as subject,
         bool_and(${isPlain(tx)}) as is_plain, min(n.mail_since) as began_at, p.time_zone
  from (
    select tenant_id, account_id, mail_form, subject, category, mail_since, mail_due_at from notification
    where tenant_id = ${tenantId} and mail_due_at <= now() order by mail_due_at limit ${mailsAtOnce}) n
  left join account_preference p on p.tenant_id = n.tenant_id and p.account_id = n.account_id
  group by n.account_id, n.mail_form, 3, p.time_zone`

function postpone({ tx }: Ctx, tenantId: string, early: readonly { account_id: string; at: Date }[]): void {
  void tx`
    update notification n set mail_due_at = e.at
    from jsonb_to_recordset(${tx.json(early)}) e (account_id uuid, at timestamptz)
    where n.tenant_id = ${tenantId} and n.account_id = e.account_id and n.mail_form = 'DAILY' and n.mail_due_at <= now()`
}

type Mail = Pick<DueRow, 'account_id' | 'form' | 'subject'> & { readonly mail_id: string }

/** The mail of a subject takes all that waits of it, also what is due later; one of many, what is due. Answers what they take. */
const mark = ({ tx }: Ctx, tenantId: string, mails: readonly Mail[]): Promise<MarkedRow[]> => tx<MarkedRow[]>`
    update notification n set mail_id = m.mail_id, mailed_at = now(), mail_since = null, mail_due_at = null
    from jsonb_to_recordset(${tx.json(mails)}) m (account_id uuid, form text, subject text, mail_id uuid)
    where n.tenant_id = ${tenantId} and n.account_id = m.account_id and n.mail_form = m.form and n.mail_since is not null
      and (n.subject = m.subject or m.subject is null and n.mail_due_at <= now() and (m.form = 'DAILY' or ${isPlain(tx)}))
    returning n.account_id, m.mail_id, n.category`

/** The digest of an account whose zone is changed leaves at the new zone's hour. Null: at the hour of the workspace's. */
export function retimeDigest({ tx }: Ctx, tenantId: string, accountId: string, zone: string | null): void {
  // At the latest by which it was due: the turn that finds it looks at the zone again.
  const at = zone === null ? null : new Date(nextHour(digestHour, dateNow().getTime(), zone))
  void tx`
    update notification set mail_due_at = coalesce(${at}::timestamptz, now())
    where tenant_id = ${tenantId} and account_id = ${accountId} and mail_form = 'DAILY' and mail_since is not null`
}
