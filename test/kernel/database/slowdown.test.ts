/** How much a flood may hold, so that others do not become much slower. Decision record 0189. */
import { expect, test } from 'vitest'
import { Slowdown } from '../../../src/core/kernel/database/slowdown.ts'

const share = 6

/** One that knows a kind of call by a hundred calls of 10 ms. */
function known(): Slowdown {
  const slowdown = new Slowdown(share)
  for (let n = 0; n < 100; n += 1) slowdown.tookCalm('read', 10)
  return slowdown
}

/** What the flood may hold after each of many calls beside it; a call takes what `ms` says for the connections of the flood. */
const beside = (slowdown: Slowdown, ms: (connections: number) => number, calls = 1_000, isRefused = false): number[] =>
  Array.from({ length: calls }, () => {
    slowdown.tookBeside('read', ms(slowdown.most), isRefused)
    return slowdown.most
  })

test('a flood that makes nobody slow keeps its share', () => {
  expect(new Set(beside(known(), () => 19))).toEqual(new Set([share]))
})

test('a flood that makes others slow at any width keeps one connection', () => {
  const held = beside(known(), () => 21)
  expect(held.at(-1)).toBe(1)
  expect(Math.min(...held)).toBe(1)
})

test('where each connection of the flood costs others 4 ms, it keeps two or three', () => {
  const held = beside(known(), (connections) => 10 + 4 * connections).slice(-200)
  expect(new Set(held)).toEqual(new Set([2, 3]))
})

test('one slow call of forty leaves it its share, one of ten leaves it two connections', () => {
  const slowEach = (calls: number) => {
    let call = 0
    return beside(known(), () => (++call % calls === 0 ? 21 : 10)).slice(-100)
  }
  expect(Math.min(...slowEach(40))).toBeGreaterThanOrEqual(share - 1)
  expect(new Set(slowEach(10))).toEqual(new Set([2]))
})

test('half of the calls beside it take at most twice their own time', () => {
  const slowdown = known()
  const times: number[] = []
  beside(slowdown, (connections) => {
    // Three calls of ten take twice as long, as beside a slow disk.
    const ms = (times.length % 10 < 3 ? 2 : 1) * (8 + 3 * connections)
    times.push(ms)
    return ms
  })
  const late = times.slice(-500).sort((a, b) => a - b)
  expect(late[250]).toBeLessThanOrEqual(20)
  expect(slowdown.most).toBe(2)
})

test('a flood that is refused much rests for up to three times as long as it holds its one connection', () => {
  const slowdown = known()
  const held = beside(slowdown, () => 21, 1_000, true)
  expect(held.at(-1)).toBe(1)
  expect(slowdown.restMs(8)).toBeCloseTo(24)
  // One transaction of a second does not stop it for three.
  expect(slowdown.restMs(1_000)).toBe(100)
  // What comes before anything is refused makes that neither shorter nor longer.
  beside(slowdown, () => 21, 1)
  expect(slowdown.restMs(8)).toBeCloseTo(24)
  beside(slowdown, () => 10, 20)
  expect(slowdown.restMs(8)).toBe(0)
})

test('callers who wait for their answers keep one connection all the time', () => {
  const slowdown = known()
  beside(slowdown, () => 21)
  expect(slowdown.restMs(8)).toBe(0)
})

test('beside a flood that is refused much, 29 of 30 calls take at most twice their own time', () => {
  const slowdown = known()
  const times: number[] = []
  for (let n = 0; n < 2_000; n += 1) {
    // The longer the flood rests, the fewer calls meet it.
    const part = 1 / (1 + slowdown.restMs(1))
    times.push((n * 7) % 100 < 10 * part * part ? 21 : 10)
    slowdown.tookBeside('read', times.at(-1)!, true)
  }
  const late = times.slice(-1_000).filter((ms) => ms > 20).length
  expect(late).toBeLessThan(50)
  expect(late).toBeGreaterThan(20)
})

test('when others are no longer slow, it has its share again', () => {
  const slowdown = known()
  beside(slowdown, () => 100)
  expect(slowdown.most).toBe(1)
  expect(beside(slowdown, () => 10, 230).at(-1)).toBe(share)
})

test('calls of one kind are compared, and a kind of which little is known says nothing', () => {
  const slowdown = known()
  for (let n = 0; n < 100; n += 1) slowdown.tookCalm('export', 400)
  for (let n = 0; n < 200; n += 1) slowdown.tookBeside('export', 500, false)
  for (let n = 0; n < 7; n += 1) slowdown.tookCalm('rare', 1)
  for (let n = 0; n < 200; n += 1) slowdown.tookBeside('rare', 1_000, false)
  for (let n = 0; n < 200; n += 1) slowdown.tookBeside('never seen', 1_000, false)
  expect(slowdown.most).toBe(share)
})

test('what a kind takes follows what it took last', () => {
  const slowdown = new Slowdown(share)
  // The first calls of a process compile what they run.
  for (let n = 0; n < 8; n += 1) slowdown.tookCalm('read', 100)
  for (let n = 0; n < 100; n += 1) slowdown.tookCalm('read', 10)
  expect(beside(slowdown, () => 30).at(-1)).toBe(1)
})
