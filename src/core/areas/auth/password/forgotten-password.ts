/**
 * A forgotten password: a mail with a link, and a new password for the holder of the link.
 *
 *    :forgot ──job──▶ mail goes to the address that was given, its token is minted ──:reset──▶ new password, every session ends
 *                       └─ an hour passes, another mail goes, or it was used ─▶ 410
 *
 * A known and an unknown address get the same answer at the same cost: both queue a job, and the
 * job looks the account up. The token is created when the mail is sent and stored only as a hash,
 * so no queue, log or dump ever holds it (docs/decisions/0052). In the link it follows a `#`, which
 * browsers do not send to servers.
 *
 * Spec: Admin: workspaces, rule 2; InstanceSettings (password_self_service_reset).
 */
import { z } from 'zod'
import type { passwordOperations as ops } from '../../../contract/auth/operations.ts'
import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import { admitted } from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { refuseWhileGated } from '../../../kernel/transaction/gate.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import { type Actor, anyone, type SystemActor } from '../../../kernel/values/actor.ts'
import { newId } from '../../../kernel/values/id.ts'
import { dateNow } from '../../../kernel/values/time.ts'
import { hashToken, isTokenShaped, mintToken } from '../../../kernel/values/token.ts'
import { otherAddressesOf } from '../../access/addresses.ts'
import { hasRole } from '../../access/held-role.ts'
import { isIssued } from '../../access/issued-moment.ts'
import { tellAccount } from '../../mail/jobs.ts'
import { composeMail, type Place } from '../../mail/message.ts'
import { deliver } from '../../mail/transport.ts'
import { readSettings } from '../../settings/settings.ts'
import { confirmBy } from '../addresses/changing.ts'
import { mailInvitationAgain } from '../invitation-mail.ts'
import { forgetFailures, subjectOf } from '../sign-in/sign-in-lock.ts'
import { readSignIn, switchedOff } from '../sign-in/sign-in-methods.ts'
import { endOtherTokens, lockAccount } from '../token/ending.ts'
import { endProofs, ownNames } from './change-password.ts'
import { hasherFor } from './hashing-lane.ts'
import { hashNewPassword, passwordFaults, writePassword } from './new-password.ts'

const linkMinutes = 60
const mailsPerHour = 5
/** A second request within this time queues no further mail. */
const singletonSeconds = 60

/**
 * Queues the mail. Refuses auth.password_disabled, auth.password_reset_disabled; nothing else, whatever the address is.
 */
export async function forgetPassword(ctx: Ctx, { body }: Received<typeof ops.forgetPassword>): Promise<void> {
  const facts = await readSignIn(ctx, body.workspace ?? '', body.email)
  if (switchedOff(facts)) refuse('auth.password_disabled')
  const { signIn } = await readSettings(ctx)
  if (!signIn.password_self_service_reset && !facts.openedUntil) refuse('auth.password_reset_disabled')
  // An unknown address queues a job as well, so that neither the queue nor the time of the call tells it apart.
  const [tenantId, accountId] = [facts.tenantId, facts.account?.id ?? newId()]
  const addressId = facts.account ? (facts.account.addressId ?? undefined) : newId()
  const singletonKey = subjectOf(`forgot ${body.workspace ?? ''}`, body.email).toString('hex')
  await ctx.enqueue(sendPasswordReset, { tenantId, accountId, addressId }, { singletonKey, singletonSeconds })
}

const sender: SystemActor = { kind: 'SYSTEM', job: 'send_password_reset' }

/** Creates the token and sends it; the token of an earlier mail stops working. */
export const sendPasswordReset = defineJob({
  name: 'send_password_reset',
  // `addressId`: the address that was given; absent: the account has no row of it.
  payload: z.object({ tenantId: z.guid(), accountId: z.guid(), addressId: z.guid().optional() }),
  // A link is valid for an hour; a person who has waited longer for the mail asks again.
  retryLimit: 6,
  retryDelaySeconds: 30,
  longestRetryDelaySeconds: 900,
  // As many connections as a mail relay allows one sender.
  atOnce: 5,
  async run(installation, { tenantId, accountId, addressId }) {
    const made = await installation.transaction(sender, { tenantId }, (ctx) =>
      mintReset(ctx, { tenantId, accountId, addressId }),
    )
    if (!made) {
      // Somebody who has not joined yet needs the invitation.
      await installation.transaction(sender, { tenantId }, (ctx) => mailInvitationAgain(ctx, tenantId, accountId))
      return
    }
    const { mail } = installation.config
    const { place, recipient, at, id } = made
    const link = resetLink(installation.config, made.slug, made.token)
    await deliver(mail, composeMail({ id, name: 'password_reset', at, link }, place, recipient, mail.from))
  },
})

