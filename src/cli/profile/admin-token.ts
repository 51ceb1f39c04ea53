/** The token of a profile that operator commands are made with: a session never reaches the installation. */
import { hostname } from 'node:os'
import { tokenOperations } from '../../core/contract/auth/tokens.ts'
import type { Answer } from '../../core/contract/operation.ts'
import type { Caller } from '../call/caller.ts'
import { type Codes, withSecondFactor } from '../input/second-factor-input.ts'

/** Short, because it lies on a disk; `svc login` makes the next one. */
export const adminTokenDays = 30

/** Mints a personal access token with `admin:tenants` alone, by step-up: a code that signed in does not serve again. Only for operators. */
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
