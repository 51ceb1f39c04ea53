/**
 * A provider's row, and the state of its offer.
 *
 *    withdraw_at null      OFFERED
 *    withdraw_at ahead     WITHDRAWAL_ANNOUNCED
 *    withdraw_at past      ENDED; a job records it in ended_at, so that a clock that jumps back does not reopen it
 *
 * Only the installation's providers are ever withdrawn. Reading one of them needs the
 * installation's role (docs/decisions/0004, 0080).
 */

import type { ProviderKind, ProviderState, Provisioning } from '../../../contract/providers/operations.ts'
import type { Role } from '../../../contract/vocabulary.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import type { OidcClient } from '../../../kernel/egress/oidc.ts'
import { standsForMany } from '../../../kernel/egress/oidc-presets.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { openSealed, removeSealed, storeSealed } from '../../../kernel/transaction/sealed-values.ts'
import type { Settled } from './configuration.ts'

export interface ProviderRow {
  readonly tenant_id: string
  readonly id: string
  readonly issuer: string
  readonly client_id: string
  readonly has_secret: boolean
  readonly display_name: string | null
  readonly kind: ProviderKind
  readonly provisioning: Provisioning
  readonly position: number
  readonly enabled: boolean
  readonly allowed_email_domains: string[]
  readonly allowed_directories: string[]
  readonly newcomer_role: Exclude<Role, 'OWNER'> | null
  readonly newcomer_group_id: string | null
  readonly state: ProviderState
  readonly withdraw_at: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly version: number
}

/** The columns of a ProviderRow, of `identity_provider p`. */
export const providerColumns = (tx: Tx) => tx.part`
  p.tenant_id, p.id, p.issuer, p.client_id, p.display_name, p.kind, p.provisioning, p.position, p.allowed_email_domains,
  p.allowed_directories, p.newcomer_role, p.newcomer_group_id, p.withdraw_at, p.created_at, p.updated_at, p.version,
  p.withdraw_at is null or (p.ended_at is null and p.withdraw_at > now()) as enabled,
  case when p.withdraw_at is null then 'OFFERED'
       when p.ended_at is null and p.withdraw_at > now() then 'WITHDRAWAL_ANNOUNCED' else 'ENDED' end as state,
  exists (select from sealed_value s where s.tenant_id = p.tenant_id and s.kind = 'identity_provider.client_secret' and s.owner_id = p.id) as has_secret`

/** Runs work in the role that sees the providers of this scope. */
export const inScope = <T>(ctx: Ctx, scope: string, work: () => Promise<T>): Promise<T> =>
  scope === installationScope ? ctx.asInstallation(work) : work()

/** The row, locked until the end of the transaction: `for update` to change it, `for share` to rely on it. */
export async function lockProvider(
  ctx: Ctx,
  scope: string,
  providerId: string,
  lock: 'update' | 'share' = 'update',
): Promise<ProviderRow | undefined> {
  const { tx } = ctx
  const [row] = await tx<ProviderRow[]>`
    select ${providerColumns(tx)} from identity_provider p
    where p.tenant_id = ${scope} and p.id = ${providerId} ${lock === 'update' ? tx.part`for update of p` : tx.part`for share of p`}`
  return row
}

/** Inserts a provider and seals its secret. The scope's role is in force. */
export async function insertProvider(ctx: Ctx, scope: string, id: string, settled: Settled): Promise<void> {
  const { tx } = ctx
  await tx`
    insert into identity_provider (tenant_id, id, issuer, client_id, display_name, kind, provisioning, position,
                                   allowed_email_domains, allowed_directories, newcomer_role, newcomer_group_id)
    values (${scope}, ${id}, ${settled.issuer}, ${settled.clientId}, ${settled.displayName}, ${settled.kind}, ${settled.provisioning},
            ${settled.position}, ${tx.json(settled.allowedEmailDomains)}, ${tx.json(settled.allowedDirectories)},
            ${settled.newcomerRole}, ${settled.newcomerGroupId})`
  await storeSecret(ctx, scope, id, settled.clientSecret)
}

/** Replaces the whole configuration of a locked provider. The scope's role is in force. */
export async function updateProvider(ctx: Ctx, scope: string, id: string, settled: Settled): Promise<void> {
  const { tx } = ctx
  await tx`
    update identity_provider
    set issuer = ${settled.issuer}, client_id = ${settled.clientId}, display_name = ${settled.displayName}, kind = ${settled.kind},
        provisioning = ${settled.provisioning}, position = ${settled.position},
        allowed_email_domains = ${tx.json(settled.allowedEmailDomains)}, allowed_directories = ${tx.json(settled.allowedDirectories)},
        newcomer_role = ${settled.newcomerRole}, newcomer_group_id = ${settled.newcomerGroupId},
        updated_at = now(), version = version + 1
    where tenant_id = ${scope} and id = ${id}`
  await storeSecret(ctx, scope, id, settled.clientSecret)
}

/** Undefined keeps the sealed secret, null removes it. */
async function storeSecret(ctx: Ctx, scope: string, id: string, secret: string | null | undefined): Promise<void> {
  if (secret === null) await removeSealed(ctx, secretPlace(scope, id))
  else if (secret !== undefined) await storeSealed(ctx, secretPlace(scope, id), secret)
}

const secretPlace = (scope: string, id: string) =>
  ({ tenantId: scope, kind: 'identity_provider.client_secret', ownerId: id }) as const

/** Our client at the provider, with its secret. Refuses secret.unavailable. The scope's role is in force. */
export async function clientOf(
  ctx: Ctx,
  { tenant_id, id, issuer, client_id, has_secret }: ProviderRow,
): Promise<OidcClient> {
  return {
    issuer,
    clientId: client_id,
    clientSecret: has_secret ? await openSealed(ctx, secretPlace(tenant_id, id)) : undefined,
    manyIssuers: standsForMany(ctx.config.providerPresets, issuer),
    answerMs: ctx.config.providerAnswerMs,
  }
}

/**
 * Removes a locked provider with its secret. The scope's role is in force. The caller has removed switches and
 * connections before.
 */
export async function deleteProvider(ctx: Ctx, scope: string, id: string): Promise<void> {
  await removeSealed(ctx, secretPlace(scope, id))
  await ctx.tx`delete from identity_provider where tenant_id = ${scope} and id = ${id}`
}
