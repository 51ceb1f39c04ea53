/**
 * Well-known providers, by issuer: their kind, who can have an account there, and which addresses
 * they confirm.
 *
 * A kind belongs to its issuer: a provider with another issuer cannot have it, and a provider
 * with this issuer can have no other. Anybody can have an account at a public provider, so
 * such an account proves nothing about this workspace: a public provider signs in only
 * invited people.
 *
 * An address counts only if the provider confirms it. Google confirms its own mail addresses
 * and those of an organisation's accounts; of other addresses it only knows that the person
 * could once read mail there. Microsoft's `email` is a text from a directory's administrator:
 * it is trusted only for directories that were configured.
 *
 * Spec: IdentityProviderConfiguration; Admin: identity providers, rule 2. Ours: the kinds.
 */

import type { ProviderKind } from '../../contract/providers/operations.ts'
import type { Claims } from './oidc.ts'

export interface Preset {
  readonly kind: Exclude<ProviderKind, 'GENERIC'>
  readonly displayName: string
  /** The form of its issuers, for people. */
  readonly issuer: string
  readonly isIssuer: RegExp
  /** Issuers where anybody can have an account. */
  readonly isPublic: RegExp
  /** Issuers that stand for many directories, each of which signs as its own issuer. */
  readonly isMany?: RegExp
  /** The claim that names the organisation. */
  readonly directoryClaim: string
  readonly vouches: (claims: Claims, provider: Trusted) => boolean
}

/** The part of a provider's configuration that decides which claims are believed. */
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

/** Whether anybody can have an account there, so that an account proves nothing. False if organisations are named. */
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
