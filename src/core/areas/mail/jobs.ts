/**
 * Mail to a workspace's administrators, and to an account about itself. Elsewhere: to operators (operators.ts).
 *
 *    rule ──enqueue──▶ tell_administrators ──one for each──▶ send_mail ──▶ relay, or folder
 *      └────────────── tellAccount ───────────────────────────▲
 *
 * A rule queues the first job in its own transaction: no commit, no mail. That job reads the
 * workspace's administrators when it runs. The address is read when the mail is sent. Payloads
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
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob, type RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import type { SystemActor } from '../../kernel/values/actor.ts'
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

/** Queues a mail for each administrator of the workspace. */
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
    })
  },
})

const sender: SystemActor = { kind: 'SYSTEM', job: 'send_mail' }

/** Sends one mail to one account, if the account is still a recipient of the kind. */
export const sendMail = defineJob({
  name: 'send_mail',
  payload: notice.extend({ accountId: z.guid() }),
  // 30 s, then doubled each time up to 2 h: a relay may be unavailable for most of a day.
  retryLimit: 16,
  retryDelaySeconds: 30,
  longestRetryDelaySeconds: 7200,
  // Relays limit the connections of one sender.
  atOnce: 5,
  async run(installation, { tenantId, noticeId, accountId, name, at }) {
    const found = await readForMail(installation, tenantId, accountId, { id: noticeId, name })
    if (!found) return
    const { mail } = installation.config
    const own = { ...mail, folder: mailFolderOf(mail, tenantId) }
    const told: Notice = { id: noticeId, name, at, params: found.params }
    await deliver(own, composeMail(told, found.place, found.recipient, mail.from))
  },
})

/** Queues a mail to one account about itself. `noticeId` is the trail's entry about the same event. */
export const tellAccount = (
  ctx: Ctx,
  mail: {
    readonly tenantId: string
    readonly accountId: string
    readonly noticeId: string
    readonly name: MailName
    readonly at: string
  },
): Promise<void> => ctx.enqueue(sendMail, mail)

interface ForMail {
  readonly place: Place
  readonly recipient: Recipient
  readonly params: Notice['params']
}

/** Undefined if the account is no longer a recipient, or if the account or the workspace no longer exists. */
async function readForMail(
  installation: Installation,
  tenantId: string,
  accountId: string,
  { id, name }: { readonly id: string; readonly name: MailName },
): Promise<ForMail | undefined> {
  const { to } = kindOf(name)
  const isForAdministrators = to === 'administrators'
  return installation.transaction(sender, { tenantId, readOnly: true }, async (ctx) => {
    const { tx } = ctx
    const [[person], [place], [entry]] = await Promise.all([
      tx<{ email: string; display_name: string | null; locale: string | null; time_zone: string | null }[]>`
        select a.email, a.display_name, p.locale, p.time_zone from account a
        left join account_preference p on p.tenant_id = a.tenant_id and p.account_id = a.id
        where a.tenant_id = ${tenantId} and a.id = ${accountId} and a.state = 'ACTIVE' and a.email is not null
        and (not ${isForAdministrators} or a.id in (${administratorsOf(tx, tenantId)}))`,
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
      recipient: { accountId, name: person.display_name, address: person.email },
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
