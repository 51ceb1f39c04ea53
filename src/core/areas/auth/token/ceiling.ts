/**
 * The ceiling of acts on another account, its roles and its credentials. Nobody acts on an account with a higher role, and
 * only a full operator acts on an account in the operator register: somebody who enters the register without a step-up
 * must not take the credentials of its operators during the day in which they can object.
 *
 * Without the ceiling an OWNER could remove an operator's second factor, and an ADMIN could revoke an OWNER's token. An
 * operation says what of another account's it acts on (`actsOn`), and app/perform.ts keeps the ceiling from that before
 * the rule runs: no rule asks by itself, and test/contract/acts-on-others.test.ts asks each operation. The operator at the
 * database has no ceiling. A role is compared where it is held, which only its rule knows (memberships/membership.ts).
 * Spec: decisions 7, Whose ways in; docs/decisions/0375.
 */

import { type Operation, stepUpOf } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import { type Role, rankOf } from '../../../contract/vocabulary.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { type AccountActor, isAccount } from '../../../kernel/values/actor.ts'
import { accountSigningIn } from '../../access/addresses.ts'
import { roleOnWorkspace } from '../../access/workspace-role.ts'
import { proofRequired } from './proof-required.ts'

/** What a request names, as it was received. */
type Named = Readonly<Record<string, unknown>>

interface Standing {
  readonly id: string
  /** On the workspace. */
  readonly role: Role | null
  readonly is_operator: boolean
}

/**
 * Refuses what the operation would do to another account above the caller. An unknown account has no ceiling; the rule
 * refuses it; so has one of another workspace, on which an operator acts for the installation. Asks at the call, and only
 * where the operation acts on somebody else: undefined elsewhere. Refuses auth.scope_required, auth.role_required,
 * admin.operator_required.
 */
export function ceilingOf(ctx: Ctx, operation: Operation, received: Named): Promise<void> | undefined {
  const { actor } = ctx
  const { actsOn } = operation
  if (actsOn === undefined || !isAccount(actor)) return undefined
  const named = accountNamed(ctx, actor, actsOn, received)
  return named && keepCeiling(actor, operation, findStandings(ctx, actor.tenantId, named))
}

async function keepCeiling(
  actor: AccountActor,
  operation: Operation,
  found: Promise<readonly Standing[]>,
): Promise<void> {
  const { actsOn, needs } = operation
  const [standing] = await found
  if (standing?.id === actor.accountId) return demandOwnProof(operation, actor)
  if (needs.caller === 'account' && needs.others) demandOthers(actor, needs.others)
  if (standing) refuseAbove(actor, standing, actsOn === 'account' || actsOn === 'token')
}

/**
 * Whether the caller's elevated session serves instead of a step-up. Not where the call acts on the own account, or may: an
 * address that turns out to be the own one is refused behind the look (`demandOwnProof`).
 */
export function isElevatedFor({ needs, actsOn }: Operation, actor: AccountActor, received: Named): boolean {
  if (stepUpOf(needs) !== 'or elevated' || !actor.elevatedUntil) return false
  if (actsOn === undefined) return true
  const body = (received['body'] ?? {}) as Named
  const id = received['accountId'] ?? body['account_id']
  return typeof id === 'string' ? id !== actor.accountId : typeof body['email'] === 'string'
}

/** The own ways in take a proof, also in an elevated session. */
function demandOwnProof({ needs }: Operation, { isProven }: AccountActor): void {
  if (stepUpOf(needs) === 'or elevated' && !isProven) throw proofRequired()
}

/** The same for accounts of a list in the body. */
export async function keepCeilingOfEach(ctx: Ctx, accountIds: readonly string[]): Promise<void> {
  const { actor, tx } = ctx
  if (!isAccount(actor) || accountIds.length === 0) return
  for (const standing of await findStandings(ctx, actor.tenantId, tx.part`a.id in ${tx.list(accountIds)}`))
    if (standing.id !== actor.accountId) refuseAbove(actor, standing, true)
}

function refuseAbove(actor: AccountActor, standing: Standing, comparesRoles: boolean): void {
  if (standing.is_operator && (!actor.isOperator || actor.probationUntil)) refuse('admin.operator_required')
  if (comparesRoles && standing.role !== null) demandRole(actor, standing.role)
}

/** Any credential serves the own account; another's takes the scope of administrators, too. */
function demandOthers(actor: AccountActor, role: Role): void {
  if (!actor.scopes.includes('workspace:admin')) refuse('auth.scope_required', { scope: 'workspace:admin' })
  demandRole(actor, role)
}

function demandRole(actor: AccountActor, role: Role): void {
  if (actor.isGuest || rankOf[actor.role] < rankOf[role]) refuse('auth.role_required', { role })
}

/** A condition on the account `a` that the request is about; undefined where it is the caller's own, or nobody's. */
function accountNamed(
  { tx }: Ctx,
  { accountId: own, tenantId }: AccountActor,
  actsOn: NonNullable<Operation['actsOn']>,
  received: Named,
): Part | undefined {
  const body = (received['body'] ?? {}) as Named
  switch (actsOn) {
    case 'account':
    case 'role': {
      const id = received['accountId'] ?? body['account_id']
      if (typeof id === 'string') return id === own ? undefined : tx.part`a.id = ${id}`
      const { email } = body
      return typeof email === 'string'
        ? tx.part`a.id = ${accountSigningIn(tx, tx.part`${tenantId}`, email)}`
        : undefined
    }
    case 'token': {
      const id = received['tokenId'] as string
      // Nobody acts on another person's tokens: to the rule these are unknown.
      return tx.part`a.id = (select account_id from credential where tenant_id = ${tenantId} and id = ${id} and kind = 'SERVICE')`
    }
    case 'membership': {
      const id = received['membershipId'] as string
      return tx.part`a.id = (select account_id from membership where tenant_id = ${tenantId} and id = ${id})`
    }
  }
}

function findStandings(ctx: Ctx, tenantId: string, named: Part): Promise<readonly Standing[]> {
  const { tx } = ctx
  return ctx.asInstallationOnce(
    () => tx<Standing[]>`
      select a.id, ${roleOnWorkspace(tx)} as role, exists (select from operator o where o.account_id = a.id) as is_operator
      from account a where a.tenant_id = ${tenantId} and ${named} order by a.id`,
  )
}

/** Whether the account is in the operator register. */
export async function isInRegister(ctx: Ctx, accountId: string): Promise<boolean> {
  const found = await ctx.asInstallationOnce(() => ctx.tx`select 1 from operator where account_id = ${accountId}`)
  return found.length > 0
}
