/** When deliveries are tried again, and when a webhook is disabled; areas/webhooks applies it. Spec: decisions 5. */
import { z } from 'zod'

export interface WebhookSettings {
  /** The wait before each of the eight attempts at a delivery, in seconds. */
  readonly webhookRetrySeconds: readonly number[]
  readonly webhookDisableAfter: { readonly failures: number; readonly seconds: number }
}

/** After this many failed attempts a delivery is a dead letter. */
export const attemptsAtMost = 8

/**
 * Reads SVC_WEBHOOK_RETRY_SECONDS; undefined if it is invalid. The last number of a shorter list counts for the rest.
 */
export function readLadder(text: string): readonly number[] | undefined {
  const rungs = text.split(',').map((rung) => rung.trim())
  if (rungs.length > attemptsAtMost || !rungs.every((rung) => /^[0-9]{1,7}$/.test(rung) && Number(rung) <= 2_592_000))
    return undefined
  return Array.from({ length: attemptsAtMost }, (_, at) => Number(rungs[Math.min(at, rungs.length - 1)]))
}

/** The part of the environment that is about webhooks (config.ts). */
export const webhookVariables = {
  SVC_WEBHOOK_RETRY_SECONDS: z
    .string()
    .check((context) => {
      if (readLadder(context.value) === undefined)
        context.issues.push({
          code: 'custom',
          input: context.value,
          message: 'must be one to eight whole numbers of seconds up to 2592000, separated by commas',
        })
    })
    .default('0,5,300,1800,7200,18000,36000,36000')
    .describe(
      'Wait before each of the eight attempts at a delivery, in seconds, give or take a tenth. If the list is shorter, its last number counts for the rest',
    ),
  SVC_WEBHOOK_DISABLE_AFTER: z
    .string()
    .regex(/^[1-9][0-9]{0,6}(,[0-9]{1,8})?$/, 'must be COUNT or COUNT,SECONDS')
    .default('40,86400')
    .describe(
      'COUNT,SECONDS: a webhook is disabled after COUNT failed attempts in a row over at least SECONDS. COUNT alone keeps 86400 seconds',
    ),
}

type Values = z.output<z.ZodObject<typeof webhookVariables>>

export function webhookSettingsOf(values: Values): WebhookSettings {
  const [failures, seconds = 86_400] = values.SVC_WEBHOOK_DISABLE_AFTER.split(',').map(Number)
  return {
    webhookRetrySeconds: readLadder(values.SVC_WEBHOOK_RETRY_SECONDS) ?? [],
    webhookDisableAfter: { failures: failures ?? 0, seconds },
  }
}
