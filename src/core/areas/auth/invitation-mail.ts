/**
 * An invitation by mail.
 *
 *    invitation without a hash ──job──▶ its token is minted as the mail leaves ──:redeem──▶ joined
 *
 * The row is there first, with its end; each mail is a row, by which mails are counted. A retry mints the token anew, and the
 * link of the mail before it is void. The token follows a `#`, which browsers do not send. Who asks for a new password
 * before joining gets the invitation once more, with the same end, and a job that notes it.
 *
 * Spec: people 1, N1; docs/decisions/0074, 0378.
 */
import { z } from 'zod'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import type { SystemActor } from '../../kernel/values/actor.ts'
import { newId } from '../../kernel/values/id.ts'
import { mintToken } from '../../kernel/values/token.ts'
import { hasRole } from '../access/held-role.ts'
import { composeMail, type Place, type Recipient } from '../mail/message.ts'
import { deliver } from '../mail/transport.ts'
import { endInvitation } from './sign-in/jobs.ts'
import { lockAccount } from './token/ending.ts'

const sender: SystemActor = { kind: 'SYSTEM', job: 'send_invitation' }

/** Mints the token of an invitation and mails it, if the account still waits for it. */
export const sendInvitation = defineJob({
  name: 'send_invitation',
  payload: z.object({ tenantId: z.guid(), accountId: z.guid(), invitationId: z.guid() }),
  // 30 s, then doubled each time up to 2 h: a relay may be unavailable for most of a day.
  retryLimit: 16,
  retryDelaySeconds: 30,
  longestRetryDelaySeconds: 7200,
  // As many connections as a mail relay allows one sender.
  atOnce: 5,
  async run(installation, { tenantId, accountId, invitationId }) {
    const minted = await installation.transaction(sender, { tenantId }, (ctx) =>
      mintInvitation(ctx, { tenantId, accountId, id: invitationId }),
    )
    if (!minted) return
    const { mail } = installation.config
    const { slug, token, at, place, recipient } = minted
    const notice = {
      id: invitationId,
      name: 'invitation' as const,
      at,
      link: joinLink(installation.config, slug, token),
    }
    await deliver(mail, composeMail(notice, place, recipient, mail.from))
  },
})

interface Named {
  readonly tenantId: string
  readonly accountId: string
  readonly id: string
}

interface InvitedRow extends Place {
  readonly email: string
  readonly name: string | null
  readonly slug: string
  readonly expires_at: string
}

/** Undefined if the account waits for this invitation no more. */
async function mintInvitation(ctx: Ctx, { tenantId, accountId, id }: Named) {
  void lockAccount(ctx, { tenantId, accountId })
  const { token, hash } = mintToken('invitation')
  const [row] = await ctx.tx<InvitedRow[]>`
    select a.email, a.display_name as name, t.slug, t.display_name, t.default_locale, t.default_time_zone, i.expires_at
    from invitation i
    join account a on a.tenant_id = i.tenant_id and a.id = i.account_id and a.state = 'INVITED' and a.email is not null
    join tenant t on t.id = i.tenant_id and t.state = 'ACTIVE'
    where i.tenant_id = ${tenantId} and i.id = ${id} and i.is_mailed and i.used_at is null and i.expires_at > now() and ${hasRole(ctx.tx)}`
  if (!row) return undefined
  await ctx.tx`update invitation set hash = ${hash} where tenant_id = ${tenantId} and id = ${id}`
  const recipient: Recipient = { accountId, name: row.name, address: row.email }
  return { token, slug: row.slug, at: row.expires_at, place: row as Place, recipient }
}

/** The page of the daemon where one joins (daemon/token-pages.ts), with the token after the `#`. */
function joinLink({ publicUrl }: Installation['config'], slug: string, token: string): string {
  return `${publicUrl.replace('{slug}', slug).replace(/\/$/, '')}/join#${token}`
}

const hourSeconds = 3600
const ofAddress = { perHour: 5, minuteSeconds: 60 }

/**
 * Takes the mail out of what the workspace and the address may be mailed; the workspace's lock of roles is held. Refuses
 * mail.limited.
 */
export async function demandMail(ctx: Ctx, tenantId: string, accountId: string): Promise<void> {
  const limited = await limitOfMail(ctx, tenantId, accountId)
  if (!limited) return
  const { limit, seconds, wait } = limited
  const headers = { 'retry-after': String(Math.max(1, Math.ceil(wait))) }
  refuse('mail.limited', { limit, window_seconds: seconds }, { headers })
}

interface Limited {
  readonly limit: number
  readonly seconds: number
  /** In seconds. */
  readonly wait: number
}

async function limitOfMail(ctx: Ctx, tenantId: string, accountId: string): Promise<Limited | undefined> {
  const { tx, config } = ctx
  const most = config.inviteMailsPerHour
  const [[workspace], [address]] = await Promise.all([
    tx<{ wait: number | null }[]>`
      select date_part('epoch', min(created_at) + interval '1 hour' - now()) as wait from (
        select created_at from invitation where tenant_id = ${tenantId} and is_mailed and created_at > now() - interval '1 hour'
        order by created_at desc limit ${most}) s having count(*) >= ${most}`,
    tx<{ sent: number; first_wait: number | null; last_wait: number | null }[]>`
      select count(*)::int as sent, date_part('epoch', min(created_at) + interval '1 hour' - now()) as first_wait,
             date_part('epoch', max(created_at) + interval '1 minute' - now()) as last_wait from (
        select created_at from invitation where tenant_id = ${tenantId} and account_id = ${accountId} and is_mailed
          and created_at > now() - interval '1 hour'
        order by created_at desc limit ${ofAddress.perHour}) s`,
  ])
  if (workspace) return { limit: most, seconds: hourSeconds, wait: workspace.wait ?? 0 }
  if (!address || address.sent === 0) return undefined
  if (address.sent >= ofAddress.perHour)
    return { limit: ofAddress.perHour, seconds: hourSeconds, wait: address.first_wait ?? 0 }
  const wait = address.last_wait ?? 0
  return wait > 0 ? { limit: 1, seconds: ofAddress.minuteSeconds, wait } : undefined
}

/** Mails the open invitation of an invited account once more, with the same end; a mail before it is void. */
export async function mailInvitationAgain(ctx: Ctx, tenantId: string, accountId: string): Promise<void> {
  const { tx } = ctx
  void lockAccount(ctx, { tenantId, accountId })
  const [open] = await tx<{ expires_at: string }[]>`
    select max(i.expires_at) as expires_at from invitation i
    join account a on a.tenant_id = i.tenant_id and a.id = i.account_id and a.state = 'INVITED'
    where i.tenant_id = ${tenantId} and i.account_id = ${accountId} and i.used_at is null and i.expires_at > now()
    having count(*) > 0`
  if (!open || (await limitOfMail(ctx, tenantId, accountId))) return
  const id = newId()
  // A token that was handed over stays: anybody may ask for a new password with the address.
  await tx`
    update invitation set used_at = now()
    where tenant_id = ${tenantId} and account_id = ${accountId} and is_mailed and used_at is null`
  await tx`
    insert into invitation (tenant_id, id, account_id, expires_at, is_mailed)
    values (${tenantId}, ${id}, ${accountId}, ${open.expires_at}, true)`
  await ctx.enqueue(endInvitation, { tenantId, invitationId: id }, { startAfter: new Date(open.expires_at) })
  await ctx.enqueue(sendInvitation, { tenantId, accountId, invitationId: id })
}
