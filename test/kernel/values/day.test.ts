/** Days in zones: their first and their last millisecond, where clocks change as well. */
import { expect, test } from 'vitest'
import { endOfDay, startOfDay } from '../../../src/core/kernel/values/day.ts'

const shown = (day: string, zone: string) =>
  [startOfDay(day, zone), endOfDay(day, zone)].map((at) => new Date(at).toISOString())

test.each([
  ['a day of summer', '2027-07-01', 'Europe/Zurich', '2027-06-30T22:00:00.000Z', '2027-07-01T21:59:59.999Z'],
  ['of 23 hours', '2027-03-28', 'Europe/Zurich', '2027-03-27T23:00:00.000Z', '2027-03-28T21:59:59.999Z'],
  ['of 25 hours', '2027-10-31', 'Europe/Zurich', '2027-10-30T22:00:00.000Z', '2027-10-31T22:59:59.999Z'],
  ['begins at 01:00', '2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z', '2018-11-05T01:59:59.999Z'],
  ['begins at 00:30', '1919-03-31', 'America/Toronto', '1919-03-31T04:30:00.000Z', '1919-04-01T03:59:59.999Z'],
  ['has 00:00 twice', '2026-11-01', 'America/Havana', '2026-11-01T04:00:00.000Z', '2026-11-02T04:59:59.999Z'],
  ['ends before one that has', '2026-10-31', 'America/Havana', '2026-10-31T04:00:00.000Z', '2026-11-01T03:59:59.999Z'],
  ['ends twice', '2010-11-06', 'America/St_Johns', '2010-11-06T02:30:00.000Z', '2010-11-07T03:29:59.999Z'],
  ['begins twice', '2010-11-07', 'America/St_Johns', '2010-11-07T02:30:00.000Z', '2010-11-08T03:29:59.999Z'],
  ['is skipped', '2011-12-30', 'Pacific/Apia', '2011-12-30T10:00:00.000Z', '2011-12-30T10:00:00.000Z'],
  ['the first', '0001-01-02', 'Pacific/Kiritimati', '0001-01-02T10:29:20.000Z', '0001-01-03T10:29:19.999Z'],
  ['the last', '9999-12-30', 'Pacific/Pago_Pago', '9999-12-30T11:00:00.000Z', '9999-12-31T10:59:59.999Z'],
])('%s: %s in %s', (_, day, zone, first, last) => {
  expect(shown(day, zone)).toEqual([first, last])
})

test('every hour of three years is in exactly one day of its zone, the one that its clocks show', () => {
  for (const zone of ['Europe/Zurich', 'America/Havana', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Chatham']) {
    const clock = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short' })
    for (let at = Date.UTC(2025, 0, 1); at < Date.UTC(2028, 0, 1); at += 9 * 3_600_000) {
      const day = clock.format(at)
      expect(startOfDay(day, zone) <= at && at <= endOfDay(day, zone), `${zone} ${day}`).toBe(true)
    }
  }
})
