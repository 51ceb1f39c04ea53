/** Ids rise. Spec: decisions 1, Values. */
import { expect, test } from 'vitest'
import { newId } from '../../../src/core/kernel/values/id.ts'
import { timeNow } from '../../../src/core/kernel/values/time.ts'

const millisecondsOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)

test('20,000 ids in a row are UUIDv7 of now, each above the one before', () => {
  const from = timeNow()
  const ids = Array.from({ length: 20_000 }, () => newId())
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect([...ids].sort()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
  expect(millisecondsOf(ids[0]!)).toBeGreaterThanOrEqual(from)
})

test('more in one millisecond than it has counts for, and a clock that goes back: they still rise', () => {
  const now = Date.now() + 60_000
  const ids = [...Array.from({ length: 5_000 }, () => newId(now)), newId(now - 1_000), newId(0)]
  expect([...ids].sort()).toEqual(ids)
  expect(millisecondsOf(ids[0]!)).toBe(now)
})
