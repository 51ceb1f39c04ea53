/** Dates of a filter as periods, where clocks are set and calendars turn. Spec: Work on boards, 2. */
import { expect, test } from 'vitest'
import { type DateValue, periodOf } from '../../../src/core/areas/items/filter/periods.ts'

const span = (value: DateValue, zone = 'UTC', now = '2026-11-24T10:00:00.000Z') => {
  const { from, until, firstDay, nextDay } = periodOf(value, { now: Date.parse(now), zone })
  return [new Date(from).toISOString(), new Date(until).toISOString(), firstDay, nextDay]
}
const around = (from: string, until: string, zone = 'UTC', now?: string) => ({ from, until, zone, now })

test.each([
  ['2026-03-29', around('2026-03-28T23:00', '2026-03-29T22:00', 'Europe/Vienna')],
  ['2026-10-25', around('2026-10-24T22:00', '2026-10-25T23:00', 'Europe/Vienna')],
  ['2018-11-04', around('2018-11-04T03:00', '2018-11-05T02:00', 'America/Sao_Paulo')],
  ['2011-12-29', around('2011-12-29T10:00', '2011-12-30T10:00', 'Pacific/Apia')],
  ['2011-12-30', around('2011-12-30T10:00', '2011-12-30T10:00', 'Pacific/Apia')],
  ['2026-01-01', around('2026-01-01T00:00', '2026-01-02T00:00')],
  [{ unit: 'DAY', offset: 0 }, around('2026-11-23T15:00', '2026-11-24T15:00', 'Asia/Tokyo')],
  [{ unit: 'DAY', offset: -1 }, around('2026-11-23T00:00', '2026-11-24T00:00')],
  [{ unit: 'WEEK', offset: 0 }, around('2026-11-23T00:00', '2026-11-30T00:00')],
  [{ unit: 'WEEK', offset: 0 }, around('2026-11-23T00:00', '2026-11-30T00:00', 'UTC', '2026-11-29T23:59:59.999Z')],
  [{ unit: 'MONTH', offset: 2 }, around('2027-01-01T00:00', '2027-02-01T00:00')],
  [{ unit: 'QUARTER', offset: 0 }, around('2026-10-01T00:00', '2027-01-01T00:00')],
  [{ unit: 'YEAR', offset: -1 }, around('2025-01-01T00:00', '2026-01-01T00:00')],
  [{ unit: 'YEAR', offset: -1950 }, around('0076-01-01T00:00', '0077-01-01T00:00')],
] as [DateValue, ReturnType<typeof around>][])('%j is that period', (value, { from, until, zone, now }) => {
  expect(span(value, zone, now).slice(0, 2)).toEqual([`${from}:00.000Z`, `${until}:00.000Z`])
})

test('a moment is its millisecond, and the day of it in the zone', () => {
  const late = '2026-11-24T23:30:00.000Z'
  expect(span('now', 'Europe/Vienna', late)).toEqual([late, '2026-11-24T23:30:00.001Z', '2026-11-25', '2026-11-26'])
  expect(span('2026-11-24T23:30:00+00:00')).toEqual([late, '2026-11-24T23:30:00.001Z', '2026-11-24', '2026-11-25'])
})

test('periods far away end where the calendar of items does', () => {
  expect(span({ unit: 'YEAR', offset: 10_000 })[0]).toBe('9999-12-31T23:59:59.999Z')
  expect(span({ unit: 'YEAR', offset: -10_000 })[1]).toBe('0001-01-01T00:00:00.000Z')
})
