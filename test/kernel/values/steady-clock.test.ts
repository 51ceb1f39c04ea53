/** A time that may destroy something: what makes it trusted, and what makes it wait again. Decision 0204. */
import { expect, test } from 'vitest'
import { type ClockReading, observed, type Steady, trustedMs } from '../../../src/core/kernel/values/steady-clock.ts'

const start = Date.parse('2030-05-02T00:00:00Z')
const hour = 3600
const day = 24 * hour
/** Both clocks so many seconds behind the start, moved by as many as are said. */
const at = (seconds: number, { database = 0, own = 0 } = {}): ClockReading => ({
  databaseMs: start + (seconds + database) * 1000,
  ownMs: start + (seconds + own) * 1000,
  monotonicSeconds: 500 + seconds,
})
/** What is trusted after these readings, in seconds behind the start. */
function trustedAfter(readings: readonly ClockReading[], settleSeconds = hour): number | undefined {
  let steady: Steady | undefined
  for (const reading of readings) steady = observed(steady, reading)
  const trusted = steady && trustedMs(steady, settleSeconds)
  return trusted === undefined ? undefined : (trusted - start) / 1000
}

test('one reading trusts nothing, nor do two that are close together', () => {
  expect(trustedAfter([at(0)])).toBeUndefined()
  expect(trustedAfter([at(0)], 0)).toBeUndefined()
  expect(trustedAfter([at(0), at(hour - 1)])).toBeUndefined()
})

test('after the wait it trusts what was past at its beginning, and goes on with the clocks', () => {
  expect(trustedAfter([at(0), at(hour)])).toBe(0)
  expect(trustedAfter([at(0), at(hour / 2), at(3 * hour)])).toBe(2 * hour)
  expect(trustedAfter([at(0, { own: 20 }), at(hour, { own: 30 })])).toBe(0)
})

const jump = { database: 31 * day, own: 31 * day }
const wrong: readonly (readonly [string, readonly ClockReading[]])[] = [
  ['clocks that differ', [at(0), at(hour, { own: 61 })]],
  ['clocks that differ from the first on', [at(0, { database: 31 * day }), at(hour, { database: 31 * day })]],
  ['both 31 days ahead at the second reading', [at(0), at(hour, jump)]],
  ['both 31 days ahead for less than the wait', [at(0), at(600, jump), at(hour, jump)]],
  ['back again after a jump', [at(0), at(1800, jump), at(hour)]],
  ['both back by a day', [at(0), at(hour, { database: -day, own: -day })]],
  ['one reading that differs between two that agree', [at(0), at(1800, { own: 100 }), at(hour)]],
]
test.each(wrong)('it waits again after %s', (_, readings) => expect(trustedAfter(readings)).toBeUndefined())
