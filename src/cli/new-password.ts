/**
 * What a new password is held against before anything is done with it: the product's own
 * switches. Those of a settings file are the daemon's to apply, and may be milder.
 */
import { signInDefaults } from '../core/admin/settings/defaults.ts'
import { isCommonPassword } from '../core/auth/common-password.ts'
import { faultsOf, type PasswordFault } from '../core/auth/password-rules.ts'
import type { Check } from './prompts.ts'
import { ruleInWords } from './render/problem.ts'

export const faultsOfNewPassword = (password: string): PasswordFault[] =>
  process.env['SVC_SETTINGS_FILE'] === undefined
    ? faultsOf(password, signInDefaults, { names: [], isCommon: isCommonPassword })
    : []

export const checkNewPassword: Check = (password) => {
  const [first] = faultsOfNewPassword(password)
  return first === undefined || `It ${ruleInWords(first.code, first.params)}.`
}
