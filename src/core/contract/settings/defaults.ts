/** What counts where nobody decided: the product's own level. Spec: InstanceSettings; docs/settings.md is checked against it. */

import type { z } from 'zod'
import type { signInSwitches, weekStarts } from './operations.ts'
import { jurisdictions, signInMethods } from './operations.ts'

export type SwitchName = keyof typeof signInSwitches
/** The value of each sign-in switch. */
export type SignInValues = {
  readonly [Name in SwitchName]: NonNullable<z.output<(typeof signInSwitches)[Name]>>['value']
}

export type Jurisdiction = (typeof jurisdictions)[number]

export const signInDefaults: SignInValues = {
  password_enabled: true,
  password_min_length: 12,
  password_max_length: 1024,
  password_require_lowercase: false,
  password_require_uppercase: false,
  password_require_digit: false,
  password_require_symbol: false,
  password_reject_common: true,
  password_reject_context: true,
  password_history: 0,
  password_max_age_days: 0,
  password_lockout_attempts: 10,
  password_self_service_reset: true,
  mfa_required_for: 'NONE',
  methods: [...signInMethods],
  session_idle_minutes: 0,
  session_absolute_hours: 0,
  managed_accounts: true,
  private_hubs: true,
}

export const localisationDefaults = {
  locale: 'en',
  time_zone: 'UTC',
  week_start: 'MONDAY' as (typeof weekStarts)[number],
}

/** Every jurisdiction may be used, but a third country only once the operator has confirmed such transfers. */
export const aiDefaults = {
  allowed_jurisdictions: [...jurisdictions] as readonly Jurisdiction[],
  third_country_confirmed: false,
}
