/**
 * Which backups of a schedule its rules keep.
 *
 *    LAST n              the newest n
 *    HOURLY … YEARLY n   the newest of each of the newest n periods that have one, on the clocks of the schedule's zone
 *    MIN_DAYS n          whatever is younger than n days
 *
 * What was never read back takes no place of what was: the rules are asked twice, of those that were found good and of all that are
 * not known to be bad, and what either keeps stays. What failed takes no place at all. Spec: Keeping, 3 (Keeping).
 */
import type { KeptBy } from '../../../contract/backup/backups.ts'
import type { Keep } from '../../../contract/backup/schedules.ts'
import { periodsOf } from '../schedules/cron.ts'

export interface KeptCandidate {
  readonly id: string
  /** What it holds, in ms since 1970; what failed holds nothing, and has the moment it was asked for. */
  readonly at: number
  /** COMPLETE, and not found damaged. */
  readonly isGood: boolean
  /** It was read back since, and was good. */
  readonly isProven: boolean
}

const dayMs = 86_400_000
const byPeriod = ['HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const
const rulesOfKeeping = ['LAST', ...byPeriod, 'MIN_DAYS'] as const satisfies readonly KeptBy[]

/** The rules that keep each of them, by id; none: it may go. `now` is a time that may destroy (trusted-time.ts), in ms since 1970. */
export function ruledBy(
  candidates: readonly KeptCandidate[],
  keep: Keep,
  zone: string,
  now: number,
): ReadonlyMap<string, readonly KeptBy[]> {
  const newestFirst = candidates.toSorted((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1))
  const kept = new Map<string, Set<KeptBy>>(newestFirst.map(({ id }) => [id, new Set()]))
  const good = newestFirst.filter(({ isGood }) => isGood)
  for (const some of [good, good.filter(({ isProven }) => isProven)])
    for (const [rule, id] of placesOf(some, keep, zone)) kept.get(id)?.add(rule)
  for (const { id, at } of newestFirst)
    if (keep.min_days > 0 && at > now - keep.min_days * dayMs) kept.get(id)?.add('MIN_DAYS')
  return new Map([...kept].map(([id, rules]) => [id, rulesOfKeeping.filter((rule) => rules.has(rule))]))
}

function placesOf(newestFirst: readonly KeptCandidate[], keep: Keep, zone: string): [KeptBy, string][] {
  const places: [KeptBy, string][] = newestFirst.slice(0, keep.last).map(({ id }) => ['LAST', id])
  const most = {
    HOURLY: keep.hourly,
    DAILY: keep.daily,
    WEEKLY: keep.weekly,
    MONTHLY: keep.monthly,
    YEARLY: keep.yearly,
  }
  const periods = newestFirst.map(({ at }) => periodsOf(at, zone))
  for (const rule of byPeriod) {
    const taken = new Set<number>()
    for (const [n, { id }] of newestFirst.entries()) {
      const period = periods[n]?.[rule] ?? 0
      if (taken.size >= most[rule] || taken.has(period)) continue
      taken.add(period)
      places.push([rule, id])
    }
  }
  return places
}
