/** The walk of a purge through a table: every row goes, nothing is walked over twice in one step. */
import { expect, test } from 'vitest'
import type { KeyRange } from '../../src/core/areas/tenants/purge/purge-tables.ts'
import { openWalk } from '../../src/core/areas/tenants/purge/purge-walk.ts'

const key = (n: number) => [String(n).padStart(6, '0')]
const isWithin = (n: number, { after, upto }: KeyRange) =>
  (after === undefined || key(n)[0]! > after[0]!) && (upto === undefined || key(n)[0]! <= upto[0]!)

/** Walks over rows of which some may go only once others went; answers the rounds' steps and the rows left. */
function walkOver(rows: Set<number>, size: number, mayGo: (n: number) => boolean) {
  const walk = openWalk()
  const removed = new Set<number>()
  let steps = 0
  let most = 0
  while (!walk.isOver) {
    const { range } = walk
    most = Math.max(most, [...removed].filter((n) => isWithin(n, range)).length)
    const batch = [...rows].filter((n) => isWithin(n, range) && mayGo(n)).slice(0, size)
    for (const n of batch) {
      rows.delete(n)
      removed.add(n)
    }
    walk.note(batch.map(key), size)
    steps += 1
    if (steps > 10_000) throw new Error('it does not end')
  }
  return { steps, most, left: rows.size }
}

test.each([0, 1, 99, 100, 101, 1000, 1234])('%i rows go, and the second round meets one batch a step', (count) => {
  const rows = new Set(Array.from({ length: count }, (_, n) => n))
  const { left, most, steps } = walkOver(rows, 100, () => true)
  expect(left).toBe(0)
  expect(most).toBeLessThanOrEqual(100)
  expect(steps).toBeLessThanOrEqual(2 * Math.ceil(count / 100) + 3)
})

test('rows that others refer to go in later rounds, however deep they lie', () => {
  const rows = new Set(Array.from({ length: 500 }, (_, n) => n))
  // Each is referred to by the next one: only the last may go, again and again.
  expect(walkOver(rows, 100, (n) => !rows.has(n + 1)).left).toBe(0)
})

test('rows that come while it walks are met by the round that follows', () => {
  const walk = openWalk()
  walk.note([key(5), key(6)], 2)
  walk.note([], 2)
  expect([walk.isOver, walk.range]).toEqual([false, { after: undefined, upto: key(6) }])
  walk.note([key(1)], 2)
  walk.note([], 2)
  expect(walk.isOver).toBe(false)
})
