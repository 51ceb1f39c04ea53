/** The settings of retention. Spec: Keeping, 4. */
import type { z } from 'zod'
import { wholeNumber } from './variable-kinds.ts'

export const retentionVariables = {
  SVC_RETENTION_NOTICE_DAYS: wholeNumber(1, 90)
    .default(7)
    .describe('Time between the decision of a workspace to keep something for a shorter time and its effect, in days'),
  SVC_TRAIL_MIN_DAYS: wholeNumber(1, 36_500)
    .default(365)
    .describe('The shortest time for which a workspace may decide to keep its trail, in days'),
}

export interface RetentionSettings {
  readonly noticeDays: number
  readonly trailMinDays: number
}

type Values = { readonly [Name in keyof typeof retentionVariables]: z.output<(typeof retentionVariables)[Name]> }

export const retentionSettingsOf = (values: Values): RetentionSettings => ({
  noticeDays: values.SVC_RETENTION_NOTICE_DAYS,
  trailMinDays: values.SVC_TRAIL_MIN_DAYS,
})
