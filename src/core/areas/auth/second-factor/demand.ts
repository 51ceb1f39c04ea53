/**
 * Which accounts must have a second factor: the switch `mfa_required_for`.
 *
 * An account that must have one and has none can sign in, but may only call the operations that
 * enrolment needs (`withoutSecondFactor` of an operation's needs). The gate reads the switch in the
 * query that looks up the credential, so the switch takes effect at the next call. It applies to
 * personal access tokens as well as to sessions. It does not apply to service accounts, nor to
 * accounts without a password: their identity provider has a second factor of its own.
 *
 * Spec: InstanceSettings; decisions 4, `mfa_required_for`; docs/decisions/0055.
 */

import { type SignInValues, signInDefaults } from '../../../contract/settings/defaults.ts'
import { rankOf } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { AccountActor } from '../../../kernel/values/actor.ts'
import { readSwitches } from '../../settings/settings.ts'

export type DemandedOf = SignInValues['mfa_required_for']

/** The account in question. */
export interface Asked extends Pick<AccountActor, 'kind' | 'role' | 'isOperator'> {
  readonly hasPassword: boolean
}

/** Whether the switch applies to this account. */
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

/** The value of the switch. `stored` is the database's; null if nobody has set it. */
export const demandedOf = (stored: string | null): DemandedOf =>
  (stored as DemandedOf | null) ?? signInDefaults.mfa_required_for

/** Whether the account that acts must have a second factor. */
export async function isFactorDemanded(ctx: Ctx, actor: AccountActor): Promise<boolean> {
  const { mfa_required_for: demanded } = await readSwitches(ctx)
  const [row] = await ctx.tx<{ has_password: boolean }[]>`
    select password_hash is not null as has_password from account where tenant_id = ${actor.tenantId} and id = ${actor.accountId}`
  return isMeant(demanded.value, { ...actor, hasPassword: row?.has_password === true })
}
