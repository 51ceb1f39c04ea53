/**
 * Carries out the steps of a reconciliation, each through the rule that did it the first
 * time, and reports what hinders the others.
 *
 * A repeated step is written to the ledger again, with the moment of the recovery, so the
 * ledger stays complete. If the process is killed, a second run does the remaining steps.
 */

import { type DesiredState, inOrder, obligations, stepsOf } from './obligations/all.ts'
import type { Repeating, Step } from './obligations/obligation.ts'

export interface Repeated {
  readonly done: readonly Step[]
  /** Each with its hindrance. */
  readonly hindered: readonly Step[]
}

/** Repeats the steps of a plan that are possible. */
export async function repeatSteps(
  { desired, ...repeating }: Repeating & { readonly desired: DesiredState },
  steps: readonly Step[],
): Promise<Repeated> {
  const { installation, actor, recoveryPoint } = repeating
  const isLeft = (name: keyof DesiredState, step: Step) =>
    step.hindered_by !== null && obligations[name].repeatsHindered !== true
  const hindered = inOrder.flatMap((name) => stepsOf(name, steps).filter((step) => isLeft(name, step)))
  const done: Step[] = []
  const repeat = <Name extends keyof DesiredState>(name: Name, possible: readonly Step[]) =>
    obligations[name].repeat(repeating, desired[name], possible)

  for (const name of inOrder) {
    const possible = stepsOf(name, steps).filter((step) => !isLeft(name, step))
    for (const [at, hindrance] of (await repeat(name, possible)).entries()) {
      const step = possible[at] as Step
      if (hindrance === null) done.push(step)
      else hindered.push({ ...step, hindered_by: hindrance })
    }
  }

  if (done.length > 0)
    await installation.transaction(actor, {}, (ctx) =>
      ctx.journal('recovery.reconciled', null, {
        params: { recovery_point: recoveryPoint, done: countsOf(done), hindered: countsOf(hindered) },
      }),
    )
  return { done, hindered }
}

const countsOf = (steps: readonly Step[]) =>
  Object.fromEntries(
    [...new Set(steps.map(({ what }) => what))].map((what) => [
      what,
      steps.filter((step) => step.what === what).length,
    ]),
  )
