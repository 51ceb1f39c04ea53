/**
 * Time-based one-time passwords (RFC 6238): SHA-1, 6 digits, 30 s, as every authenticator app takes them.
 *
 * A code is valid in its own time step and in the one before and after, because clocks differ and
 * people type slowly. The answer is the code's time step, so that the caller can refuse one that
 * was used.
 */
import { Secret, TOTP } from 'otpauth'

const period = 30
const window = 1
/** As long as the hash (RFC 4226, 4): 160 bits. */
const secretBytes = 20

/** A new secret in base32. */
export const newSecret = (): string => new Secret({ size: secretBytes }).base32

const generatorOf = (secret: string, names: { issuer?: string; label?: string } = {}) =>
  new TOTP({ ...names, secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period })

/** What the QR code holds; an app lists it as `issuer: label`. */
export const uriOf = (secret: string, issuer: string, label: string): string =>
  // Apps split issuer and label at a colon.
  generatorOf(secret, { issuer: issuer.replaceAll(':', ' '), label: label.replaceAll(':', ' ') }).toString()

/**
 * The time step of the code, near the moment (seconds since 1970); undefined if the code is wrong. Takes constant time.
 */
export function stepOf(secret: string, code: string, atSeconds: number): number | undefined {
  const distance = generatorOf(secret).validate({ token: code, window, timestamp: atSeconds * 1000 })
  return distance === null ? undefined : Math.floor(atSeconds / period) + distance
}
