/** Beside a daemon that admits traffic nothing is done on the database by surprise: it warns and asks, or wants --while-serving. Spec: decisions 6; T-44. */
import type { Installation } from '../../core/kernel/transaction/installation.ts'
import { Failure } from '../failure.ts'
import { askYesNo, declined, isInteractive } from '../input/prompts.ts'

export interface Serving {
  /** The flag was given. */
  readonly isMeant: boolean
  /** What happens if one goes on. */
  readonly effect: string
  /** What else one can do; off a terminal it is how the refusal ends. */
  readonly remedy: string
  readonly note: (line: string) => void
}

/** Returns where no daemon admits traffic (none runs, or the gate is closed), or where it is meant. Fails (conflict), or (failed) for whoever declines. */
export async function agreeWhileServing(installation: Installation, serving: Serving): Promise<void> {
  const { isServed } = await import('../../core/kernel/database/serving.ts')
  if (!(await isServed(installation.address))) return
  const { lookAtGate } = await import('../../core/areas/recovery/gate.ts')
  if ((await lookAtGate(installation)).gated_at !== null) return
  const warning = 'A daemon is serving this installation.'
  if (serving.isMeant) return
  if (!isInteractive()) throw new Failure('conflict', warning, serving.remedy)
  serving.note(`${warning} ${serving.effect}`)
  if (!(await askYesNo('Go on?', false))) throw declined()
}
