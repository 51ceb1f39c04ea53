/**
 * Checks a new password against the product's default rules before it is sent. A settings
 * file may have other rules, which the daemon applies; then nothing is checked here.
 */

import { isCommonPassword } from '../../core/areas/auth/password/common-password.ts'
import { faultsOf, type PasswordFault } from '../../core/areas/auth/password/password-rules.ts'
import { signInDefaults } from '../../core/contract/settings/defaults.ts'
import { ruleInWords } from '../render/problem.ts'
import type { Check } from './prompts.ts'

export const faultsOfNewPassword = (password: string): PasswordFault[] =>
  process.env['SVC_SETTINGS_FILE'] === undefined
    ? faultsOf(password, signInDefaults, { names: [], isCommon: isCommonPassword })
    : []

export const checkNewPassword: Check = (password) => {
  const [first] = faultsOfNewPassword(password)
  return first === undefined || `It ${ruleInWords(first.code, first.params)}.`
}
