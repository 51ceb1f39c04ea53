/** Deliveries for people: what happened, what it means, and what comes next. */
import type { AttemptError, Delivery, DeliveryAttempt, WebhookState } from '../../core/contract/webhooks/operations.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'
import { printable } from './printable.ts'

const attemptsAtMost = 8

/** The meaning of each failure, and what to check. */
const meanings: Readonly<Record<AttemptError, string>> = {
  'egress.refused': 'The target is not a public address, and no operator has allowed it (SVC_EGRESS_ALLOW).',
  'dns.failed': "The target's name did not resolve. Check the name, and the DNS of the daemon's host.",
  'connect.failed': 'The target refused the connection. Is the receiver running, and is its port open?',
  'connect.timeout':
    'The target did not accept the connection within 5 s. Check for a firewall, or a host that is down.',
  'tls.failed':
    'The TLS handshake failed. The certificate may be expired, for another name, or from an unknown issuer.',
  timeout:
    'The target did not answer within 15 s. A receiver should answer 2xx first and process the event afterwards.',
  'connection.closed': 'The target closed the connection before it answered.',
  'response.malformed': "The target's answer is not valid HTTP.",
  'response.redirect':
    'The target answered with a redirect, and redirects are not followed. Change the webhook to the new URL.',
  'response.status':
    'The target answered with a status other than 2xx. Its own log has the cause; the body is the start of its answer.',
  'event.gone': 'The event is no longer stored, so it cannot be sent.',
  interrupted:
    'The daemon ended during the attempt, and the target may have received the event. It is sent again under the same id.',
}

export const meaningOf = (error: AttemptError) => meanings[error]

/** `2  2026-09-01 09:00:05 +00:00  503 in 24 ms  response.status`. */
export function attemptLine({
  n,
  at,
  status,
  duration_ms,
  error,
}: Pick<DeliveryAttempt, 'n' | 'at' | 'status' | 'duration_ms' | 'error'>): string {
  const took = duration_ms === null ? '' : ` in ${duration_ms} ms`
  const outcome = error === null && status === null ? 'under way' : `${status ?? 'no answer'}${took}`
  return [String(n).padStart(2), moment(at), outcome, error ?? ''].filter(Boolean).join('  ')
}

type Told = Pick<
  NonNullable<DeliveryAttempt['trace']>,
  'host' | 'address' | 'rule' | 'reused' | 'tls_version' | 'phases_ms' | 'signed_sha256' | 'dns_answers'
>

/** The host and address of an attempt, and the duration of each phase; empty if nothing was recorded. */
export function traceLines(trace: Told | null): string[] {
  if (!trace) return []
  const phases = Object.entries(trace.phases_ms).filter(([, ms]) => ms !== null)
  const rows = [
    [
      'to',
      [trace.host, trace.address && `at ${trace.address}`, trace.reused && '(reused connection)']
        .filter(Boolean)
        .join(' '),
    ],
    ['names', trace.dns_answers.join(' ')],
    ['guard', trace.rule ?? ''],
    ['tls', trace.tls_version ?? ''],
    ['took', phases.map(([name, ms]) => `${name} ${Math.round(Number(ms) * 10) / 10} ms`).join(', ')],
    ['signed', trace.signed_sha256 === null ? '' : `sha256 ${trace.signed_sha256}`],
  ] as const
  return rows.filter(([, value]) => value !== '').map(([name, value]) => `      ${name.padEnd(6)}  ${printable(value)}`)
}

type Standing = Pick<Delivery, 'status' | 'attempt' | 'cause' | 'next_attempt_at' | 'id' | 'webhook_id'>

/** What happens next, and what the user can do. `state` null: the webhook was deleted. */
export function nextOf(delivery: Standing, state: string | null): string {
  const { status, attempt, next_attempt_at: next } = delivery
  if (status === 'SUCCEEDED') return 'Nothing: the target accepted it.'
  if (status === 'DEAD_LETTER')
    return `Nothing by itself. After the receiver is fixed: svc deliveries replay ${delivery.webhook_id} ${delivery.id}`
  if (state === null) return 'Nothing: the webhook was deleted.'
  if (state !== 'ACTIVE')
    return `Nothing while the webhook is ${state as WebhookState}. To resume it: svc webhooks resume ${delivery.webhook_id}`
  if (next === null) return `Attempt ${attempt} is under way.`
  const ordinal =
    delivery.cause === 'REPLAY' ? 'The single attempt of the replay' : `Attempt ${attempt + 1} of ${attemptsAtMost}`
  return `${ordinal} is due at ${moment(next)}.`
}

export const deliveryDetails = (delivery: Delivery) =>
  details([
    ['event', `${delivery.event_type} ${delivery.event_id}`],
    ['status', delivery.status],
    ['cause', delivery.cause],
    ['attempts', delivery.attempt],
    ['next attempt', delivery.next_attempt_at && moment(delivery.next_attempt_at)],
    ['created', moment(delivery.created_at)],
    ['finished', delivery.finished_at && moment(delivery.finished_at)],
    ['webhook', delivery.webhook_id],
    ['id', delivery.id],
  ])
