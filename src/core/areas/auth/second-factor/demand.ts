/**
 * Of whom a second factor is demanded: the switch `mfa_required_for`.
 *
 * An account that must have one and has none signs in, and is then served nothing but what
 * it takes to enrol (`withoutSecondFactor` of an operation's needs). The gate asks with the
 * query that looks the credential up, so the switch holds from the next call on; it reaches
 * personal access tokens as well as sessions. Not meant are service accounts, and accounts
 * without a password: their identity provider has a second factor of its own.
 *
 * Spec: InstanceSettings; decisions 4, `mfa_required_for`; docs/decisions/0055.
 */

import { type SignInValues, signInDefaults } from '../../../contract/settings/defaults.ts'
import { rankOf } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { AccountActor } from '../../../kernel/values/actor.ts'
import { readSwitches } from '../../settings/settings.ts'

export type DemandedOf = SignInValues['mfa_required_for']

/** Who is asked about. */
export interface Asked extends Pick<AccountActor, 'kind' | 'role' | 'isOperator'> {
  readonly hasPassword: boolean
}

/** Whether the switch means this account. */
export function isMeant(demandedOf: DemandedOf, { kind, role, isOperator, hasPassword }: Asked): boolean {
  if (kind === 'SERVICE' || !hasPassword) return false
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
  const [row] = await ctx.tx<{ has_password: boolean }[]>`
    select password_hash is not null as has_password from account where tenant_id = ${actor.tenantId} and id = ${actor.accountId}`
  return isMeant(demanded.value, { ...actor, hasPassword: row?.has_password === true })
}
