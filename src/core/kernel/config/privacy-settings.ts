/** The settings of requests about personal data. Spec: Keeping, 2. */
import type { z } from 'zod'
import { wholeNumber } from './variable-kinds.ts'

export const privacyVariables = {
  SVC_ERASURE_WAIT_HOURS: wholeNumber(0, 720)
    .default(72)
    .describe('Time between granting the erasure of a person and its begin, in hours; it can be withdrawn until then'),
  SVC_PRIVACY_PACKAGE_DAYS: wholeNumber(1, 30)
    .default(7)
    .describe('Time for which a package of personal data can be fetched, in days'),
}

export interface PrivacySettings {
  readonly erasureWaitHours: number
  readonly packageDays: number
}

type Values = { readonly [Name in keyof typeof privacyVariables]: z.output<(typeof privacyVariables)[Name]> }

export const privacySettingsOf = (values: Values): PrivacySettings => ({
  erasureWaitHours: values.SVC_ERASURE_WAIT_HOURS,
  packageDays: values.SVC_PRIVACY_PACKAGE_DAYS,
})
