/** Before a command works on the database of a serving daemon it asks for confirmation, or needs --while-serving. Spec: decisions 6; T-44. */
import type { Installation } from '../../core/kernel/transaction/installation.ts'
import { recoveryActor } from '../../core/kernel/values/actor.ts'
import { Failure } from '../failure.ts'
import { askYesNo, declined, isInteractive } from '../input/prompts.ts'

export interface Serving {
  /** Whether --while-serving was given. */
  readonly isMeant: boolean
  /** The consequence of going on, as a sentence. */
  readonly effect: string
  /** The alternatives; without a terminal they end the refusal. */
  readonly remedy: string
  readonly note: (line: string) => void
}

/** Returns if no daemon admits traffic (none runs, or the gate is closed) or the user confirms. Fails (conflict) without a terminal, (failed) if the user declines. */
export async function agreeWhileServing(installation: Installation, serving: Serving): Promise<void> {
  const { isServed } = await import('../../core/kernel/database/serving.ts')
  if (!(await isServed(installation.address))) return
  const { lookAtGate } = await import('../../core/areas/recovery/gate.ts')
  if ((await lookAtGate(installation)).gated_at !== null) return
  const warning = 'A daemon is serving this installation.'
  if (serving.isMeant) return
  if (!isInteractive()) throw new Failure('conflict', warning, await remedyOf(installation, serving))
  serving.note(`${warning} ${serving.effect}`)
  if (!(await askYesNo('Go on?', false))) throw declined()
}

/** Before the set-up nobody can sign in to the daemon. */
async function remedyOf(installation: Installation, { remedy }: Serving): Promise<string> {
  const [row] = await installation.transaction(
    recoveryActor(),
    { readOnly: true },
    ({ tx }) => tx<{ is_set_up: boolean }[]>`
      select set_up_at is not null or exists (select 1 from operator) as is_set_up from installation`,
  )
  if (row?.is_set_up) return remedy
  return 'Nobody can sign in yet: `svc installation set-up` makes the first operator. Or add --while-serving.'
}
