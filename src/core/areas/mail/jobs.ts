/**
 * Mail to a workspace's administrators, and to an account about itself. Elsewhere: to operators (operators.ts).
 *
 *    rule ──enqueue──▶ tell_administrators ──one for each──▶ send_mail ──▶ relay, or folder
 *      └────────────── tellAccount ───────────────────────────▲
 *
 * A rule queues the first job in its own transaction: no commit, no mail. That job reads the
 * workspace's administrators when it runs. The address is read when the mail is sent. Mail to an account about itself goes
 * to each address that it has at that moment, so that nobody takes an account over unseen. Payloads
 * hold ids, the kind's name and a moment. Each recipient has a separate job, so a mailbox that
 * refuses mail neither delays the other recipients nor causes them a second mail.
 *
 * Guaranteed: at least once, with retries for a day. If a worker is killed between the relay's
 * answer and the queue's record, the mail is sent again with the same Message-ID.
 *
 * Spec: Password opening ("administrators told"); docs/decisions/0050 to 0053.
 */
import { z } from 'zod'
import { moment } from '../../contract/vocabulary.ts'
import { mailFolderOf } from '../../kernel/config/mail-settings.ts'
import { insertNotices, type ToldGroup } from '../../kernel/outbox/notice.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob, type RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { accountIdOf, type SystemActor } from '../../kernel/values/actor.ts'
import { newId } from '../../kernel/values/id.ts'
import { dateNow } from '../../kernel/values/time.ts'
import { isRestricted } from '../access/restriction.ts'
import { administratorsOf } from '../access/workspace-role.ts'
import { sweepMailFolder } from './folder.ts'
import { kindOf, type MailName, mailNames } from './kinds.ts'
import { composeMail, type Notice, type Place, type Recipient } from './message.ts'
import { deliver } from './transport.ts'

const notice = z.object({
  tenantId: z.guid(),
  /** The entry of the trail or of the journal about the same event, if there is one. */
  noticeId: z.guid(),
  name: z.enum(mailNames),
  at: moment,
})

/** Queues a mail for each administrator of the workspace, and what they are shown in the application. */
export const tellAdministrators = defineJob({
  name: 'tell_administrators',
  payload: notice,
  retryLimit: 5,
  async run(installation, payload) {
    const { tenantId } = payload
    await installation.transaction({ kind: 'SYSTEM', job: 'tell_administrators' }, { tenantId }, async (ctx) => {
      const administrators = await ctx.tx<{ account_id: string }[]>`
        select a.id as account_id from account a
        where a.tenant_id = ${tenantId} and a.state = 'ACTIVE' and a.email is not null and a.id in (${administratorsOf(ctx.tx, tenantId)})
        order by a.id`
      for (const { account_id } of administrators) await ctx.enqueue(sendMail, { ...payload, accountId: account_id })
      await showAdministrators(ctx, payload)
    })
  },
})

/**
 * Queues a mail to each OWNER of the workspace, of a kind that goes to administrators, and what they are shown in the application:
 * what an OWNER alone decides. The workspace's role is in force.
 */
export async function tellOwners(ctx: Ctx, mail: z.output<typeof notice>): Promise<void> {
  const { tenantId } = mail
  const owners = await ctx.tx<{ account_id: string }[]>`
    select a.id as account_id from membership m join account a on a.tenant_id = m.tenant_id and a.id = m.account_id
    where m.tenant_id = ${tenantId} and m.container_id is null and m.role = 'OWNER' and a.state = 'ACTIVE' and a.email is not null
    order by a.id`
  for (const { account_id } of owners) await ctx.enqueue(sendMail, { ...mail, accountId: account_id })
  if (owners.length === 0) return
  const told = { category: 'ADMINISTRATION', accounts: owners.map(({ account_id }) => account_id) } as const
  await show(ctx, mail, { told, subject: `/tenants/${tenantId}`, actorId: accountIdOf(ctx.actor) })
}

/** Shows it to every administrator but the one who acted, whom the trail's entry names. */
async function showAdministrators(ctx: Ctx, mail: z.output<typeof notice>): Promise<void> {
  const { tenantId, noticeId } = mail
  const [entry] = await ctx.tx<{ actor_account_id: string | null }[]>`
    select actor_account_id from audit_entry where tenant_id = ${tenantId} and id = ${noticeId}`
  const told = { category: 'ADMINISTRATION', administrators: true } as const
  await show(ctx, mail, { told, subject: `/tenants/${tenantId}`, actorId: entry?.actor_account_id ?? null })
}

/**
 * A mail whose event notifies nobody has its notification by this, which names the kind of the mail. `actorId`: who is not told.
 * The workspace's role is in force.
 */
export async function show(
  { tx }: Ctx,
  { tenantId, noticeId, name }: Pick<z.output<typeof notice>, 'tenantId' | 'noticeId' | 'name'>,
  { told, subject, actorId }: { readonly told: ToldGroup; readonly subject: string; readonly actorId: string | null },
): Promise<void> {
  const waiting = {
    ...{ tenant_id: tenantId, id: newId(), event_id: noticeId, event_type: name, at: dateNow().toISOString() },
    ...{ actor_id: actorId, subject, item_id: null, container_id: null, text: null },
    told: [{ ...told, has_own_mail: true as const }],
  }
  await tx`${insertNotices(tx, [waiting])}`
}

const sender: SystemActor = { kind: 'SYSTEM', job: 'send_mail' }

