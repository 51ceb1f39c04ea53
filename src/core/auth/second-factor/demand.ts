/**
 * Of whom a second factor is demanded: the switch `mfa_required_for`.
 *
 * An account that must have one and has none signs in, and is then served nothing but what
 * it takes to enrol (`withoutSecondFactor` of an operation's needs). The gate asks with the
 * query that looks the credential up, so the switch holds from the next call on; it reaches
 * personal access tokens as well as sessions. A service account has no second factor, and
 * none is demanded of it.
 *
 * Spec: InstanceSettings; decisions 4, `mfa_required_for`; docs/decisions/0055.
 */
import type { AccountActor } from '../../actor.ts'
import { type SignInValues, signInDefaults } from '../../admin/settings/defaults.ts'
import { readSwitches } from '../../admin/settings/settings.ts'
import type { Ctx } from '../../context.ts'
import { rankOf } from '../../schema.ts'

export type DemandedOf = SignInValues['mfa_required_for']

/** Whether the switch means this account. */
export function isMeant(
  demandedOf: DemandedOf,
  { kind, role, isOperator }: Pick<AccountActor, 'kind' | 'role' | 'isOperator'>,
): boolean {
  if (kind === 'SERVICE') return false
  switch (demandedOf) {
    case 'NONE':
      return false
    case 'OPERATORS':
      return isOperator
    case 'ADMINS':
      return isOperator || rankOf[role] >= rankOf.ADMIN
    case 'ALL':
      return true
  }
}

/** The switch as the database's row has it; null where nobody decided. */
export const demandedOf = (stored: string | null): DemandedOf =>
  (stored as DemandedOf | null) ?? signInDefaults.mfa_required_for

/** Whether the account that acts must have a second factor. */
export async function isFactorDemanded(ctx: Ctx, actor: AccountActor): Promise<boolean> {
  const { mfa_required_for: demanded } = await readSwitches(ctx)
  return isMeant(demanded.value, actor)
}
