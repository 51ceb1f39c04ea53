/**
 * Invitations: a token that lets one account in, once.
 *
 * An unknown, used or expired token, and one of an account without a role, get the same refusal, so that guessing
 * reveals nothing. Spec: decisions 2, `POST /auth/invitations:inspect` and `:redeem`.
 */

import type { invitationOperations as ops, Session } from '../../contract/auth/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import { admitted } from '../../kernel/transaction/admission.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { refuseWhileGated } from '../../kernel/transaction/gate.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { type Actor, anyone } from '../../kernel/values/actor.ts'
import { hashToken, isTokenShaped } from '../../kernel/values/token.ts'
import { type Worded, writeWords } from '../access/account-words.ts'
import { confirmPrimary } from '../access/addresses.ts'
import { hasRole } from '../access/held-role.ts'
import { isIssued } from '../access/issued-moment.ts'
import { askToConfirmPrimary } from './addresses/confirmation-mail.ts'
import { hasherFor } from './password/hashing-lane.ts'
import { hashNewPassword } from './password/new-password.ts'
import { startSession } from './sign-in/session.ts'
import { lockAccount } from './token/ending.ts'

export interface InvitationRow {
  readonly tenant_id: string
  readonly id: string
  readonly account_id: string
  readonly email: string
  /** Whether its token was in a mail to the address. */
  readonly is_mailed: boolean
  readonly expires_at: string
  readonly slug: string
  readonly display_name: string
}

/** What the invitation is for. Refuses auth.invitation_invalid. */
export async function inspectInvitation(
  ctx: Ctx,
  { body }: Received<typeof ops.inspectInvitation>,
): Promise<Answer<typeof ops.inspectInvitation>> {
  const { slug, display_name, email, expires_at } = await findInvitation(ctx, body.token)
  return { workspace: { slug, display_name }, email, expires_at }
}

/** Looks the token up first, so that a wrong one costs no hash; then hashes with no transaction open. */
export async function hashForInvitation(
  installation: Installation,
  actor: Actor,
  { body }: Received<typeof ops.redeemInvitation>,
): Promise<string> {
  const found = await installation.transaction(anyone, { readOnly: true }, (ctx) => findInvitation(ctx, body.token))
  const { tenant_id, slug, display_name, email } = found
  return hashNewPassword(installation, {
    hasher: hasherFor(actor, tenant_id),
    password: body.password,
    pointer: '/password',
    names: [email, email.split('@')[0], body.display_name, slug, display_name],
  })
}

/**
 * Joins the workspace and signs in. Of two uses at once exactly one succeeds. Refuses auth.invitation_invalid,
 * tenant_suspended.
 */
export async function redeemInvitation(
  ctx: Ctx,
  { body }: Received<typeof ops.redeemInvitation>,
  passwordHash: string,
): Promise<Session> {
  const { tenant_id: tenantId, id, account_id: accountId, is_mailed } = await findInvitation(ctx, body.token)
  return ctx.inWorkspace(tenantId, () =>
    admitted(ctx.tx, { workspace: tenantId }, async () => {
      const [, used] = await Promise.all([
        lockAccount(ctx, { tenantId, accountId }),
        ctx.tx`
          update invitation set used_at = now() where tenant_id = ${tenantId} and id = ${id} and used_at is null and expires_at > now()`,
      ])
      if (used.count !== 1) refuse('auth.invitation_invalid')
      const [joined] = await ctx.tx<Worded[]>`
        update account set state = 'ACTIVE', password_hash = ${passwordHash}, password_changed_at = now(), start_password_until = null, joined_at = now(), updated_at = now(),
               display_name = coalesce(${body.display_name ?? null}, display_name), version = version + 1
        where tenant_id = ${tenantId} and id = ${accountId} returning display_name, email`
      if (!joined) refuse('auth.invitation_invalid')
      writeWords(ctx, tenantId, accountId, joined)
      // A token that was handed over shows nothing of the address.
      if (is_mailed) await confirmPrimary(ctx, { tenantId, accountId })
      else await askToConfirmPrimary(ctx, { tenantId, accountId })
      await ctx.record('identity.account.joined', { id: accountId, kind: 'PERSON', state: 'ACTIVE' })
      return startSession(ctx, tenantId, accountId, { way: 'INVITATION' })
    }),
  )
}

export async function findInvitation(ctx: Ctx, token: string): Promise<InvitationRow> {
  if (!isTokenShaped(token, 'invitation')) refuse('auth.invitation_invalid')
  const [found] = await ctx.tx<InvitationRow[]>`
    select i.tenant_id, i.id, i.account_id, a.email, i.is_mailed, i.expires_at, t.slug, t.display_name from invitation i
    join account a on a.tenant_id = i.tenant_id and a.id = i.account_id
    join tenant t on t.id = i.tenant_id
    where i.hash = ${hashToken(token)} and i.used_at is null and i.expires_at > now()
      and ${isIssued(ctx.tx, ctx.tx.part`i.created_at`)} and a.state = 'INVITED' and a.email is not null and ${hasRole(ctx.tx)}`
  if (!found) refuse('auth.invitation_invalid')
  await refuseWhileGated(ctx.tx, found.account_id)
  return found
}
