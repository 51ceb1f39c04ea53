/** When a schedule is due, on clocks that go forward, back, and over the date line. */
import { describe, expect, test } from 'vitest'
import { jitterMs, lastDue, minutesApart, nextDue } from '../../src/core/areas/backup/schedules/cron.ts'

/** Every moment between two, and each of them found from behind as well. */
function between(cron: string, zone: string, from: string, to: string): string[] {
  const found: string[] = []
  for (let at = Date.parse(from) - 1; ; ) {
    const next = nextDue(cron, zone, at)
    if (next >= Date.parse(to)) return found
    expect(lastDue(cron, zone, next)).toBe(next)
    expect(lastDue(cron, zone, next + 59_000)).toBe(next)
    if (found.length > 0) expect(lastDue(cron, zone, next - 1)).toBe(at)
    found.push(new Date(next).toISOString())
    at = next
  }
}

describe('a time of a schedule', () => {
  test('that clocks skip comes later by what they skip', () => {
    expect(between('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00Z', '2026-03-31T00:00Z')).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-29T01:30:00.000Z', // 03:30, because 02:30 does not exist
      '2026-03-30T00:30:00.000Z',
    ])
    // Half an hour is skipped.
    expect(between('15 2 * * *', 'Australia/Lord_Howe', '2026-10-02T12:00Z', '2026-10-04T12:00Z')).toEqual([
      '2026-10-02T15:45:00.000Z',
      '2026-10-03T15:45:00.000Z', // 02:45
    ])
    // A whole day is skipped: 30 December 2011 never was.
    expect(between('0 12 * * *', 'Pacific/Apia', '2011-12-29T12:00Z', '2012-01-01T12:00Z')).toEqual([
      '2011-12-29T22:00:00.000Z',
      '2011-12-30T22:00:00.000Z',
      '2011-12-31T22:00:00.000Z',
    ])
  })

  test('that comes twice runs once, the first time', () => {
    expect(between('30 2 * * *', 'Europe/Berlin', '2026-10-24T00:00Z', '2026-10-27T00:00Z')).toEqual([
      '2026-10-24T00:30:00.000Z',
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ])
    expect(between('0 * * * *', 'Europe/Berlin', '2026-10-24T23:00Z', '2026-10-25T04:00Z')).toEqual([
      '2026-10-24T23:00:00.000Z',
      '2026-10-25T00:00:00.000Z', // 02:00; it is 02:00 again an hour later
      '2026-10-25T02:00:00.000Z',
      '2026-10-25T03:00:00.000Z',
    ])
    expect(between('0 * * * *', 'Europe/Berlin', '2026-03-29T00:00Z', '2026-03-29T04:00Z')).toEqual([
      '2026-03-29T00:00:00.000Z',
      '2026-03-29T01:00:00.000Z', // 02:00 and 03:00 are one moment
      '2026-03-29T02:00:00.000Z',
      '2026-03-29T03:00:00.000Z',
    ])
  })

  test('is found over years, in any field', () => {
    expect(between('5 4 29 2 *', 'UTC', '2026-01-01T00:00Z', '2033-01-01T00:00Z')).toEqual([
      '2028-02-29T04:05:00.000Z',
      '2032-02-29T04:05:00.000Z',
    ])
    // A day of the month or a day of the week.
    expect(between('0 3 1 * MON', 'UTC', '2026-11-29T00:00Z', '2026-12-09T00:00Z')).toEqual([
      '2026-11-30T03:00:00.000Z',
      '2026-12-01T03:00:00.000Z',
      '2026-12-07T03:00:00.000Z',
    ])
    expect(between('0 1-23/6 * JAN,FEB 7', 'UTC', '2027-01-03T00:00Z', '2027-01-10T00:00Z')).toHaveLength(4)
  })
})

test('two times are at least so many minutes apart, and what is no expression has none', () => {
  expect(['0 2 * * *', '0 * * * *', '5 */6 * * *', '0 0,23 * * *', '59 8-17/2 * * MON-FRI'].map(minutesApart)).toEqual([
    1440, 60, 360, 60, 120,
  ])
  for (const cron of [
    '* * * * *',
    '*/5 * * * *',
    '0,30 2 * * *',
    '0 2 * *',
    '0 0 2 * * *',
    '60 2 * * *',
    '0 24 * * *',
    '0 2 31 2 *',
    '0 2 * 13 *',
    '0 2 * * 8',
    '0 2 L * *',
    'H 2 * * *',
    '0 2 * * MON#1',
    '0 2 ? * *',
    '@daily',
    '0  2 * * *',
    ' 0 2 * * *',
    '0 2 * * NOPE',
    '',
  ])
    expect([cron, minutesApart(cron)]).toEqual([cron, undefined])
})

test('jitter is below ten minutes and goes by the id', () => {
  const ids = Array.from({ length: 1000 }, () => crypto.randomUUID())
  const all = ids.map(jitterMs)
  expect(Math.max(...all)).toBeLessThan(600_000)
  expect(new Set(all).size).toBeGreaterThan(300)
  expect(ids.map(jitterMs)).toEqual(all)
})
