/** Days of a template's items, counted from its anchor. Spec: items 7, Templates; docs/decisions/0226. */
import type { Item } from '../../contract/items/operations.ts'
import { refuseMember } from '../../contract/problem.ts'
import type { TemplateItem } from '../../contract/templates/content.ts'
import { day } from '../../contract/vocabulary.ts'
import { offsetAt } from '../../kernel/values/day.ts'
import { datesIn, undated } from '../items/dates.ts'

type Dates = Pick<Item, 'start_at' | 'due_at' | 'start_on' | 'due_on' | 'time_zone'>

export interface Calendar {
  /** Refuses request.invalid at /anchor_on for a day that no calendar has. */
  readonly datesOf: (item: TemplateItem) => Dates
}

const dayMs = 86_400_000

/** `anchor`: day 0; absent: the day of `now` in the zone. */
export function calendarFrom(anchor: string | undefined, zone: string, now: string): Calendar {
  const at = Date.parse(now)
  const first = anchor ?? new Date(at + offsetAt(at, zone)).toISOString().slice(0, 10)
  const dayAt = (days: number): string => {
    const text = new Date(Date.parse(first) + days * dayMs).toISOString().slice(0, 10)
    return day.safeParse(text).success ? text : refuseMember('/anchor_on', 'value.invalid')
  }
  return {
    datesOf({ start_in_days: start, due_in_days: due }) {
      if (due === undefined || due === null) return undated
      return datesIn(zone, { due_on: dayAt(due), ...(start == null ? {} : { start_on: dayAt(start) }) })
    },
  }
}