interface Asker {
  readonly email: string
  readonly display_name: string | null
  readonly slug: string
  readonly workspace_name: string
  readonly default_locale: string
  readonly default_time_zone: string
  readonly sent: number
}

/** Undefined if no mail is to be sent: no such account, one that may not sign in, or too many mails already. */
async function mintReset(
  ctx: Ctx,
  {
    tenantId,
    accountId,
    addressId,
  }: { readonly tenantId: string; readonly accountId: string; readonly addressId: string | undefined },
) {
  void lockAccount(ctx, { tenantId, accountId })
  const [asker] = await ctx.tx<Asker[]>`
    select coalesce(d.email, a.email) as email, a.display_name, t.slug, t.display_name as workspace_name, t.default_locale, t.default_time_zone,
           (select count(*)::int from password_reset r
            where r.tenant_id = a.tenant_id and r.account_id = a.id and r.created_at > now() - interval '1 hour') as sent
    from account a join tenant t on t.id = a.tenant_id and t.state = 'ACTIVE'
    left join account_address d on d.tenant_id = a.tenant_id and d.account_id = a.id and d.id = ${addressId ?? null} and d.held_fold is not null
    where a.tenant_id = ${tenantId} and a.id = ${accountId} and a.state = 'ACTIVE' and ${hasRole(ctx.tx)}
      and (d.id is not null or a.email is not null and ${addressId ?? null}::uuid is null)`
  if (!asker || asker.sent >= mailsPerHour) return undefined
  const id = newId()
  const { token, hash: tokenHash } = mintToken('passwordReset')
  await voidResets(ctx, tenantId, accountId)
  const [row] = await ctx.tx<{ expires_at: string }[]>`
    insert into password_reset (tenant_id, id, account_id, address_id, hash, expires_at)
    values (${tenantId}, ${id}, ${accountId}, ${addressId ?? null}, ${tokenHash}, now() + make_interval(mins => ${linkMinutes})) returning expires_at`
  await ctx.audit('account.password_reset_asked', { subject: { kind: 'account', id: accountId } })
  const { default_locale, default_time_zone } = asker
  const place: Place = { display_name: asker.workspace_name, default_locale, default_time_zone }
  const recipient = { accountId, name: asker.display_name, address: asker.email }
  return { id, token, at: row?.expires_at ?? '', slug: asker.slug, place, recipient }
}

const voidResets = (ctx: Ctx, tenantId: string, accountId: string) =>
  ctx.tx`update password_reset set used_at = now() where tenant_id = ${tenantId} and account_id = ${accountId} and used_at is null`

/** The link: the daemon's own page (daemon/token-pages.ts), with the token after the `#`. */
function resetLink({ publicUrl }: Installation['config'], slug: string, token: string): string {
  const base = publicUrl.replace('{slug}', slug).replace(/\/$/, '')
  return `${base}/set-password#${token}`
}

interface ResetRow {
  readonly tenant_id: string
  readonly id: string
  readonly account_id: string
  readonly email: string | null
  /** Its confirmed addresses besides the primary one. */
  readonly others: readonly string[]
  /** Whether the link went to the primary address, and nobody has confirmed that yet. */
  readonly is_unconfirmed: boolean
}

/** Looks the token up first, so that a wrong one costs no hash. */
export async function hashForReset(
  installation: Installation,
  actor: Actor,
  { body }: Received<typeof ops.resetPassword>,
): Promise<string> {
  const { names, found } = await installation.transaction(anyone, { readOnly: true }, async (ctx) => {
    const row = await findReset(ctx, body.token)
    return {
      found: row,
      names: await ctx.inWorkspace(row.tenant_id, () => ownNames(ctx, row.tenant_id, row.account_id)),
    }
  })
  const account = { tenantId: found.tenant_id, id: found.account_id }
  return hashNewPassword(installation, {
    hasher: hasherFor(actor, found.tenant_id),
    password: body.password,
    pointer: '/password',
    names,
    account,
  })
}

