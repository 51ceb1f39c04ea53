/**
 * Forwards events to a developer's receiver, signed in the same way as by the daemon, with
 * a secret that is valid for one run of the command.
 */

import { keyOf, signed } from '../../core/areas/webhooks/signature.ts'
import type { CloudEvent } from '../../core/contract/events/operations.ts'
import { writeJson } from '../../core/kernel/values/json.ts'
import { exchange, NotReached } from '../call/http.ts'
import { Failure } from '../failure.ts'

export interface Forwarded {
  readonly event_id: string
  readonly type: string
  /** Null if the receiver did not answer. */
  readonly status: number | null
  readonly duration_ms: number
  readonly error: string | null
}

/** The URL of a receiver. Fails (usage) for other texts. */
export function receiverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === '')
    return url
  throw new Failure(
    'usage',
    `"${text}" is not the URL of a receiver.`,
    'Write, for example, http://localhost:3000/hooks.',
  )
}

/** Posts one event once. Follows no redirect, and sends nothing again after an answer other than 2xx. */
export async function forward(url: URL, secret: string, event: CloudEvent): Promise<Forwarded> {
  const body = Buffer.from(writeJson(event))
  const { headers } = signed(event.id, Math.floor(Date.now() / 1000), body, [keyOf(secret)])
  const began = performance.now()
  const told = (status: number | null, error: string | null): Forwarded => ({
    event_id: event.id,
    type: event.type,
    status,
    duration_ms: Math.round(performance.now() - began),
    error,
  })
  try {
    return told((await exchange({ method: 'POST', url, headers, body })).status, null)
  } catch (error) {
    if (!(error instanceof NotReached)) throw error
    return told(null, /\(([^)]*)\)/.exec(error.message)?.[1] ?? error.message)
  }
}

const isTaken = ({ status }: Forwarded) => status !== null && status >= 200 && status < 300

/** `svc.work.label.created.v1  0199…  → 200 in 12 ms`. */
export const forwardedLine = (one: Forwarded) =>
  `${one.type}  ${one.event_id}  -> ${one.status ?? `no answer: ${one.error}`} in ${one.duration_ms} ms${isTaken(one) ? '' : '  (the daemon would try again)'}`
