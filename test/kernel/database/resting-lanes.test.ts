/** A flood that is refused rests between its transactions while others need connections. Decision record 0512. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Turns } from '../../../src/core/kernel/database/turns.ts'

test('what comes behind a flood that rests does not count as a caller beside it', async () => {
  const turns = new Turns<string>(6, 100)
  for (let n = 0; n < 20; n += 1) turns.took('caller', 'read', 1)
  const flood = turns.lane('flood')
  flood.refused = 1
  turns.enter(flood, 'first', true)
  turns.admits(turns.lane('caller'), true)
  for (let n = 0; n < 100; n += 1) turns.took('caller', 'read', 100)
  expect(turns.rest(flood, 8)).toBeCloseTo(24)
  for (let n = 0; n < 11; n += 1) {
    if (n < 9) expect(turns.next()).toBeUndefined()
    turns.enter(flood, 'more', true)
    await pause(100)
  }
  expect(turns.next()).toBe('first')
})
