/** The time by which jobs of items change anything. Spec: items 3; docs/decisions/0204. */
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { Actor } from '../../kernel/values/actor.ts'
import { observed, type Steady, trustedMs } from '../../kernel/values/steady-clock.ts'

type Worker = Extract<Actor, { readonly kind: 'SYSTEM' }>

/** By job: each reads the clocks at its own runs. */
const seen = new WeakMap<Installation, Map<string, Steady>>()

/** Reads both clocks. A time that two of them agree on, and have for a while; undefined while none is trusted. */
export async function trustedTime(installation: Installation, worker: Worker): Promise<Date | undefined> {
  const { clock, config } = installation
  const readings = seen.get(installation) ?? new Map<string, Steady>()
  seen.set(installation, readings)
  const now = await installation.transaction(worker, { readOnly: true }, (ctx) => ctx.now())
  const reading = { databaseMs: Date.parse(now), ownMs: clock.now(), monotonicSeconds: clock.monotonicSeconds() }
  const steady = observed(readings.get(worker.job), reading)
  if (!steady) {
    readings.delete(worker.job)
    throw new Error("the database's clock and this host's differ by more than a minute: nothing is changed by time")
  }
  readings.set(worker.job, steady)
  const trusted = trustedMs(steady, config.purgeSettleSeconds)
  return trusted === undefined ? undefined : new Date(trusted)
}
