/**
 * A provider's configuration before it is stored: fills in absent members, checks the rules of its issuer, and runs
 * discovery on the issuer. The same for a workspace's own provider and for the installation's. Spec:
 * IdentityProviderConfiguration; Admin: identity providers, rule 2; T-17.
 */

import { refuse, refuseMember } from '../../../contract/problem.ts'
import type { Configuration, ProviderKind, Provisioning } from '../../../contract/providers/operations.ts'
import type { Role } from '../../../contract/vocabulary.ts'
import type { Config } from '../../../kernel/config/config.ts'
import { isPublicProvider, presetOf, standsForMany } from '../../../kernel/egress/oidc-presets.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import type { Actor } from '../../../kernel/values/actor.ts'

export interface Settled {
  readonly issuer: string
  readonly clientId: string
  /** Undefined: not sent. */
  readonly clientSecret: string | null | undefined
  readonly displayName: string | null
  readonly kind: ProviderKind
  readonly provisioning: Provisioning
  readonly position: number
  readonly enabled: boolean | undefined
  readonly allowedEmailDomains: readonly string[]
  readonly allowedDirectories: readonly string[]
  readonly newcomerRole: Role | null
  readonly newcomerGroupId: string | null
}

/**
 * Fills in absent members and runs discovery, with no transaction open. Refuses request.invalid,
 * identity_provider.kind_mismatch, egress.forbidden, identity_provider.discovery_failed.
 */
export async function settleAndDiscover(
  installation: Installation,
  _: Actor,
  { body }: { readonly body: Configuration },
): Promise<Settled> {
  const settled = settle(installation.config, body)
  await discoverNow(installation, settled)
  return settled
}

/** Refuses request.invalid, identity_provider.kind_mismatch. */
function settle({ providerPresets }: Config, body: Configuration): Settled {
  const preset = presetOf(providerPresets, body.issuer)
  const kind = preset?.kind ?? 'GENERIC'
  if (body.kind !== undefined && body.kind !== kind) refuse('identity_provider.kind_mismatch', { kind })
  const isPublic = isPublicProvider(providerPresets, body)
  if (isPublic && (body.provisioning ?? 'INVITED_ONLY') !== 'INVITED_ONLY')
    refuseMember('/provisioning', 'provider.public')
  if (!preset && body.allowed_directories.length > 0) refuseMember('/allowed_directories', 'provider.no_directories')
  checkEntries(body)
  checkNewcomers(body)
  return {
    issuer: body.issuer,
    clientId: body.client_id,
    clientSecret: body.client_secret,
    displayName: body.display_name ?? null,
    kind,
    provisioning: body.provisioning ?? (isPublic ? 'INVITED_ONLY' : 'DOMAINS'),
    position: body.position,
    enabled: body.enabled,
    allowedEmailDomains: body.allowed_email_domains.map((domain) => domain.toLowerCase()),
    allowedDirectories: body.allowed_directories,
    newcomerRole: body.newcomer_role ?? null,
    newcomerGroupId: body.newcomer_group_id ?? null,
  }
}

function checkEntries({ allowed_email_domains, allowed_directories }: Configuration): void {
  const isTwice = (list: readonly string[]) => new Set(list).size !== list.length
  if (isTwice(allowed_email_domains.map((domain) => domain.toLowerCase())))
    refuseMember('/allowed_email_domains', 'list.unique')
  if (isTwice(allowed_directories)) refuseMember('/allowed_directories', 'list.unique')
}

function checkNewcomers({ newcomer_role, newcomer_group_id }: Configuration): void {
  if (newcomer_role === 'OWNER')
    refuseMember('/newcomer_role', 'value.one_of', { values: ['VIEWER', 'COMMENTER', 'MEMBER', 'ADMIN'] })
  if (newcomer_role && newcomer_group_id)
    refuseMember('/newcomer_group_id', 'member.conflicts', { with: ['newcomer_role'] })
}

async function discoverNow(installation: Installation, { issuer, clientId }: Settled): Promise<void> {
  const egress = await installation.egress()
  const { discover } = await import('../../../kernel/egress/oidc.ts')
  const { providerPresets, providerAnswerMs: answerMs } = installation.config
  const manyIssuers = standsForMany(providerPresets, issuer)
  await discover(egress, { issuer, clientId, clientSecret: undefined, manyIssuers, answerMs }).catch(
    (error: unknown) => {
      const { name, reason } = error as { name: string; reason: string }
      if (name === 'EgressRefused') refuse('egress.forbidden')
      if (name === 'OidcFailure') refuse('identity_provider.discovery_failed', { reason })
      throw error
    },
  )
}

/**
 * The checks of a change that a creation does not need. Refuses identity_provider.withdraw_instead where `enabled`
 * differs, request.invalid where another issuer would get the sealed secret.
 */
export function checkChange(
  settled: Settled,
  now: { readonly enabled: boolean; readonly issuer: string; readonly has_secret: boolean },
): void {
  if (settled.enabled !== undefined && settled.enabled !== now.enabled) refuse('identity_provider.withdraw_instead')
  if (settled.issuer !== now.issuer && now.has_secret && settled.clientSecret === undefined)
    refuseMember('/client_secret', 'member.required')
}
