/**
 * The dates of a filter, as periods: from one moment up to another, and the days in between.
 *
 * A day is that day in the zone of the query, a moment is its millisecond, and `{unit, offset}` is a whole day, week
 * (from Monday), month, quarter or year around now. A clock that is set forward over midnight begins the day where it goes
 * on; a day that a zone left out is empty.
 *
 * Spec: Work on boards, 2.
 */
import type { PeriodUnit } from '../../../contract/items/filter-fields.ts'
import { isDay } from '../../../contract/items/filter-value.ts'
import { offsetAt, startOfDay } from '../../../kernel/values/day.ts'

/** Moments in ms since 1970; `until` and `nextDay` are no longer part of it. */
export interface Period {
  readonly from: number
  readonly until: number
  readonly firstDay: string
  readonly nextDay: string
}

export interface Around {
  /** In ms since 1970. */
  readonly now: number
  /** A zone of the IANA database. */
  readonly zone: string
}

export type DateValue = string | { readonly unit: PeriodUnit; readonly offset: number }

export function periodOf(value: DateValue, around: Around): Period {
  if (typeof value !== 'string') return calendarPeriod(value.unit, value.offset, around)
  if (isDay(value)) return days(parseDay(value), 1, around.zone)
  return instant(value === 'now' ? around.now : Date.parse(value), around.zone)
}

const dayMs = 24 * 60 * 60_000
/** The years 1 to 9999, which are all that an item has. */
const earliest = Date.parse('0001-01-01T00:00:00.000Z')
const latest = Date.parse('9999-12-31T23:59:59.999Z')
const within = (time: number) => Math.min(Math.max(time, earliest), latest)

function instant(time: number, zone: string): Period {
  const day = localDay(time, zone)
  return { from: time, until: time + 1, firstDay: dayText(day), nextDay: dayText(day + dayMs) }
}

/** A number of days from one that is given as midnight in UTC. */
function days(first: number, count: number, zone: string): Period {
  return between(first, first + count * dayMs, zone)
}

const between = (first: number, next: number, zone: string): Period => ({
  from: beginningOf(first, zone),
  until: beginningOf(next, zone),
  firstDay: dayText(first),
  nextDay: dayText(next),
})

const beginningOf = (day: number, zone: string): number => (day > latest ? latest : startOfDay(dayText(day), zone))

const parseDay = (day: string): number => Date.parse(`${day}T00:00:00.000Z`)
const dayText = (day: number): string => new Date(within(day)).toISOString().slice(0, 10)

const calendarPeriod = (unit: PeriodUnit, offset: number, { now, zone }: Around): Period =>
  periodAround(localDay(now, zone), unit, offset, zone)

/** The whole period that begins with a day. */
export const periodFrom = (day: string, unit: PeriodUnit, zone: string): Period =>
  periodAround(parseDay(day), unit, 0, zone)

function periodAround(today: number, unit: PeriodUnit, offset: number, zone: string): Period {
  if (unit === 'DAY') return days(today + offset * dayMs, 1, zone)
  if (unit === 'WEEK') return days(mondayOf(today) + offset * 7 * dayMs, 7, zone)
  const months = { MONTH: 1, QUARTER: 3, YEAR: 12 }[unit]
  const date = new Date(today)
  const month = date.getUTCFullYear() * 12 + date.getUTCMonth()
  const first = month - (month % months) + offset * months
  return between(firstOfMonth(first), firstOfMonth(first + months), zone)
}

const mondayOf = (day: number): number => day - ((new Date(day).getUTCDay() + 6) % 7) * dayMs

/** Months are counted from the year 0. `Date.UTC` would take the years 0 to 99 for 1900 to 1999. */
function firstOfMonth(month: number): number {
  const date = new Date(0)
  return date.setUTCFullYear(Math.floor(month / 12), month % 12, 1)
}

/** The day of a moment in a zone, as midnight in UTC. */
function localDay(time: number, zone: string): number {
  const local = time + offsetAt(time, zone)
  return local - (((local % dayMs) + dayMs) % dayMs)
}