/** Sets the password, once. Refuses auth.reset_invalid, tenant_suspended, installation.recovering. */
export async function resetPassword(
  ctx: Ctx,
  { body }: Received<typeof ops.resetPassword>,
  newHash: string,
): Promise<void> {
  const {
    tenant_id: tenantId,
    id,
    account_id: accountId,
    email: primary,
    others,
    is_unconfirmed,
  } = await findReset(ctx, body.token)
  for (const email of primary === null ? others : [primary, ...others])
    await forgetFailures(ctx, tenantId, subjectOf(tenantId, email))
  await ctx.inWorkspace(tenantId, () =>
    admitted(ctx.tx, { workspace: tenantId }, async () => {
      const [, used] = await Promise.all([
        lockAccount(ctx, { tenantId, accountId }),
        ctx.tx`
          update password_reset set used_at = now() where tenant_id = ${tenantId} and id = ${id} and used_at is null and expires_at > now()`,
      ])
      if (used.count !== 1) refuse('auth.reset_invalid')
      await writePassword(ctx, tenantId, accountId, newHash)
      await endProofs(ctx, { tenantId, accountId, except: null, because: 'password_reset' })
      if (is_unconfirmed) await confirmReader(ctx, { tenantId, accountId })
      const [noticeId] = await Promise.all([
        ctx.audit('account.password_reset', { subject: { kind: 'account', id: accountId } }),
        ctx.emit({ name: 'identity.account.password_changed', data: { id: accountId } }),
      ])
      await tellAccount(ctx, {
        tenantId,
        accountId,
        noticeId,
        name: 'password_reset_done',
        at: dateNow().toISOString(),
      })
    }),
  )
}

/**
 * Whoever uses the link reads the address, which nobody had shown before. What somebody else made until then, who joined by
 * a token that was handed over, does not outlive that.
 */
async function confirmReader(
  ctx: Ctx,
  holder: { readonly tenantId: string; readonly accountId: string },
): Promise<void> {
  await confirmBy(ctx, holder, 'RESET')
  await endOtherTokens(ctx, holder, newId())
}

async function findReset(ctx: Ctx, token: string): Promise<ResetRow> {
  if (!isTokenShaped(token, 'passwordReset')) refuse('auth.reset_invalid')
  const [found] = await ctx.tx<ResetRow[]>`
    select r.tenant_id, r.id, r.account_id, a.email, ${otherAddressesOf(ctx.tx)} as others,
           coalesce(d.is_primary and d.confirmed_at is null, false) as is_unconfirmed
    from password_reset r
    join account a on a.tenant_id = r.tenant_id and a.id = r.account_id
    left join account_address d on d.tenant_id = r.tenant_id and d.id = r.address_id and d.removed_at is null
    where r.hash = ${hashToken(token)} and r.used_at is null and r.expires_at > now()
      and ${isIssued(ctx.tx, ctx.tx.part`r.created_at`)} and a.state = 'ACTIVE' and ${hasRole(ctx.tx)}`
  if (!found) refuse('auth.reset_invalid')
  await refuseWhileGated(ctx.tx, found.account_id)
  return found
}

/** Which rules a password breaks. Checked with no transaction open, because a blocklist is a file. */
export async function prepareCheck(
  installation: Installation,
  _: Actor,
  { body }: Received<typeof ops.checkPassword>,
): Promise<Awaited<ReturnType<typeof passwordFaults>>> {
  const settings = await installation.transaction(anyone, { readOnly: true }, readSettings)
  return passwordFaults(installation, settings, body.password, body.names ?? [])
}

/** Says whether a password would be accepted. */
export const checkPassword = async (
  _: Ctx,
  __: Received<typeof ops.checkPassword>,
  faults: Awaited<ReturnType<typeof prepareCheck>>,
) => ({ acceptable: faults.length === 0, faults: [...faults] })
