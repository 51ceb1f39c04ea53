/**
 * A person without an invitation who comes through a provider: whether an account may be created,
 * and its creation, with its role or its group, in the transaction of the sign-in. Membership of the group is instead of a
 * role, so a group without roles admits nobody (newcomer-group.ts).
 *
 *    INVITED_ONLY   nobody
 *    DOMAINS        people of a named directory; if none is named, people whose vouched address is in a named domain
 *    ANY            everybody whose address the provider vouches for
 *
 * Spec: IdentityProviderConfiguration (provisioning, allowed_…, newcomer_…).
 */

import type { Role } from '../../../contract/vocabulary.ts'
import type { Claims } from '../../../kernel/egress/oidc.ts'
import { directoryOf, type Preset } from '../../../kernel/egress/oidc-presets.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { caseFold } from '../../../kernel/values/case-fold.ts'
import { newId } from '../../../kernel/values/id.ts'
import { writeWords } from '../../access/account-words.ts'
import { findHolder, lockAddress, writeFirstAddress } from '../../access/addresses.ts'
import { joinGroup } from '../../access/group-rows.ts'
import { type Arrival, nameIn, tellJoined } from './joining.ts'
import type { ProviderRow } from './provider-row.ts'

/** Whether the provider may create an account for a person with these claims and this vouched address. */
export function isBroughtIn(
  presets: readonly Preset[],
  provider: Pick<ProviderRow, 'issuer' | 'provisioning' | 'allowed_directories' | 'allowed_email_domains'>,
  claims: Claims,
  address: string,
): boolean {
  switch (provider.provisioning) {
    case 'INVITED_ONLY':
      return false
    case 'ANY':
      return true
    case 'DOMAINS': {
      const directory = directoryOf(presets, provider.issuer, claims)
      if (provider.allowed_directories.length > 0)
        return directory !== undefined && provider.allowed_directories.includes(directory)
      return isInDomains(provider, address)
    }
  }
}

/** An exact match: a domain does not include its subdomains. */
export const isInDomains = ({ allowed_email_domains }: Pick<ProviderRow, 'allowed_email_domains'>, address: string) =>
  allowed_email_domains.includes(address.slice(address.lastIndexOf('@') + 1).toLowerCase())

/** The role of a newcomer whose provider names neither a role nor a group. */
const leastRole: Role = 'VIEWER'

/** Creates the account, active and without a password; undefined where the address is taken. */
export async function createNewcomer(
  ctx: Ctx,
  { tenantId, provider, claims }: Arrival,
  address: string,
): Promise<string | undefined> {
  await lockAddress(ctx, tenantId, address)
  if ((await findHolder(ctx, tenantId, address)) !== null) return undefined
  const accountId = newId()
  const name = nameIn(claims)
  await ctx.tx`
    insert into account (tenant_id, id, kind, state, email, email_fold, display_name, joined_at)
    values (${tenantId}, ${accountId}, 'PERSON', 'ACTIVE', ${address}, ${caseFold(address)}, ${name}, now())`
  await writeFirstAddress(ctx, { tenantId, accountId }, { email: address, isConfirmed: true })
  writeWords(ctx, tenantId, accountId, { display_name: name, email: address })

  const { newcomer_group_id: groupId } = provider
  const role = groupId === null ? (provider.newcomer_role ?? leastRole) : null
  if (groupId !== null) await joinGroup(ctx, { tenantId, groupId, accountId, source: 'PROVIDER' })
  else
    await ctx.tx`
      insert into membership (tenant_id, id, account_id, role) values (${tenantId}, ${newId()}, ${accountId}, ${role})`
  await tellJoined(ctx, accountId, { provider_id: provider.id, role, group_id: groupId })
  return accountId
}
