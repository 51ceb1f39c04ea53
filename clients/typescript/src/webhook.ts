/**
 * Verifies what a webhook of svc received (Standard Webhooks 1.0.0).
 *
 *    signed    = webhook-id "." webhook-timestamp "." body, byte for byte
 *    signature = "v1," base64( HMAC-SHA256( secret, signed ) ), several with a space between while a secret rotates
 */
import type { CloudEvent } from './generated.ts'
import { readJson } from './json.ts'

/** The delivery is not from svc, or not for this secret, or older than it may be. */
export class NotVerified extends Error {
  override readonly name = 'NotVerified'
}

export interface ReceivedWebhook {
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The bytes as they arrived, or their text: never what a parser made of them. */
  readonly body: string | Uint8Array<ArrayBuffer>
}

export interface VerifyOptions {
  /** `whsec_…`, as the webhook's creation answered it. */
  readonly secret: string
  /** How far the time of the delivery may be from now, in seconds; 300 where absent. */
  readonly toleranceSeconds?: number
  /** Milliseconds since 1970; the clock where absent. */
  readonly now?: number
}

/** The event. It may come more than once: its `id` stays the same. Throws NotVerified. */
export async function verifyWebhook(delivery: ReceivedWebhook, options: VerifyOptions): Promise<CloudEvent> {
  const { secret, toleranceSeconds = 300, now = Date.now() } = options
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = headerOf(delivery, name)
    if (value === undefined) throw new NotVerified(`the header ${name} is missing`)
    return value
  }) as [string, string, string]
  if (!/^\d{1,12}$/.test(timestamp)) throw new NotVerified('webhook-timestamp is no number of seconds')
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new NotVerified('the delivery is too old, or from the future')
  const body = typeof delivery.body === 'string' ? new TextEncoder().encode(delivery.body) : delivery.body
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  const key = await crypto.subtle.importKey(
    'raw',
    bytesOf(secret.replace(/^whsec_/, '')),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  )
  for (const signature of signatures.split(' ')) {
    const [version, value = ''] = signature.split(',')
    // `verify` compares in constant time.
    if (version === 'v1' && (await crypto.subtle.verify('HMAC', key, bytesOf(value), signed)))
      return readJson(new TextDecoder().decode(body)) as CloudEvent
  }
  throw new NotVerified('no signature is right')
}

function headerOf({ headers }: ReceivedWebhook, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? []
  return typeof value === 'string' ? value : value?.[0]
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    throw new NotVerified('what should be base64 is not')
  }
}
