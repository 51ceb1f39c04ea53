/** Changes the account's password: every other session ends, every unspent step-up is void. Spec: decisions 2. */
import type { Actor } from '../actor.ts'
import type { Ctx } from '../context.ts'
import type { Installation } from '../installation.ts'
import type { Received } from '../operation.ts'
import type { Problem } from '../problem.ts'
import type { passwordOperations as ops } from './contract.ts'
import { hashPassword } from './password.ts'
import { account, endOtherSessions, voidStepUps } from './session.ts'
import { proveOwnPassword, refusalOf, type Verdict } from './step-up.ts'

type Prepared = { readonly verdict: Verdict; readonly newHash: string | null }

/** Checks the old password and hashes the new one with no transaction open. */
export async function prepareNewPassword(
  installation: Installation,
  actor: Actor,
  { body }: Received<typeof ops.changePassword>,
): Promise<Prepared> {
  const verdict = await proveOwnPassword(installation, actor, body.current_password)
  return { verdict, newHash: verdict.is === 'right' ? await hashPassword(body.new_password) : null }
}

/** Refuses auth.sign_in_failed (counted like a failed step-up), auth.step_up_locked. */
export async function changePassword(
  ctx: Ctx,
  _: Received<typeof ops.changePassword>,
  { verdict, newHash }: Prepared,
): Promise<Problem | undefined> {
  const actor = account(ctx)
  const { tenantId, accountId } = actor
  const refusal = await refusalOf(ctx, actor, verdict)
  if (refusal) return refusal

  await ctx.tx`
    update account set password_hash = ${newHash}, password_changed_at = now(), updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${accountId}`
  await voidStepUps(ctx, actor)
  await endOtherSessions(ctx, actor, 'password_changed')
  await Promise.all([
    ctx.audit('account.password_changed', { subject: { kind: 'account', id: accountId } }),
    ctx.emit({ name: 'identity.account.password_changed', subject: `/accounts/${accountId}`, data: { id: accountId } }),
  ])
  return undefined
}
