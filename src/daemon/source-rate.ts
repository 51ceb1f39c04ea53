/**
 * The rate of calls without a token from one source.
 *
 * It is the same cell rate as that of a workspace (rate.ts): the time until which the calls
 * of a source are paid for. It is kept in this process and not in the database, so that a
 * flood of anonymous calls does not reach the database. N daemons therefore allow N times as
 * many calls, and a restart resets the rates. The number of remembered sources is bounded:
 * the source that was silent for longest is forgotten first.
 *
 * A source that was just refused and calls again gets its refusal a second later (held-refusals.ts).
 *
 * Spec: decisions 1 (429), 7 (Overload); docs/decisions/0147.
 */
import type { AnonymousRate, CallBound, Operation } from '../core/contract/operation.ts'
import { Problem } from '../core/contract/problem.ts'
import type { HeldRefusals } from './held-refusals.ts'

export interface SourceRate {
  /** Spends one call of the source. Refuses request.limited. */
  spend(operation: Operation, rate: AnonymousRate, source: string): Promise<void>
}

const mostRemembered = 50_000

interface Account {
  /** In ms. */
  readonly paidUntil: number
  /** Whether it was refused since it last paid. */
  isRefused: boolean
}

/** `factor` multiplies the rate that an operation declares (SVC_SOURCE_RATE); 0 means unlimited. `now` in ms. */
export function openSourceRate(factor: number, held: HeldRefusals, now = () => performance.now()): SourceRate {
  /** In the order in which they last paid. */
  const accounts = new Map<string, Account>()

  /** Pays for a call and returns 0, or returns the time until the next call in ms. */
  const pay = (payer: string, { calls, seconds }: CallBound): number => {
    const moment = now()
    const windowMs = seconds * 1000
    const paidUntil = Math.max(accounts.get(payer)?.paidUntil ?? 0, moment) + windowMs / (calls * factor)
    // A tolerance of a microsecond, because the sum of many parts of the window is not exactly the window.
    const wait = paidUntil - windowMs - moment
    if (wait > 0.001) return wait
    accounts.delete(payer)
    accounts.set(payer, { paidUntil, isRefused: false })
    forget(accounts, moment)
    return 0
  }

  /** Delays the refusal of a source that was refused before. */
  const noteRefusal = async (payer: string): Promise<void> => {
    const account = accounts.get(payer)
    if (!account) return
    if (account.isRefused) await held.hold()
    account.isRefused = true
  }

  return {
    async spend(operation, { perSource }, source) {
      if (factor === 0) return
      const payer = `${operation.id} ${source}`
      const waitMs = pay(payer, perSource)
      if (waitMs > 0) {
        await noteRefusal(payer)
        throw limited(operation, perSource, factor, Math.ceil(waitMs / 1000))
      }
    },
  }
}

/** Removes sources whose time has passed, which are like unknown ones; of the others it keeps the bounded number. */
function forget(accounts: Map<string, Account>, moment: number): void {
  for (const [payer, { paidUntil }] of accounts) {
    if (paidUntil > moment && accounts.size <= mostRemembered) return
    accounts.delete(payer)
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