/** Sends one mail to one account, if the account is still a recipient of the kind. */
export const sendMail = defineJob({
  name: 'send_mail',
  // `addressId`: one of the account's addresses; absent: the primary one when the mail leaves.
  payload: notice.extend({ accountId: z.guid(), addressId: z.guid().optional() }),
  // 30 s, then doubled each time up to 2 h: a relay may be unavailable for most of a day.
  retryLimit: 16,
  retryDelaySeconds: 30,
  longestRetryDelaySeconds: 7200,
  // Relays limit the connections of one sender.
  atOnce: 5,
  async run(installation, { tenantId, noticeId, accountId, addressId, name, at }) {
    const found = await readForMail(installation, { tenantId, accountId, addressId }, { id: noticeId, name })
    if (!found) return
    const { mail } = installation.config
    const own = { ...mail, folder: mailFolderOf(mail, tenantId) }
    const told: Notice = { id: noticeId, name, at, params: found.params }
    await deliver(own, composeMail(told, found.place, found.recipient, mail.from))
  },
})

/**
 * Queues a mail to one account about itself: to its primary address, to each that it has confirmed, and to one that this
 * transaction removes. `noticeId` is the trail's entry about the same event. The workspace's role is in force.
 */
export async function tellAccount(
  ctx: Ctx,
  mail: {
    readonly tenantId: string
    readonly accountId: string
    readonly noticeId: string
    readonly name: MailName
    readonly at: string
  },
): Promise<void> {
  const addresses = await ctx.tx<{ id: string }[]>`
    select id from account_address
    where tenant_id = ${mail.tenantId} and account_id = ${mail.accountId} and (held_fold is not null or removed_at = now())
    order by is_primary desc, id`
  if (addresses.length === 0) return ctx.enqueue(sendMail, mail)
  for (const { id } of addresses) await ctx.enqueue(sendMail, { ...mail, addressId: id })
}

interface ForMail {
  readonly place: Place
  readonly recipient: Recipient
  readonly params: Notice['params']
}

/** Undefined if the account is no longer a recipient, or if the account or the workspace no longer exists. */
async function readForMail(
  installation: Installation,
  {
    tenantId,
    accountId,
    addressId,
  }: { readonly tenantId: string; readonly accountId: string; readonly addressId: string | undefined },
  { id, name }: { readonly id: string; readonly name: MailName },
): Promise<ForMail | undefined> {
  // What warns goes to a restricted account, too, and so does what is about itself.
  const { to, warns } = kindOf(name)
  const isForAdministrators = to === 'administrators'
  return installation.transaction(sender, { tenantId, readOnly: true }, async (ctx) => {
    const { tx } = ctx
    const [[person], [place], [entry]] = await Promise.all([
      tx<{ email: string; display_name: string | null; locale: string | null; time_zone: string | null }[]>`
        select coalesce(d.email, a.email) as email, a.display_name, p.locale, p.time_zone from account a
        left join account_preference p on p.tenant_id = a.tenant_id and p.account_id = a.id
        left join account_address d on d.tenant_id = a.tenant_id and d.account_id = a.id and d.id = ${addressId ?? null}
        where a.tenant_id = ${tenantId} and a.id = ${accountId} and a.state = 'ACTIVE'
        and (a.email is not null and ${addressId ?? null}::uuid is null or d.id is not null)
        and (not ${isForAdministrators} or a.id in (${administratorsOf(tx, tenantId)}) and (${warns === true} or not ${isRestricted(tx)}))`,
      tx<Place[]>`select display_name, default_locale, default_time_zone from tenant where id = ${tenantId}`,
      tx<{ params: Record<string, unknown> }[]>`
        select params from audit_entry where tenant_id = ${tenantId} and id = ${id}`,
    ])
    if (!person || !place) return undefined
    const params = to === 'operators' ? await readJournalled(ctx, id) : entry?.params
    return {
      place: {
        ...place,
        default_locale: person.locale ?? place.default_locale,
        default_time_zone: person.time_zone ?? place.default_time_zone,
      },
      recipient: { accountId, name: person.display_name, address: person.email, addressId },
      params,
    }
  })
}

interface Journalled {
  readonly slug: string | null
  readonly subject: string | null
  readonly subject_id: string | null
  readonly by: string | null
  readonly params: Readonly<Record<string, unknown>>
}

/** What a mail to operators says from the journal's entry: the actor and the subject. The journal stores only ids. */
async function readJournalled(ctx: Ctx, id: string): Promise<Notice['params']> {
  const [entry] = await ctx.asInstallation(
    () => ctx.tx<Journalled[]>`
      select j.workspace_slug as slug, coalesce(s.email, s.display_name) as subject, j.subject_id,
             coalesce(a.email, a.display_name, j.actor_account_id::text) as by, j.params
      from journal j
      left join account s on s.tenant_id = j.workspace_id and s.id = j.subject_id and j.subject_kind = 'account'
      left join account a on a.id = j.actor_account_id
      where j.id = ${id}`,
  )
  if (!entry) return undefined
  const { slug, subject, subject_id, by, params } = entry
  const { os_user, host, source, kind, switches, failure, failures } = params
  return {
    account: subject ?? subject_id,
    slug,
    // No account: the operator at the database, the enforcing file, or a purge.
    by: by ?? (os_user === undefined ? (source === 'file' ? 'SVC_SETTINGS_FILE' : 'svc') : `${os_user}@${host}`),
    target: `${kind} ${subject_id}`,
    failure: typeof failure === 'string' ? failure : '',
    failures: typeof failures === 'number' ? failures : 0,
    switches: Array.isArray(switches) ? switches.join(', ') : '',
  }
}

/** The jobs of this area. */
export const mailJobs: readonly RunnableJob[] = [tellAdministrators, sendMail, sweepMailFolder]
