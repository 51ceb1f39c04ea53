/**
 * Signatures of deliveries (Standard Webhooks 1.0.0).
 *
 *    signed    = event id "." seconds since 1970 "." body, byte for byte
 *    signature = "v1," base64( HMAC-SHA256( secret, signed ) )      one for each secret, the newest first
 *
 * Made at the moment of the attempt and never stored. Spec: decisions 5, Delivery.
 */
import { createHmac, createSecretKey, hash, type KeyObject, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

/** A new secret as its receiver configures it. */
export const mintSecret = () => `${prefix}${randomBytes(32).toString('base64')}`

/** The key of a secret, as an object: from bytes, each signature would make a key, which takes longer than signing. */
export const keyOf = (secret: string): KeyObject => createSecretKey(Buffer.from(secret.slice(prefix.length), 'base64'))

export interface Signed {
  readonly headers: Readonly<Record<string, string>>
  /** SHA-256 of the signed bytes, in hex. */
  readonly sha256: string
}

/** The headers of a body, made only of values of the server. `keys`: newest first; `atSeconds`: since 1970. */
export function signed(eventId: string, atSeconds: number, body: Buffer, keys: readonly KeyObject[]): Signed {
  const bytes = Buffer.concat([Buffer.from(`${eventId}.${atSeconds}.`), body])
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(bytes).digest('base64')}`)
  return {
    headers: {
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'x-service-event-id': eventId,
      'webhook-id': eventId,
      'webhook-timestamp': String(atSeconds),
      'webhook-signature': signatures.join(' '),
    },
    sha256: hash('sha256', bytes, 'hex'),
  }
}
