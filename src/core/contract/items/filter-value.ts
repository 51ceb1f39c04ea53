/** The values that the conditions of a filter take, by the kind of the field. Spec: Work on boards, 2. */
import { moment, uuid } from '../vocabulary.ts'
import { type FilterKindName, type FilterOperator, filterBounds, listOperators, periodUnits } from './filter-fields.ts'

export interface Fault {
  readonly path: readonly (string | number)[]
  readonly code: string
  readonly params: Readonly<Record<string, unknown>>
}

export const fault = (
  path: readonly (string | number)[],
  code: string,
  params: Readonly<Record<string, unknown>> = {},
): Fault => ({ path, code, params })

/** What is wrong with a value; empty if nothing is. */
export function valueFault(
  kind: FilterKindName,
  op: FilterOperator,
  value: unknown,
  path: Fault['path'],
  choices: readonly string[] = [],
): readonly Fault[] {
  const refused = (at: Fault['path']) =>
    fault(at, 'filter.value', { takes: kind, ...(kind === 'CHOICE' ? { values: choices } : {}) })
  const isTaken = (one: unknown) => takes[kind](one, op, choices)
  if (op === 'between') {
    if (!Array.isArray(value) || value.length !== 2) return [refused(path)]
    return value.flatMap((one: unknown, at) => (isTaken(one) ? [] : [refused([...path, at])]))
  }
  if (!listOperators.includes(op)) return isTaken(value) ? [] : [refused(path)]
  if (!Array.isArray(value) || value.length === 0) return [refused(path)]
  if (value.length > filterBounds.values)
    return [fault(path, 'filter.too_large', { bound: 'values', limit: filterBounds.values })]
  return value.flatMap((one: unknown, at) => (isTaken(one) ? [] : [refused([...path, at])]))
}

const isId = (value: unknown) => typeof value === 'string' && uuid.safeParse(value).success
const isPerson = (value: unknown) => value === 'me' || isId(value)
const isText = (most: number) => (value: unknown) =>
  typeof value === 'string' &&
  value !== '' &&
  value.length <= most * 2 &&
  [...value].length <= most &&
  !value.includes('\u0000') &&
  value.isWellFormed()
const isOption = isText(filterBounds.option)

const takes: Readonly<
  Record<FilterKindName, (value: unknown, op: FilterOperator, choices: readonly string[]) => boolean>
> = {
  REFERENCE: isId,
  REFERENCES: isId,
  PERSON: isPerson,
  PEOPLE: isPerson,
  CHOICE: (value, _, choices) => choices.some((one) => one === value),
  OPTION: isOption,
  OPTIONS: isOption,
  TEXT: (value, op) => isText(op === 'is' || op === 'is_not' ? filterBounds.text : filterBounds.part)(value),
  NUMBER: (value) => typeof value === 'number' && Number.isFinite(value),
  MOMENT: (value) => isDateValue(value),
  DAY: (value) => isDateValue(value),
  FLAG: (value) => typeof value === 'boolean',
}

/** A day of the calendar, from the year 1. */
export const isDay = (value: string): boolean =>
  /^(?!0000)\d{4}-\d\d-\d\d$/.test(value) && new Date(`${value}T00:00:00Z`).toJSON()?.startsWith(value) === true

function isDateValue(value: unknown): boolean {
  if (typeof value === 'string') return value === 'now' || isDay(value) || moment.safeParse(value).success
  if (typeof value !== 'object' || value === null) return false
  const { unit, offset, ...others } = value as Readonly<Record<string, unknown>>
  const isWhole = Number.isInteger(offset) && Math.abs(offset as number) <= filterBounds.offset
  return periodUnits.some((one) => one === unit) && isWhole && Object.keys(others).length === 0
}
