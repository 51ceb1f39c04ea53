/**
 * Carries out the steps of a reconciliation, each through the rule that did it the first
 * time, and tells what is in the way of the others.
 *
 * A step that was done is in the ledger once more, with the moment of the recovery: the
 * ledger stays the whole story. Killed anywhere, a second run does what is left.
 */

import { Problem } from '../../contract/problem.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { RecoveryActor } from '../../kernel/values/actor.ts'
import { endToken } from '../auth/token/ending.ts'
import { leaveAgain } from '../memberships/membership.ts'
import { addOperatorAgain, removeOperator } from '../operators/register.ts'
import { replaceLegalHolds } from '../tenants/deletion/legal-holds.ts'
import { type PurgeOutcome, repeatPurge } from '../tenants/purge/purge.ts'
import type { DesiredState } from './desired-state.ts'
import type { Hindrance, Step } from './reconcile.ts'

export interface Repeated {
  readonly done: readonly Step[]
  /** With what was in the way. */
  readonly hindered: readonly Step[]
}

export interface Repeating {
  readonly installation: Installation
  readonly actor: RecoveryActor
  readonly desired: DesiredState
  readonly recoveryPoint: string
}

/** How many holds one replacement takes. Spec: LegalHoldReplaceRequest. */
const holdsAtOnce = 1000

/** Does what the plan says. */
export async function repeatSteps(repeating: Repeating, steps: readonly Step[]): Promise<Repeated> {
  const { installation, actor, recoveryPoint } = repeating
  const done: Step[] = []
  const hindered = steps.filter(({ what, hindered_by }) => hindered_by !== null && what !== 'purge.repeat')
  const settle = (step: Step, by: Hindrance | null) =>
    by === null ? done.push(step) : hindered.push({ ...step, hindered_by: by })
  const possible = (what: Step['what']) => steps.filter((step) => step.what === what && step.hindered_by === null)

  done.push(...(await placeHolds(repeating, possible('hold.place'))))
  for (const step of possible('operator.add')) settle(step, await addAgain(repeating, step))
  for (const step of possible('operator.remove')) settle(step, await removeAgain(repeating, step))
  for (const step of possible('account.leave')) settle(step, await leaveOnceMore(repeating, step))
  for (const step of possible('token.revoke')) await revokeAgain(repeating, step).then(() => done.push(step))
  // Also one that is held: the workspace is leaving again, and nobody works in it meanwhile.
  for (const step of steps.filter(({ what }) => what === 'purge.repeat'))
    settle(step, step.is_uncertain ? 'uncertain' : hindranceOf(await repeatPurge(installation, step.tenant_id)))

  if (done.length > 0)
    await installation.transaction(actor, {}, (ctx) =>
      ctx.journal('recovery.reconciled', null, {
        params: { recovery_point: recoveryPoint, done: countsOf(done), hindered: countsOf(hindered) },
      }),
    )
  return { done, hindered }
}

const countsOf = (steps: readonly Step[]) =>
  Object.fromEntries(
    [...new Set(steps.map(({ what }) => what))].map((what) => [
      what,
      steps.filter((step) => step.what === what).length,
    ]),
  )

async function placeHolds({ installation, actor, desired, recoveryPoint }: Repeating, steps: readonly Step[]) {
  for (const tenantId of new Set(steps.map(({ tenant_id }) => tenant_id))) {
    const ids = steps.filter(({ tenant_id }) => tenant_id === tenantId).map(({ id }) => id)
    while (ids.length > 0) {
      const holds = ids.splice(0, holdsAtOnce).flatMap((id) => {
        const hold = desired.holds.get(id)
        if (!hold) return []
        const { scope, reason, placedBy: placed_by, placedAt: placed_at, releasedAt: released_at } = hold
        return [{ id, scope, reason, placed_by, placed_at, released_at }]
      })
      const body = { recovery_point: recoveryPoint, holds }
      await installation.transaction(actor, {}, (ctx) => replaceLegalHolds(ctx, { tenantId, body }, []))
    }
  }
  return steps
}

const addAgain = ({ installation, actor, desired }: Repeating, { id }: Step) =>
  unlessRefused(() =>
    installation.transaction(actor, {}, (ctx) =>
      addOperatorAgain(ctx, id, desired.operators.get(id)?.probationUntil ?? null),
    ),
  )

const removeAgain = ({ installation, actor }: Repeating, { id }: Step) =>
  unlessRefused(() => installation.transaction(actor, {}, (ctx) => removeOperator(ctx, { accountId: id })))

const leaveOnceMore = (
  { installation, actor, desired }: Repeating,
  { tenant_id: tenantId, id: accountId }: Step,
): Promise<Hindrance | null> => {
  const leftAt = desired.left.get(accountId)?.at
  if (leftAt === undefined) throw new Error('a step of a departure that the ledgers do not name')
  return unlessRefused(() =>
    installation.transaction(actor, { tenantId }, (ctx) => leaveAgain(ctx, { tenantId, accountId, leftAt })),
  )
}

const hindrances: Partial<Record<string, Hindrance>> = {
  not_found: 'account_lost',
  'admin.operator_not_active': 'account_not_active',
  'admin.operator_last': 'last_operator',
  'membership.last_owner': 'last_owner',
}

async function unlessRefused(act: () => Promise<void>): Promise<Hindrance | null> {
  try {
    await act()
    return null
  } catch (error) {
    const hindrance = error instanceof Problem ? hindrances[error.code] : undefined
    if (!hindrance) throw error
    return hindrance
  }
}

async function revokeAgain({ installation, actor }: Repeating, { tenant_id: tenantId, id }: Step): Promise<void> {
  await installation.transaction(actor, { tenantId }, async (ctx) => {
    const [token] = await ctx.tx<{ account_id: string }[]>`
      select account_id from credential where tenant_id = ${tenantId} and id = ${id}`
    if (token) await endToken(ctx, { tenantId, accountId: token.account_id }, id)
  })
}

function hindranceOf(outcome: PurgeOutcome): Hindrance | null {
  if (outcome === 'purged') return null
  return outcome === 'last_operators' ? 'last_operator' : outcome === 'held' ? 'held' : 'uncertain'
}
