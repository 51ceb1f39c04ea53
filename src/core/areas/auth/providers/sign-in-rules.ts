/** What a sign-in page shows before the person has entered an address. Spec: Index, Auth, `GET /auth/sign-in-rules`. */

import type { Received } from '../../../contract/operation.ts'
import type { providerSignInOperations as ops, SignInRules } from '../../../contract/providers/operations.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { readSwitches, type SwitchesInForce } from '../../settings/settings.ts'
import { isLeftOutside, providersInForce, shownAs } from './in-force.ts'
import type { ProviderRow } from './provider-row.ts'

/** The rules of a workspace; for an unknown workspace, the rules of the installation. */
export async function getSignInRules(
  ctx: Ctx,
  { workspace }: Received<typeof ops.getSignInRules>,
): Promise<SignInRules> {
  const switches = await readSwitches(ctx)
  const [tenant] = await ctx.tx<{ id: string; is_opened: boolean }[]>`
    select t.id, exists (select from password_opening o where o.tenant_id = t.id and o.opened_at <= now() and now() < o.until) as is_opened
    from tenant t where t.slug = ${workspace ?? ''}`
  if (!tenant) return rulesOf(switches, isSwitchedOn(switches), [])
  return ctx.inWorkspace(tenant.id, async () => {
    const providers = await providersInForce(ctx, tenant.id)
    const isAllowed = isSwitchedOn(switches) || tenant.is_opened || (await isLeftOutside(ctx, tenant.id))
    return rulesOf(switches, isAllowed, providers)
  })
}

const isSwitchedOn = ({ password_enabled, methods }: SwitchesInForce) =>
  password_enabled.value && methods.value.includes('PASSWORD')

const rulesOf = (switches: SwitchesInForce, isAllowed: boolean, providers: readonly ProviderRow[]): SignInRules => ({
  password: {
    allowed: isAllowed,
    min_length: switches.password_min_length.value,
    max_length: switches.password_max_length.value,
    require_lowercase: switches.password_require_lowercase.value,
    require_uppercase: switches.password_require_uppercase.value,
    require_digit: switches.password_require_digit.value,
    require_symbol: switches.password_require_symbol.value,
    self_service_reset: switches.password_self_service_reset.value,
  },
  providers: providers.map((row) => ({
    id: row.id,
    display_name: shownAs(row),
    kind: row.kind,
    position: row.position,
  })),
})
