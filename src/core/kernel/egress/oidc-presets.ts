/**
 * Providers that are known by their issuer: the mark, whom they admit, what they vouch for.
 *
 * A mark belongs to its issuer: nobody else's provider may wear it, and its own may wear no
 * other. A public provider is one where anybody can have an account; that somebody has one
 * says nothing about this workspace, so it brings in the invited only.
 *
 * An address counts only where the provider vouches for it. Google does for its own mail and
 * for an organisation's accounts; for other addresses it only once knew that somebody could
 * read mail there. Microsoft's `email` is what a directory's administrator has typed: it is
 * believed of a directory that was named, and of no other.
 *
 * Spec: IdentityProviderConfiguration; Admin: identity providers, rule 2. Ours: the marks.
 */

import type { ProviderKind } from '../../contract/providers/operations.ts'
import type { Claims } from './oidc.ts'

export interface Preset {
  readonly kind: Exclude<ProviderKind, 'GENERIC'>
  readonly displayName: string
  /** How an issuer of it is written, for people. */
  readonly issuer: string
  readonly isIssuer: RegExp
  /** Issuers where anybody can have an account. */
  readonly isPublic: RegExp
  /** Issuers that stand for many, each of which signs as itself. */
  readonly isMany?: RegExp
  /** The claim that names the organisation. */
  readonly directoryClaim: string
  readonly vouches: (claims: Claims, provider: Trusted) => boolean
}

/** What of a provider's configuration says whom we believe. */
export interface Trusted {
  readonly issuer: string
  readonly allowed_directories: readonly string[]
}

const entraDirectory = /^https:\/\/login\.microsoftonline\.com\/[0-9a-f-]{36}\/v2\.0$/

export const productPresets: readonly Preset[] = [
  {
    kind: 'PRESET_ONE',
    displayName: 'Google',
    issuer: 'https://accounts.google.com',
    isIssuer: /^https:\/\/accounts\.google\.com$/,
    isPublic: /^https:\/\/accounts\.google\.com$/,
    directoryClaim: 'hd',
    vouches: ({ email, email_verified, hd }) =>
      email_verified === true && (typeof hd === 'string' || /@gmail\.com$/i.test(String(email))),
  },
  {
    kind: 'PRESET_TWO',
    displayName: 'Microsoft',
    issuer: 'https://login.microsoftonline.com/{directory}/v2.0',
    isIssuer: /^https:\/\/login\.microsoftonline\.com\/([0-9a-f-]{36}|common|organizations|consumers)\/v2\.0$/,
    isPublic: /\/(common|organizations|consumers)\/v2\.0$/,
    isMany: /\/(common|organizations|consumers)\/v2\.0$/,
    directoryClaim: 'tid',
    vouches: ({ xms_edov, tid }, { issuer, allowed_directories }) =>
      entraDirectory.test(issuer) ||
      xms_edov === true ||
      (typeof tid === 'string' && allowed_directories.includes(tid)),
  },
]

/** Issuers without a mark where anybody can have an account. */
const publicIssuers = new Set([
  'https://appleid.apple.com',
  'https://account.apple.com',
  'https://gitlab.com',
  'https://www.facebook.com',
  'https://www.linkedin.com/oauth',
  'https://api.login.yahoo.com',
  'https://login.yahoo.com',
  'https://slack.com',
  'https://id.twitch.tv/oauth2',
  'https://discord.com',
  'https://www.paypal.com',
])

/** The issuer without the slash that some write at its end. */
const bare = (issuer: string) => issuer.replace(/\/$/, '')

export const presetOf = (presets: readonly Preset[], issuer: string): Preset | undefined =>
  presets.find(({ isIssuer }) => isIssuer.test(bare(issuer)))

/** Whether having an account there says nothing about who somebody is. Named organisations make it theirs. */
export function isPublicProvider(presets: readonly Preset[], { issuer, allowed_directories }: Trusted): boolean {
  const preset = presetOf(presets, issuer)
  if (preset) return preset.isPublic.test(bare(issuer)) && allowed_directories.length === 0
  return publicIssuers.has(bare(issuer))
}

export const standsForMany = (presets: readonly Preset[], issuer: string): boolean =>
  presetOf(presets, issuer)?.isMany?.test(bare(issuer)) === true

/** The organisation that the claims name; undefined where the provider names none. */
export function directoryOf(presets: readonly Preset[], issuer: string, claims: Claims): string | undefined {
  const preset = presetOf(presets, issuer)
  const directory = preset && claims[preset.directoryClaim]
  return typeof directory === 'string' ? directory : undefined
}

/** The address that the provider vouches for, as it wrote it; undefined where there is none. */
export function vouchedAddress(presets: readonly Preset[], provider: Trusted, claims: Claims): string | undefined {
  const { email } = claims
  if (typeof email !== 'string' || email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email)) return undefined
  const preset = presetOf(presets, provider.issuer)
  const isVouched = preset ? preset.vouches(claims, provider) : claims['email_verified'] === true
  return isVouched ? email : undefined
}
