/** The settings of notifications. Spec: people 3. */
import type { z } from 'zod'
import { wholeNumber } from './variable-kinds.ts'

export const notificationVariables = {
  SVC_NOTIFY_QUIET_SECONDS: wholeNumber(0, 1800)
    .default(120)
    .describe(
      'Time for which nothing more must come of a subject before a notification of it is mailed, in seconds; it waits for 30 minutes at most',
    ),
  SVC_NOTIFICATION_DAYS: wholeNumber(1, 3650).default(90).describe('Time for which notifications are stored, in days'),
}

export interface NotificationSettings {
  readonly quietSeconds: number
  readonly days: number
}

type Values = { readonly [Name in keyof typeof notificationVariables]: z.output<(typeof notificationVariables)[Name]> }

export const notificationSettingsOf = (values: Values): NotificationSettings => ({
  quietSeconds: values.SVC_NOTIFY_QUIET_SECONDS,
  days: values.SVC_NOTIFICATION_DAYS,
})
