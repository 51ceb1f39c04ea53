/** An authenticator app in a test. */
import { Secret, TOTP } from 'otpauth'
import { operations } from '../../src/core/contract/operations.ts'
import type { Callers, Person } from './accounts.ts'
import { password, type TestInstallation } from './installation.ts'

/** The code of the time step that is `steps` from now; computed by a library for RFC 6238, not by our code. */
export const codeAt = (secret: string, steps = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 })

/** Six digits that are no code of any step near now. */
export function wrongCode(secret: string): string {
  const near = new Set([-3, -2, -1, 0, 1, 2, 3].map((steps) => codeAt(secret, steps)))
  for (let n = 0; ; n += 1) if (!near.has(String(n).padStart(6, '0'))) return String(n).padStart(6, '0')
}

export interface Enrolled {
  readonly secret: string
  readonly codes: string[]
}

/** Enrols the person through the operations, with the session of that person. */
export async function enroll(who: Callers, person: Person): Promise<Enrolled> {
  const caller = who.as(person.session.access_token)
  const { step_up_token } = await caller.call(operations.stepUp, { body: { password, operation: 'enrollTotp' } })
  const { secret } = await caller.call(operations.enrollTotp, { stepUp: step_up_token })
  const { recovery_codes } = await caller.call(operations.confirmTotp, { body: { code: codeAt(secret) } })
  return { secret, codes: recovery_codes }
}

/**
 * Forgets which time steps were used, and every failure, so that a test does not wait half a minute for the next code.
 */
export async function forget({ oracle }: TestInstallation): Promise<void> {
  await oracle`update second_factor set last_step = 0 where confirmed_at is not null`
  await oracle`delete from failed_attempt`
}
