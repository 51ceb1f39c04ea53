/** Checks whether a delivery was signed with a secret (Standard Webhooks 1.0.0), and if not, finds the reason. */
import { createSecretKey, timingSafeEqual } from 'node:crypto'
import { signed } from '../../core/areas/webhooks/signature.ts'
import { Failure } from '../failure.ts'

export interface ReceivedDelivery {
  readonly id: string
  /** Seconds since 1970, as in the header. */
  readonly timestamp: string
  /** One or more signatures, as in the header. */
  readonly signature: string
  readonly body: Buffer
}

/** The key in `whsec_…`. Fails (usage) for any other text. */
export function keyIn(secret: string): Buffer {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret.trim()) ?? []
  const key = Buffer.from(base64, 'base64')
  if (key.length < 24)
    throw new Failure('usage', 'This is not a signing secret.', 'A signing secret begins with whsec_; copy all of it.')
  return key
}

export type Verdict =
  | { readonly valid: true; readonly age_seconds: number }
  | {
      readonly valid: false
      readonly reason:
        | 'timestamp.malformed'
        | 'timestamp.too_old'
        | 'timestamp.in_future'
        | 'signature.malformed'
        | 'signature.differs'
    }

/** The timestamp may differ from now by `toleranceSeconds`; undefined accepts any age. */
export function verdictOn(
  delivery: ReceivedDelivery,
  key: Buffer,
  toleranceSeconds: number | undefined,
  now = Date.now(),
): Verdict {
  if (!/^[0-9]{1,12}$/.test(delivery.timestamp)) return { valid: false, reason: 'timestamp.malformed' }
  const at = Number(delivery.timestamp)
  const given = delivery.signature.split(' ').filter((one) => one.startsWith('v1,'))
  if (given.length === 0) return { valid: false, reason: 'signature.malformed' }
  const made = signed(delivery.id, at, delivery.body, [createSecretKey(key)]).headers['webhook-signature'] ?? ''
  if (!given.some((one) => isSame(one, made))) return { valid: false, reason: 'signature.differs' }
  const age = Math.floor(now / 1000) - at
  if (toleranceSeconds !== undefined && age > toleranceSeconds) return { valid: false, reason: 'timestamp.too_old' }
  if (toleranceSeconds !== undefined && -age > toleranceSeconds) return { valid: false, reason: 'timestamp.in_future' }
  return { valid: true, age_seconds: age }
}

const isSame = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
