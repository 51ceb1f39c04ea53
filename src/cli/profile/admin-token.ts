/** The access token of a profile for operator commands: a session has no access to the installation. */
import { hostname } from 'node:os'
import { tokenOperations } from '../../core/contract/auth/tokens.ts'
import type { Answer } from '../../core/contract/operation.ts'
import type { Caller } from '../call/caller.ts'
import { type Codes, withSecondFactor } from '../input/second-factor-input.ts'

/** Short, because the token is stored on disk; `svc login` makes the next one. */
export const adminTokenDays = 30

/** Creates a personal access token with only `admin:tenants`. The step-up needs a code of its own: each code works once. Only for operators. */
export async function mintAdminToken(
  caller: Caller,
  password: string,
  codes: Codes,
): Promise<Answer<typeof tokenOperations.createToken>> {
  const operation = tokenOperations.createToken
  const stepUp = await withSecondFactor(codes, async (shown) =>
    caller.stepUp?.(operation, undefined, { password, ...shown }),
  )
  const expiresAt = new Date(Date.now() + adminTokenDays * 86_400_000).toISOString()
  const body = { name: `svc on ${hostname()}`.slice(0, 120), scopes: ['admin:tenants' as const], expires_at: expiresAt }
  return caller.call(operation, { body, stepUp })
}
