/** Deliveries for people: what happened, what it means, and what comes next. */
import type { AttemptError, Delivery, DeliveryAttempt, WebhookState } from '../../core/contract/webhooks/operations.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'
import { printable } from './printable.ts'

const attemptsAtMost = 8

/** What each failure means, and where to look. */
const meanings: Readonly<Record<AttemptError, string>> = {
  'egress.refused': 'The target is no host on the internet, and no operator has released it (SVC_EGRESS_ALLOW).',
  'dns.failed': "The target's name did not resolve. Check the name, and the DNS of the daemon's machine.",
  'connect.failed': 'Nothing accepted the connection: is the receiver running, and its port open?',
  'connect.timeout': 'The target did not accept the connection within 5 s: a firewall, or a host that is down.',
  'tls.failed': 'No TLS connection came about: a certificate that is over, of another name, or of nobody known.',
  timeout: 'The target did not answer within 15 s. Answer 2xx first, and work afterwards.',
  'connection.closed': 'The target closed the connection before it answered.',
  'response.malformed': 'What the target answered is no HTTP.',
  'response.redirect': 'The target answered a redirect, and redirects are not followed. Give the webhook the new URL.',
  'response.status':
    'The target answered, but not 2xx. Its own log says why; the body below is the start of its answer.',
  'event.gone': 'The event is older than events are kept, so there is nothing left to send.',
  interrupted: 'The daemon ended during the attempt; whether the target got it nobody knows. The event keeps its id.',
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

/** Where an attempt went and what took how long; nothing where nothing was recorded. */
export function traceLines(trace: Told | null): string[] {
  if (!trace) return []
  const phases = Object.entries(trace.phases_ms).filter(([, ms]) => ms !== null)
  const rows = [
    [
      'to',
      [trace.host, trace.address && `at ${trace.address}`, trace.reused && '(connection was open)']
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

/** What happens next, and what can be done. `state` null: the webhook is gone. */
export function nextOf(delivery: Standing, state: string | null): string {
  const { status, attempt, next_attempt_at: next } = delivery
  if (status === 'SUCCEEDED') return 'Nothing: the target took it.'
  if (status === 'DEAD_LETTER')
    return `Nothing by itself. Once the receiver is mended: svc deliveries replay ${delivery.webhook_id} ${delivery.id}`
  if (state === null) return 'Nothing: the webhook is gone.'
  if (state !== 'ACTIVE')
    return `Nothing while the webhook is ${state as WebhookState}: svc webhooks resume ${delivery.webhook_id}`
  if (next === null) return `Attempt ${attempt} is under way.`
  const ordinal =
    delivery.cause === 'REPLAY' ? 'The one attempt of the replay' : `Attempt ${attempt + 1} of ${attemptsAtMost}`
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
