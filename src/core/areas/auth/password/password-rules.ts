/**
 * The rules for a new password: applies the installation's switches. Pure. All broken rules are
 * reported at once, and no report repeats the password.
 *
 * Lengths count code points. The rules apply to new passwords only, never to one that is in force.
 * Spec: InstanceSettings (the thirteen password switches).
 */
import type { SignInValues } from '../../../contract/settings/defaults.ts'

export interface PasswordFault {
  readonly code: string
  readonly params: Readonly<Record<string, unknown>>
}

export interface PasswordContext {
  /** What belongs to the account and its workspace: addresses, names, the slug. */
  readonly names: readonly string[]
  readonly isCommon: (password: string) => boolean
}

const fault = (code: string, params: PasswordFault['params'] = {}): PasswordFault => ({ code, params })

export function faultsOf(password: string, rules: SignInValues, { names, isCommon }: PasswordContext): PasswordFault[] {
  const length = [...password].length
  const demands: readonly (readonly [boolean, PasswordFault])[] = [
    [length < rules.password_min_length, fault('text.too_short', { minimum: rules.password_min_length })],
    [length > rules.password_max_length, fault('text.too_long', { maximum: rules.password_max_length })],
    [rules.password_require_lowercase && !/\p{Ll}/u.test(password), fault('password.lowercase')],
    [rules.password_require_uppercase && !/\p{Lu}/u.test(password), fault('password.uppercase')],
    [rules.password_require_digit && !/\p{Nd}/u.test(password), fault('password.digit')],
    [rules.password_require_symbol && !/[^\p{L}\p{N}]/u.test(password), fault('password.symbol')],
    [rules.password_reject_common && isCommon(password), fault('password.common')],
    [rules.password_reject_context && holdsAName(password, names), fault('password.context')],
  ]
  return demands.filter(([isBroken]) => isBroken).map(([, broken]) => broken)
}

/** Shorter words occur in too many good passwords by accident. */
const shortestName = 4

/** Whether a name of the account or the workspace makes up a third of the password or more. */
function holdsAName(password: string, names: readonly string[]): boolean {
  const text = password.toLowerCase()
  return names
    .flatMap((name) => [name, ...name.split(/[^\p{L}\p{N}]+/u)])
    .map((word) => word.toLowerCase())
    .some((word) => word.length >= shortestName && word.length * 3 >= text.length && text.includes(word))
}
