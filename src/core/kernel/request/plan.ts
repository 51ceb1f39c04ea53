/**
 * Plans before destruction: the hash of a plan that a person has seen, and the check that the plan still holds.
 *
 * The action computes the plan again, with the same function and under its own locks. So it does either exactly what was
 * confirmed, or nothing. Spec: Plans before destruction; decisions 7, Plans.
 */
import { createHash } from 'node:crypto'
import { refuse } from '../../contract/problem.ts'
import { writeJson } from '../values/json.ts'

/** A hash of the facts in sixteen hexadecimal digits; the order of members counts. */
export const hashOfPlan = (facts: unknown): string =>
  createHash('sha256')
    .update(writeJson(facts) ?? '')
    .digest('hex')
    .slice(0, 16)

/** Compares the plan that was shown, if any, with the current one. Refuses plan.stale. */
export async function demandPlan(
  shown: string | undefined,
  plan: () => Promise<{ readonly hash: string }>,
): Promise<void> {
  if (shown === undefined) return
  const { hash } = await plan()
  if (hash !== shown) refuse('plan.stale', { hash })
}
