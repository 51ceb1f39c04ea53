/** Ranks: between any two neighbours there is a place, in byte order, and ranks stay short. Decision 0100. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rankBetween } from '../../../src/core/kernel/values/rank.ts'

const inBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** Inserts at the places chosen, each a share of the list's length. */
function grown(places: readonly number[], list: string[] = []): string[] {
  for (const place of places) {
    const at = Math.floor(place * (list.length + 1))
    list.splice(at, 0, rankBetween(list[at - 1] ?? null, list[at] ?? null))
  }
  return list
}

const longest = (list: readonly string[]) => Math.max(...list.map(({ length }) => length))
const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

test('wherever a place is asked for, the list stays in the order of its bytes and no rank comes twice', () => {
  fc.assert(
    fc.property(fc.array(share, { maxLength: 300 }), (places) => {
      const list = grown(places)
      expect([...list].sort(inBytes)).toEqual(list)
      expect(new Set(list).size).toBe(list.length)
    }),
    { numRuns: 200 },
  )
})

test('it goes on from the ranks that provisioning gives', () => {
  const list = grown(
    Array.from({ length: 200 }, (_, n) => (n * 0.618) % 1),
    ['a0', 'a1', 'a2', 'a3', 'a9'],
  )
  expect([...list].sort(inBytes)).toEqual(list)
  expect(list).toEqual(expect.arrayContaining(['a0', 'a1', 'a2', 'a3', 'a9']))
})

test('an open side leaves room, both ways over the change of digits', () => {
  expect(rankBetween(null, null)).toBe('a0')
  expect(rankBetween('az', null)).toBe('b0F')
  expect(rankBetween(null, 'a0')).toBe('Zk')
  expect(rankBetween(null, 'Z0')).toBe('Yzk')
  expect(rankBetween('a0', 'a1')).toBe('a0a0')
  expect(rankBetween('a0', 'a0a0')).toBe('a0Zk')
  expect(rankBetween('a0zzzzzz'.slice(0, 2), 'a2')).toBe('a1')
})

test('a hundred thousand at the end, at the beginning or at one place inside take at most eight characters', () => {
  const count = 100_000
  const inside: [string, string] = ['a0', 'a1']
  const [end, start, before, behind] = [['a0'], ['a0'], ['a0'], ['a0']].map(([first = '']) => ({ last: first }))
  for (let n = 0; n < count; n += 1) {
    if (end) end.last = rankBetween(end.last, null)
    if (start) start.last = rankBetween(null, start.last)
    if (before) before.last = rankBetween(before.last, inside[1])
    if (behind) behind.last = rankBetween(inside[0], behind.last === 'a0' ? inside[1] : behind.last)
  }
  for (const walked of [end, start, before, behind]) expect(walked?.last.length).toBeLessThanOrEqual(8)
})

test('ten thousand at places drawn by lot, and twenty thousand moves, keep ranks below 40 characters', () => {
  let seed = 1
  const lot = () => {
    seed = (seed * 48271) % 2147483647
    return seed / 2147483647
  }
  const list = grown(Array.from({ length: 10_000 }, lot))
  for (let n = 0; n < 20_000; n += 1) {
    list.splice(Math.floor(lot() * list.length), 1)
    grown([lot()], list)
  }
  expect(longest(list)).toBeLessThan(40)
})

test('whoever halves one gap for ever is refused before an index would be, and not at once', () => {
  let [left, right] = ['a0', 'a1']
  const halves = () => {
    for (let n = 0; ; n += 1) {
      const between = rankBetween(left ?? null, right ?? null)
      if (n % 2 === 0) right = between
      else left = between
      if (n > 20_000) return 'never'
      if (n === 1000) expect(between.length).toBeLessThan(500)
    }
  }
  expect(halves).toThrow('order.exhausted')
})

test.each([
  ['a1', 'a0'],
  ['a0', 'a0'],
])('neighbours that stand in no order (%s, %s) are a fault of ours', (left, right) => {
  expect(() => rankBetween(left, right)).toThrow(RangeError)
})

test.each(['a', 'b0', 'a0b', 'z0'])('a text that is no rank (%s) is not taken for one', (text) => {
  expect(() => rankBetween(text, null)).toThrow(RangeError)
})
