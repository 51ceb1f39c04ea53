/** Where a page ends: by what the database has measured, it ends no later than by its JSON. Decisions 7, Bounds at the door; 0139. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { roomFor, roomOnPage } from '../../../src/core/kernel/transaction/page.ts'

/** As `withinPage` answers them: the bytes of `text` are those in the database. */
function measured(texts: readonly string[]) {
  let before: number | null = null
  return texts.map((text) => {
    const row = { id: '01a21f18-f033-7000-bcf1-41a1c9baab24', title: 't'.repeat(500), text, bytes_before: before }
    before = (before ?? 0) + Buffer.byteLength(text)
    return row
  })
}

const text = fc
  .tuple(fc.constantFrom('a', '\u0001', '\n', '"', '\u4e16', '\ud83d\ude00'), fc.integer({ min: 0, max: 20_000 }))
  .map(([one, times]) => one.repeat(times))

test('a page has as many rows as its JSON has room for', () => {
  let short = 0
  fc.assert(
    fc.property(fc.array(text, { maxLength: 120, size: 'max' }), fc.integer({ min: 1, max: 200 }), (texts, size) => {
      const rows = measured(texts)
      const room = roomFor(rows, size)
      if (room < Math.min(size, rows.length)) short += 1
      expect(roomOnPage(rows, size)).toBe(room)
    }),
    { numRuns: 300 },
  )
  expect(short, 'some pages are too large').toBeGreaterThan(20)
})

test('a page of fifty short rows is not measured again, and one of long rows is', () => {
  let asked = 0
  const get = () => {
    asked += 1
    return 'title'
  }
  const spied = (rows: ReturnType<typeof measured>) =>
    rows.map((row) => Object.defineProperty(row, 'title', { enumerable: true, get }))
  expect(roomOnPage(spied(measured(Array.from({ length: 51 }, () => 'a'.repeat(300)))), 50)).toBe(50)
  expect(asked).toBe(1) // the last one, whose own bytes the database has not added
  expect(roomOnPage(spied(measured(Array.from({ length: 51 }, () => 'a'.repeat(9000)))), 50)).toBe(50)
  expect(asked).toBeGreaterThan(50)
})
