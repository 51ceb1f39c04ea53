/**
 * The ceiling of actions on another account. The actor cannot change the credentials of an account with a higher role.
 * The actor cannot change anything of an account in the operator register, unless the actor is a full operator too:
 * somebody who enters the register without a step-up must not take the credentials of its operators during the day in
 * which they can object.
 *
 * Without the ceiling an OWNER could remove an operator's second factor, and an ADMIN could revoke an OWNER's token. An
 * operation says that it may act on another account (`actsOn`), and test/contract/acts-on-others.test.ts asks each of
 * them. The operator at the database has no ceiling. Roles themselves are compared where they are held
 * (memberships/membership.ts). Spec: decisions 7, Whose ways in.
 */

import { refuse } from '../../../contract/problem.ts'
import { type Role, rankOf } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { isAccount } from '../../../kernel/values/actor.ts'
import { roleOnWorkspace } from '../../access/workspace-role.ts'

export interface Standing {
  /** On the workspace. */
  readonly role: Role | null
  readonly is_operator: boolean
}

/**
 * Refuses admin.operator_required, auth.role_required. An unknown account has no ceiling; the calling rule refuses it.
 */
export async function demandCeiling(ctx: Ctx, accountId: string): Promise<void> {
  const { actor } = ctx
  if (!isAccount(actor) || actor.accountId === accountId) return
  const { role } = await demandRegister(ctx, actor.tenantId, accountId)
  if (role === null) return
  if (actor.isGuest || rankOf[actor.role] < rankOf[role]) refuse('auth.role_required', { role })
}

/**
 * The check of the register only. Answers the account's standing, also for the actor's own account. Refuses
 * admin.operator_required.
 */
export async function demandRegister(ctx: Ctx, tenantId: string, accountId: string): Promise<Standing> {
  const { actor } = ctx
  const [standing] = await ctx.asInstallation(
    () => ctx.tx<Standing[]>`
      select ${roleOnWorkspace(ctx.tx)} as role, exists (select from operator o where o.account_id = a.id) as is_operator from account a
      where a.tenant_id = ${tenantId} and a.id = ${accountId}`,
  )
  const isOther = isAccount(actor) && actor.accountId !== accountId
  if (isOther && standing?.is_operator && (!actor.isOperator || actor.probationUntil)) refuse('admin.operator_required')
  return standing ?? { role: null, is_operator: false }
}
