/**
 * Webhooks: subscriptions, and the deliveries of events to them.
 * Spec: Webhook subscription; Webhooks and event pull; decisions 5. The pull endpoint is
 * declared in contract/events/operations.ts, what operators see of deliveries in contract/webhooks/operator-view.ts.
 */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { count, listOf, moment, pageOf, paging, text, uri, uuid, version } from '../vocabulary.ts'

const states = ['ACTIVE', 'PAUSED', 'DISABLED'] as const
export type WebhookState = (typeof states)[number]

const disabledReasons = ['target_gone', 'unreachable', 'owner_left'] as const
export type DisabledReason = (typeof disabledReasons)[number]

export const deliveryStatuses = ['PENDING', 'SUCCEEDED', 'FAILED', 'DEAD_LETTER'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

export const deliveryCauses = ['EVENT', 'SEND', 'REPLAY'] as const
export type DeliveryCause = (typeof deliveryCauses)[number]

const whole = count(0, Number.MAX_SAFE_INTEGER)

/** As it is answered, and as the events about it carry it. */
export const WebhookRepresentation = z
  .object({
    id: uuid,
    target_url: z.string(),
    event_types: z.array(z.string()),
    filter: z.null().describe('always null: filters are refused'),
    state: z.enum(states),
    disabled_reason: z
      .enum(disabledReasons)
      .nullable()
      .describe(
        'target_gone: it answered 410; unreachable: it failed too often for too long; owner_left: the account that it acted for lost its last role',
      ),
    acts_for: uuid
      .nullable()
      .describe(
        'the account that made it, or last changed its target or types or set it going: events of a private container come if that account sees the container; null: of open ones alone',
      ),
    consecutive_failures: whole.describe('failed attempts since the last success; a replay counts neither way'),
    failing_since: moment.nullable(),
    secret_rotated_at: moment.nullable().describe('null while the secret is the one it was created with'),
    previous_secret_until: moment
      .nullable()
      .describe('until then deliveries carry a signature under an earlier secret as well'),
    created_at: moment,
    updated_at: moment,
    version,
  })
  .meta({ id: 'Webhook' })
export type Webhook = z.output<typeof WebhookRepresentation>

const WebhookWithSecret = WebhookRepresentation.extend({
  secret: z.string().describe('`whsec_` and base64 of 32 bytes (Standard Webhooks); shown this once'),
}).meta({ id: 'WebhookWithSecret' })

const targetUrl = uri(2000).describe('https; http only towards hosts that the operator released')
const eventTypes = z
  .array(text(1, 200))
  .min(1)
  .max(200)
  .describe('full names of known types, each once: `GET /meta/event-types` lists them')
const filter = text(0, 4000).nullish().describe('refused until there is an expression engine; null is none')

const WebhookSubscriptionCreate = z
  .strictObject({ target_url: targetUrl, event_types: eventTypes, filter })
  .meta({ id: 'WebhookSubscriptionCreate' })

const WebhookSubscriptionUpdate = z
  .strictObject({
    target_url: targetUrl.optional(),
    event_types: eventTypes.optional(),
    filter,
    state: z.enum(['ACTIVE', 'PAUSED']).optional(),
  })
  .meta({ id: 'WebhookSubscriptionUpdate' })

const WebhookSend = z.strictObject({ event_id: uuid }).meta({ id: 'WebhookSend' })

const WebhookSecretRotation = z
  .strictObject({
    grace_seconds: count(0, 604_800)
      .nullish()
      .describe('how long the secret in force is signed with as well; 86,400 where absent, 0 ends it at once'),
  })
  .meta({ id: 'WebhookSecretRotation' })

/** Why an attempt failed; null when the target answered 2xx. */
export const attemptErrors = [
  'egress.refused',
  'dns.failed',
  'connect.failed',
  'connect.timeout',
  'tls.failed',
  'timeout',
  'connection.closed',
  'response.malformed',
  'response.redirect',
  'response.status',
  'interrupted',
  'event.gone',
] as const
export type AttemptError = (typeof attemptErrors)[number]

export const guardRules = ['global', 'released', 'refused'] as const
/** What the guard said: the address is routed on the internet; the operator released it; no. */
export type GuardRule = (typeof guardRules)[number]

const milliseconds = z.number().min(0)

/** What is told of an attempt's way to the target, to whoever may see it. */
export const tracePhases = z
  .object({
    dns: milliseconds.nullable(),
    connect: milliseconds.nullable(),
    tls: milliseconds.nullable(),
    wait: milliseconds.nullable().describe('from the last byte sent to the first one answered'),
    read: milliseconds.nullable(),
  })
  .describe('milliseconds; null for what was not reached, or not needed on a connection that was open')
  .meta({ id: 'DeliveryPhases' })

const DeliveryTrace = z
  .object({
    host: z.string().describe('host and port of the target at the time'),
    dns_answers: z.array(z.string()).describe('those that are routed on the internet; the others are not shown'),
    address: z.string().nullable().describe('that was checked and connected to; null where it is not shown'),
    rule: z.enum(guardRules).nullable().describe("the egress guard's verdict; null where the name did not resolve"),
    reused: z.boolean().describe('whether the connection was open already'),
    tls_version: z.string().nullable(),
    phases_ms: tracePhases,
    signed_sha256: z.string().nullable().describe('SHA-256 in hex of the signed bytes: `id.timestamp.body`'),
  })
  .meta({ id: 'DeliveryTrace' })
export type DeliveryTrace = z.output<typeof DeliveryTrace>

const DeliveryAttempt = z
  .object({
    n: whole,
    at: moment,
    status: z.int().nullable().describe("the target's status; null while under way, and where it gave none"),
    duration_ms: whole.nullable(),
    body: z
      .string()
      .nullable()
      .describe(
        'the first 4,096 bytes of the answer; control characters as \\u00XX, and cut where that makes it longer; null where the caller does not see the event',
      ),
    error: z.enum(attemptErrors).nullable(),
    trace: DeliveryTrace.nullable(),
  })
  .meta({ id: 'DeliveryAttempt' })
export type DeliveryAttempt = z.output<typeof DeliveryAttempt>

const Delivery = z
  .object({
    id: uuid,
    webhook_id: uuid,
    event_id: uuid,
    event_type: z.string(),
    status: z.enum(deliveryStatuses),
    attempt: whole.describe('how many attempts were begun; goes on counting after a replay'),
    cause: z.enum(deliveryCauses),
    next_attempt_at: moment.nullable(),
    created_at: moment,
    finished_at: moment.nullable(),
    attempts: z.array(DeliveryAttempt),
  })
  .meta({ id: 'Delivery' })
export type Delivery = z.output<typeof Delivery>

const webhookParams = z.strictObject({ webhookId: uuid })
const deliveryParams = z.strictObject({ webhookId: uuid, deliveryId: uuid })
const needs = { caller: 'workspace', scope: 'workspace:admin', role: 'ADMIN' } as const
const recovery = { refused: "where its events go is the workspace's own affair" } as const
const readingIsForAdmins = 'reading needs ADMIN as well: a target URL may hold a secret of its receiver'

export const webhookOperations = defineOperations('webhooks', {
  listWebhooks: {
    method: 'GET',
    path: '/integrations/webhooks',
    summary: "The workspace's webhooks, newest first",
    spec: 'Webhooks and event pull',
    success: { status: 200, answer: listOf(WebhookRepresentation) },
    needs,
    recovery,
    assumed: [readingIsForAdmins],
  },
  createWebhook: {
    method: 'POST',
    path: '/integrations/webhooks',
    summary: 'Subscribe a target to events; its signing secret is shown once',
    spec: 'Webhooks and event pull; Webhook subscription; Egress guard',
    body: WebhookSubscriptionCreate,
    success: {
      status: 201,
      answer: WebhookWithSecret,
      location: (answer: { id: string }) => `/integrations/webhooks/${answer.id}`,
    },
    needs,
    refuses: ['webhook.target_forbidden', 'webhook.filter_unsupported', 'quota.exceeded'],
    idempotent: true,
    secret: true,
    recovery,
    assumed: [
      'a name that does not resolve now is taken: it is looked up again at every attempt',
      'a new webhook is ACTIVE, and receives what happens from then on',
    ],
  },
  getWebhook: {
    method: 'GET',
    path: '/integrations/webhooks/{webhookId}',
    summary: 'One webhook',
    spec: 'Webhooks and event pull',
    params: webhookParams,
    success: { status: 200, answer: WebhookRepresentation },
    needs,
    recovery,
  },
  changeWebhook: {
    method: 'PATCH',
    path: '/integrations/webhooks/{webhookId}',
    summary: 'Change where a webhook goes and what it receives, pause it or set it going again',
    spec: 'Webhooks and event pull, rule 2; States: Webhook subscription',
    params: webhookParams,
    body: WebhookSubscriptionUpdate,
    patch: 'merge',
    success: { status: 200, answer: WebhookRepresentation },
    needs,
    refuses: ['webhook.target_forbidden', 'webhook.filter_unsupported', 'webhook.not_active'],
    ifMatch: true,
    recovery,
    assumed: [
      'a DISABLED webhook is not paused (409 webhook.not_active); it is set ACTIVE, which resets its count',
      'what is pending waits while it is PAUSED or DISABLED; what happens meanwhile is not delivered later',
      'a changed target or list of types counts for what is pending too',
      'who changes the target or the types, or sets it ACTIVE, is whom it acts for from then on',
      'what is pending of a container that this account does not see goes to the dead letter',
    ],
  },
  deleteWebhook: {
    method: 'DELETE',
    path: '/integrations/webhooks/{webhookId}',
    summary: 'Remove a webhook, its secrets and its deliveries',
    spec: 'Webhooks and event pull, rule 2',
    params: webhookParams,
    success: { status: 204 },
    needs,
    recovery,
    assumed: ['no attempt begins once this is answered; one that is under way is not called back'],
  },
  listDeliveries: {
    method: 'GET',
    path: '/integrations/webhooks/{webhookId}/deliveries',
    summary: 'The deliveries of a webhook, newest first, with every attempt',
    spec: 'Webhooks and event pull; States: Delivery',
    params: webhookParams,
    query: z.strictObject({ ...paging(200, 50), status: z.enum(deliveryStatuses).optional() }),
    success: { status: 200, answer: pageOf(Delivery) },
    needs,
    refuses: ['cursor.invalid', 'gone'],
    recovery,
    assumed: [
      'finished deliveries are kept as long as events: 30 days',
      'what the target answered to an event that the caller does not see is null',
    ],
  },
  getDelivery: {
    method: 'GET',
    path: '/integrations/webhooks/{webhookId}/deliveries/{deliveryId}',
    summary: 'One delivery, with every attempt',
    spec: 'Webhooks and event pull; the path is ours',
    params: deliveryParams,
    success: { status: 200, answer: Delivery },
    needs,
    recovery,
  },
  replayDelivery: {
    method: 'POST',
    path: '/integrations/webhooks/{webhookId}/deliveries/{deliveryId}:replay',
    summary: 'Make one more attempt at a delivery in the dead letter',
    spec: 'Webhooks and event pull, rule 3; decisions 5',
    params: deliveryParams,
    success: { status: 202, answer: Delivery },
    needs,
    refuses: ['webhook.delivery_not_dead', 'webhook.not_active', 'webhook.event_gone', 'webhook.event_unseen'],
    recovery,
    assumed: [
      'the delivery is PENDING until the attempt is over',
      'a paused or disabled webhook is refused, as by :send',
      'an event older than events are kept is refused (410)',
      'sight is asked anew: of the caller (404) and of the account that the webhook acts for (409)',
    ],
  },
  sendEvent: {
    method: 'POST',
    path: '/integrations/webhooks/{webhookId}:send',
    summary: 'Deliver one event of the past, whatever types the webhook receives',
    spec: 'Webhooks and event pull, rule 4',
    params: webhookParams,
    body: WebhookSend,
    success: { status: 202, answer: Delivery },
    needs,
    refuses: ['webhook.not_active', 'webhook.event_restored', 'webhook.event_unseen'],
    recovery,
    assumed: [
      'an unknown event, another workspace’s, and one that the caller does not see, is not_found',
      'an event written by a restore: 409 webhook.event_restored',
    ],
  },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/integrations/webhooks/{webhookId}:rotate-secret',
    summary: 'Sign with a new secret from now on; it is shown once',
    spec: 'Webhooks and event pull, rule 5; decisions 5',
    params: webhookParams,
    body: WebhookSecretRotation,
    success: { status: 200, answer: WebhookWithSecret },
    needs,
    refuses: ['webhook.rotation_limit'],
    idempotent: true,
    secret: true,
    recovery,
    assumed: ['at most five earlier secrets are in grace; grace_seconds 0 ends all of them'],
  },
})
