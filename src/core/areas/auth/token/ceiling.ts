/**
 * The ceiling of acts on another account: nobody reaches the ways in of an account whose role is above the actor's, nor
 * anything of one in the operator register unless the actor is a full operator too: whoever enters the register without
 * a step-up must not take its operators' ways in during the day they have to object.
 *
 * An OWNER could otherwise take an operator's second factor away, and an ADMIN an OWNER's token. An operation says
 * that it may act on another account (`actsOn`), and test/contract/acts-on-others.test.ts asks each of them. The
 * operator at the database has no ceiling. Roles themselves are compared in the place they are held in
 * (memberships/membership.ts). Spec: decisions 7, Whose ways in.
 */

import { refuse } from '../../../contract/problem.ts'
import { type Role, rankOf } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { isAccount } from '../../../kernel/values/actor.ts'

export interface Standing {
  /** On the workspace. */
  readonly role: Role | null
  readonly is_operator: boolean
}

/** Refuses admin.operator_required, auth.role_required. An account that is nobody's has no ceiling: the caller of this finds that out. */
export async function demandCeiling(ctx: Ctx, accountId: string): Promise<void> {
  const { actor } = ctx
  if (!isAccount(actor) || actor.accountId === accountId) return
  const { role } = await demandRegister(ctx, actor.tenantId, accountId)
  if (role === null) return
  if (actor.isGuest || rankOf[actor.role] < rankOf[role]) refuse('auth.role_required', { role })
}

/** The half of it that asks for the register; answers how the account stands, also the actor's own. Refuses admin.operator_required. */
export async function demandRegister(ctx: Ctx, tenantId: string, accountId: string): Promise<Standing> {
  const { actor } = ctx
  const [standing] = await ctx.asInstallation(
    () => ctx.tx<Standing[]>`
      select m.role, exists (select from operator o where o.account_id = a.id) as is_operator from account a
      left join membership m on m.tenant_id = a.tenant_id and m.account_id = a.id and m.container_id is null
      where a.tenant_id = ${tenantId} and a.id = ${accountId}`,
  )
  const isOther = isAccount(actor) && actor.accountId !== accountId
  if (isOther && standing?.is_operator && (!actor.isOperator || actor.probationUntil)) refuse('admin.operator_required')
  return standing ?? { role: null, is_operator: false }
}
