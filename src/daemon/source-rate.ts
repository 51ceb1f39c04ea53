/**
 * How often one source may make a call that nobody has to sign in for, and how often all may.
 *
 * The same cell rate as a workspace's (rate.ts): a moment until when the calls of a source
 * are paid for. It is kept in this process and not in the database, because what it is there
 * for is that a flood of strangers reaches no database. N daemons therefore serve N times as many,
 * and a restart forgets. What it keeps is bounded: the source unheard of for longest is forgotten first.
 *
 * Spec: decisions 1 (429), 7 (Overload); docs/decisions/0147.
 */
import type { AnonymousRate, CallBound, Operation } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'

export interface SourceRate {
  /** Spends one call of the source. Refuses request.limited; service.unavailable where all sources together make too many. */
  spend(operation: Operation, rate: AnonymousRate, source: string): void
}

const mostRemembered = 50_000

/** `factor`: how many times as many as an operation declares (SVC_SOURCE_RATE); 0 is unlimited. `now` in ms. */
export function openSourceRate(factor: number, now = () => performance.now()): SourceRate {
  /** Until when each is paid for, in the order in which they were last heard. */
  const paidUntil = new Map<string, number>()

  /** Answers how long it is until the next call, in ms, or 0 and pays for one. */
  const pay = (payer: string, { calls, seconds }: CallBound): number => {
    const moment = now()
    const windowMs = seconds * 1000
    const paid = Math.max(paidUntil.get(payer) ?? 0, moment) + windowMs / (calls * factor)
    // A microsecond's grace: the sum of many parts of the window is not exactly the window.
    const wait = paid - windowMs - moment
    if (wait > 0.001) return wait
    paidUntil.delete(payer)
    paidUntil.set(payer, paid)
    forget(paidUntil, moment)
    return 0
  }

  return {
    spend(operation, { perSource, inAll }, source) {
      if (factor === 0) return
      const waitMs = pay(`${operation.id} ${source}`, perSource)
      if (waitMs > 0) throw limited(operation, perSource, factor, Math.ceil(waitMs / 1000))
      if (inAll && pay(operation.id, inAll) > 0)
        throw new Problem('service.unavailable', {}, { headers: { 'retry-after': '1' } })
    },
  }
}

/** Whatever is rested is as good as unknown; of the others as many as there is room for are kept. */
function forget(paidUntil: Map<string, number>, moment: number): void {
  for (const [payer, until] of paidUntil) {
    if (until > moment && paidUntil.size <= mostRemembered) return
    paidUntil.delete(payer)
  }
}

function limited({ id }: Operation, { calls, seconds }: CallBound, factor: number, waitSeconds: number): Problem {
  const limit = calls * factor
  return new Problem(
    'request.limited',
    { limit, window_seconds: seconds },
    {
      headers: {
        'retry-after': String(waitSeconds),
        'ratelimit-policy': `"${id}";q=${limit};w=${seconds}`,
        ratelimit: `"${id}";r=0;t=${waitSeconds}`,
      },
    },
  )
}
