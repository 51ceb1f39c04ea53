/** Changes the account's password: every other session ends, every unspent step-up is void. Spec: decisions 2. */

import type { passwordOperations as ops } from '../../../contract/auth/operations.ts'
import type { Received } from '../../../contract/operation.ts'
import type { Problem } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { type Actor, isAccount } from '../../../kernel/values/actor.ts'
import { dateNow } from '../../../kernel/values/time.ts'
import { tellAccount } from '../../mail/jobs.ts'
import { endOtherSessions, voidProofs } from '../sign-in/session.ts'
import { proveOwnPassword, refusalOf, type Verdict } from '../step-up.ts'
import { hasherFor } from './hashing-lane.ts'
import { hashNewPassword, writePassword } from './new-password.ts'

type Prepared = { readonly verdict: Verdict; readonly newHash: string | null }

/** Checks the old password and hashes the new one with no transaction open. */
export async function prepareNewPassword(
  installation: Installation,
  actor: Actor,
  { body }: Received<typeof ops.changePassword>,
): Promise<Prepared> {
  const verdict = await proveOwnPassword(installation, actor, body.current_password)
  if (verdict.is !== 'right' || !isAccount(actor)) return { verdict, newHash: null }
  const { tenantId, accountId } = actor
  const names = await installation.transaction(actor, { tenantId, readOnly: true }, (ctx) =>
    ownNames(ctx, tenantId, accountId),
  )
  const newHash = await hashNewPassword(installation, {
    hasher: hasherFor(actor, tenantId),
    password: body.new_password,
    pointer: '/new_password',
    names,
    account: { tenantId, id: accountId },
  })
  return { verdict, newHash }
}

/** Refuses auth.sign_in_failed (counted like a failed step-up), auth.step_up_locked. */
export async function changePassword(
  ctx: Ctx,
  _: Received<typeof ops.changePassword>,
  { verdict, newHash }: Prepared,
): Promise<Problem | undefined> {
  const actor = ctx.account
  const { tenantId, accountId, sessionId } = actor
  const refusal = await refusalOf(ctx, actor, verdict)
  if (refusal) return refusal

  if (newHash === null) throw new Error('a right password without a new hash')

  await writePassword(ctx, tenantId, accountId, newHash)
  await endProofs(ctx, { tenantId, accountId, except: sessionId, because: 'password_changed' })
  await tellPasswordChanged(ctx, { tenantId, accountId })
  return undefined
}

/** Records that the old password made way for another one, and mails it: whoever knew the old one may not have been its owner. */
export async function tellPasswordChanged(
  ctx: Ctx,
  { tenantId, accountId }: { readonly tenantId: string; readonly accountId: string },
): Promise<void> {
  const noticeId = await ctx.record('identity.account.password_changed', { id: accountId })
  await tellAccount(ctx, { tenantId, accountId, noticeId, name: 'password_changed', at: dateNow().toISOString() })
}

/** Ends what was proven with the old password: every session but one, and every unspent step-up. */
export async function endProofs(
  ctx: Ctx,
  of: {
    readonly tenantId: string
    readonly accountId: string
    readonly except: string | null
    readonly because: string
  },
): Promise<void> {
  await voidProofs(ctx, of)
  await endOtherSessions(ctx, of)
}

/**
 * Names of the account and its workspace, which its password must not be built on. The workspace's role is in force.
 */
export async function ownNames(ctx: Ctx, tenantId: string, accountId: string): Promise<readonly (string | null)[]> {
  const [row] = await ctx.tx<Record<string, string | null>[]>`
    select split_part(a.email, '@', 1) as local_part, a.email, a.sign_in_name, a.display_name, t.slug, t.display_name as workspace_name
    from account a join tenant t on t.id = a.tenant_id where a.tenant_id = ${tenantId} and a.id = ${accountId}`
  return Object.values(row ?? {})
}
