/**
 * Tokens: opaque, with a checksum, stored only as a hash.
 *
 *    svcp_ + 43 base62 characters (256 random bits) + 6 base62 characters (CRC-32)
 *
 * The checksum lets the gate refuse invalid texts and scanners without a query. 256 random
 * bits need no slow hash, so SHA-256 is stored and looked up.
 *
 * Spec: decisions 2, Tokens.
 */
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const prefixes = {
  personal: 'svcp',
  service: 'svca',
  session: 'svcs',
  refresh: 'svcr',
  stepUp: 'svcu',
  invitation: 'svci',
  flow: 'svcf',
  passwordReset: 'svcw',
  addressConfirmation: 'svcc',
  challenge: 'svch',
  link: 'svcl',
} as const
export type TokenKind = keyof typeof prefixes

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const bodyLength = 43
const shape = /^(svc[parsuiwfchl])_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/** The pattern of such a token in the OpenAPI document. */
export const tokenPattern = (kind: TokenKind) => `^${prefixes[kind]}_[0-9A-Za-z]{49}$`

export interface MintedToken {
  /** Shown once, never stored. */
  readonly token: string
  readonly hash: Buffer
  /** The part that lists show. */
  readonly last4: string
}

export function mintToken(kind: TokenKind): MintedToken {
  const body = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), bodyLength)
  const prefix = prefixes[kind]
  const token = `${prefix}_${body}${checksum(prefix + body)}`
  return { token, hash: hashToken(token), last4: token.slice(-4) }
}

/** Whether the text can be a token of one of these kinds at all; asks no database. */
export function isTokenShaped(token: string, ...kinds: readonly TokenKind[]): boolean {
  const [, prefix, body, check] = shape.exec(token) ?? []
  if (!prefix || !body || !check) return false
  return kinds.some((kind) => prefixes[kind] === prefix) && checksum(prefix + body) === check
}

export const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer')

const checksum = (text: string) => base62(BigInt(crc32(text)), 6)

function base62(value: bigint, length: number): string {
  let rest = value
  let digits = ''
  for (let place = 0; place < length; place += 1) {
    digits = alphabet[Number(rest % 62n)] + digits
    rest /= 62n
  }
  return digits
}
