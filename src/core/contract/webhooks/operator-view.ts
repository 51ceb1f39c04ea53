/**
 * What operators see of deliveries: counts, states, hosts and the flight recorder; never an
 * event, an answer's body or the path of a target. The operations are ours.
 * Spec: Webhooks and event pull; decisions 5.
 */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { count, listOf, moment, uuid } from '../vocabulary.ts'
import { attemptErrors, deliveryCauses, deliveryStatuses, guardRules, tracePhases } from './operations.ts'

const whole = count(0, Number.MAX_SAFE_INTEGER)

/** Upper bounds of the histogram's classes, in milliseconds; the last class has none. */
export const durationClassesMs = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 15_000] as const

const DeliveryStats = z
  .object({
    tenant_id: uuid,
    slug: z.string(),
    host: z.string().describe('host and port of the targets'),
    webhooks: z.object({ ACTIVE: whole, PAUSED: whole, DISABLED: whole }),
    deliveries: z.object({ PENDING: whole, SUCCEEDED: whole, FAILED: whole, DEAD_LETTER: whole }),
    waiting: whole.describe('open deliveries that are due now'),
    oldest_due_at: moment.nullable(),
    attempts: whole.describe('that ended within the hours asked for'),
    failed_attempts: whole,
    errors: z.partialRecord(z.enum(attemptErrors), whole),
    duration_ms: z
      .array(z.object({ up_to_ms: z.number().nullable(), attempts: whole }))
      .describe('a histogram of the attempts; null is the class without a bound'),
  })
  .meta({ id: 'DeliveryStats' })
export type DeliveryStats = z.output<typeof DeliveryStats>

const RecordedAttempt = z
  .object({
    n: whole,
    at: moment,
    status: z.int().nullable(),
    duration_ms: whole.nullable(),
    error: z.enum(attemptErrors).nullable(),
    trace: z
      .object({
        host: z.string(),
        dns_answers: z.array(z.string()).describe('all of them, internal ones too'),
        address: z.string().nullable(),
        rule: z.enum(guardRules).nullable(),
        reused: z.boolean(),
        tls_version: z.string().nullable(),
        phases_ms: tracePhases,
        signed_sha256: z.string().nullable(),
      })
      .nullable(),
  })
  .meta({ id: 'RecordedAttempt' })

const RecordedDelivery = z
  .object({
    id: uuid,
    tenant_id: uuid,
    slug: z.string(),
    webhook_id: uuid,
    webhook_state: z.string().nullable().describe('null once the webhook is removed'),
    host: z.string().nullable(),
    event_id: uuid,
    event_type: z.string(),
    status: z.enum(deliveryStatuses),
    attempt: whole,
    cause: z.enum(deliveryCauses),
    next_attempt_at: moment.nullable(),
    created_at: moment,
    finished_at: moment.nullable(),
    attempts: z.array(RecordedAttempt),
  })
  .meta({ id: 'RecordedDelivery' })
export type RecordedDelivery = z.output<typeof RecordedDelivery>

export const deliveryOperations = defineOperations('admin', {
  getDeliveryStats: {
    method: 'GET',
    path: '/admin/deliveries/stats',
    summary: 'How deliveries fare, by workspace and host: counts and durations',
    spec: 'ours; decisions 5',
    query: z.strictObject({
      hours: count(1, 720).default(24).describe('how far back attempts and finished deliveries are counted'),
      tenant_id: uuid.optional(),
    }),
    success: { status: 200, answer: listOf(DeliveryStats) },
    needs: { caller: 'operator' },
    recovery: 'allowed',
    assumed: ['at most 1,000 pairs of workspace and host, those with the most waiting first'],
  },
  getRecordedDelivery: {
    method: 'GET',
    path: '/admin/deliveries/{deliveryId}',
    summary: "One delivery's flight recorder in full: addresses, verdicts, phases; no content",
    spec: 'ours; decisions 5, Egress guard',
    params: z.strictObject({ deliveryId: uuid }),
    success: { status: 200, answer: RecordedDelivery },
    needs: { caller: 'operator' },
    recovery: 'allowed',
  },
})
