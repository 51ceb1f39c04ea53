/** What every way of joining through a provider does: the connection, the evidence, the name. */

import type { Claims } from '../../../kernel/egress/oidc.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { newId } from '../../../kernel/values/id.ts'
import { dateNow } from '../../../kernel/values/time.ts'
import { tellAccount } from '../../mail/jobs.ts'
import type { ProviderRow } from './provider-row.ts'

/** A person who comes back from a provider: the workspace, the provider, and its claims about the person. */
export interface Arrival {
  readonly tenantId: string
  readonly provider: ProviderRow
  readonly claims: Claims
  readonly invitationId: string | null
}

/** Connects the account with the identity in the claims, for this provider; answers the trail's entry. */
export async function connect(ctx: Ctx, { tenantId, provider, claims }: Arrival, accountId: string): Promise<string> {
  await ctx.tx`
    insert into connected_identity (tenant_id, id, provider_id, account_id, issuer, subject, email)
    values (${tenantId}, ${newId()}, ${provider.id}, ${accountId}, ${claims.iss}, ${claims.sub}, ${textOf(claims['email'])})
    on conflict (tenant_id, provider_id, issuer, subject) do nothing`
  const provider_id = provider.id
  return ctx.record('identity.account.connected', { id: accountId, provider_id }, { provider_id })
}

/** Mails the account that its identities changed, as the trail's entry says. */
export const tellIdentities = (ctx: Ctx, tenantId: string, accountId: string, noticeId: string): Promise<void> =>
  tellAccount(ctx, { tenantId, accountId, noticeId, name: 'provider_changed', at: dateNow().toISOString() })

/** Records in the trail, and as an event, that a person joined. */
export async function tellJoined(
  ctx: Ctx,
  accountId: string,
  params: Readonly<Record<string, unknown>>,
): Promise<void> {
  await ctx.record('identity.account.joined', { id: accountId, kind: 'PERSON', state: 'ACTIVE' }, params)
}

/** A claim that the database can hold, or null. */
export const textOf = (claim: unknown) =>
  typeof claim === 'string' && claim.length <= 254 && claim.isWellFormed() && !claim.includes('\u0000') ? claim : null

/** The name that the provider gives, on one line; null if it gives no usable name. */
export function nameIn({ name }: Claims): string | null {
  if (typeof name !== 'string' || !name.isWellFormed()) return null
  const line = name.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return line === '' ? null : [...line].slice(0, 200).join('')
}
