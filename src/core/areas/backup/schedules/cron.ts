/**
 * When a schedule is due: a cron expression on the clocks of a zone.
 *
 *    five fields ──cron-parser──▶ times on a clock that never changes ──day.ts──▶ moments
 *
 * The expression is read as if the zone had no changes of clocks, and each of its times is then looked for in the zone. So a time
 * that clocks skip comes as much later as they skip, and one that comes twice counts the first time alone, whatever the library
 * makes of either. Spec: Keeping, 3 (`cron`).
 */
import { CronExpressionParser } from 'cron-parser'
import { localTime, momentAt } from '../../../kernel/values/day.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** No change of clocks is larger: one of the date line is a day. */
const largestChangeMs = 26 * hourMs

/** Lists, ranges, steps and names; nothing that one library alone knows. */
const one = '(?:[*]|[0-9]{1,2}|[A-Za-z]{3})(?:-(?:[0-9]{1,2}|[A-Za-z]{3}))?(?:/[0-9]{1,2})?'
const field = `${one}(?:,${one}){0,30}`
const shape = new RegExp(`^[0-9]{1,2} ${field} ${field} ${field} ${field}$`)

/** Minutes between two times of the expression, at least; undefined: it is no expression, or there is no such day. */
export function minutesApart(cron: string): number | undefined {
  if (!shape.test(cron)) return undefined
  try {
    const expression = CronExpressionParser.parse(cron, { tz: 'UTC', currentDate: new Date(0) })
    expression.next()
    const hours = expression.fields.hour.values.map(Number)
    // As if it ran each day: so the last hour of a day is followed by the first of the next.
    const gaps = hours.map((hour, at) => (hours[at + 1] ?? (hours[0] ?? 0) + 24) - hour)
    return Math.min(...gaps) * 60
  } catch {
    return undefined
  }
}

/** How far times of the clock near the moment may be from their moments: what clocks change by, or nothing. */
const leeway = (at: number, zone: string) =>
  Math.abs(localTime(at + largestChangeMs, zone) - localTime(at - largestChangeMs, zone) - 2 * largestChangeMs)

/** The first moment behind `after`, in ms since 1970. The expression is one that `minutesApart` takes. */
export function nextDue(cron: string, zone: string, after: number): number {
  const from = localTime(after, zone) - leeway(after, zone) - 1
  const expression = CronExpressionParser.parse(cron, { tz: 'UTC', currentDate: new Date(from) })
  for (;;) {
    const at = momentAt(expression.next().getTime(), zone)
    if (at > after) return at
  }
}

/** The last moment not behind `at`, in ms since 1970. */
export function lastDue(cron: string, zone: string, at: number): number {
  const from = localTime(at, zone) + leeway(at, zone) + 1
  const expression = CronExpressionParser.parse(cron, { tz: 'UTC', currentDate: new Date(from) })
  for (;;) {
    const due = momentAt(expression.prev().getTime(), zone)
    if (due <= at) return due
  }
}

/** How much later than its time a schedule runs, in ms, so that those of midnight do not all begin then: below ten minutes. */
export const jitterMs = (scheduleId: string) => (Number.parseInt(scheduleId.slice(-8), 16) % 600) * 1000

/** What a rule of keeping counts by: hours, days, weeks (from Monday), months and years of the zone's clocks. */
export function periodsOf(at: number, zone: string) {
  const local = localTime(at, zone)
  const day = Math.floor(local / dayMs)
  const date = new Date(local)
  return {
    HOURLY: Math.floor(local / hourMs),
    DAILY: day,
    // 1970-01-01 was a Thursday.
    WEEKLY: Math.floor((day + 3) / 7),
    MONTHLY: date.getUTCFullYear() * 12 + date.getUTCMonth(),
    YEARLY: date.getUTCFullYear(),
  } as const
}
