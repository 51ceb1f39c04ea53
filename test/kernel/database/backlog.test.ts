/** How many may wait, so that each begins in time. Decision record 0185. */
import { describe, expect, test } from 'vitest'
import { Backlog, floodInTimeMs, inTimeMs } from '../../../src/core/kernel/database/backlog.ts'

const least = 4
const full = 200

/** A queue that stands from 0 on, and of which `perSecond` are served, as it is at `until` ms. */
function standing(perSecond: number, until: number): Backlog {
  const backlog = new Backlog(least, full)
  backlog.began(0)
  for (let n = 1; (n * 1_000) / perSecond <= until; n += 1) backlog.served((n * 1_000) / perSecond)
  return backlog
}

/** What a lane may meet. `others`: how many wait in other lanes. `refused`: the part of its own calls. */
interface Meets {
  readonly lanes?: number
  readonly lateMs?: number
  readonly others?: number
  readonly refused?: number
}

/** How many may wait in a lane. */
function most(backlog: Backlog, now: number, meets: Meets = {}): number {
  const { lanes = 1, lateMs = 0, others = lanes > 1 ? 1_000 : 0, refused = 0 } = meets
  for (let waiting = 1; waiting <= 2 * full; waiting += 1)
    if (
      !backlog.hasRoom(
        { asker: { refused, forgottenAt: Number.POSITIVE_INFINITY }, waiting, all: waiting + others, lanes, lateMs },
        now,
      )
    )
      return waiting
  return Number.POSITIVE_INFINITY
}

describe('the bound', () => {
  test('the first burst may fill its lane, and no more', () => {
    expect(most(new Backlog(least, full), 0)).toBe(full)
    expect(most(standing(1_000, 400), 400)).toBe(full)
  })

  test('once a queue has stood for a second, as many may wait as are served in time', () => {
    expect(most(standing(500, 1_100), 1_100)).toBe(inTimeMs / 2)
    expect(most(standing(1_000, 1_100), 1_100)).toBe(inTimeMs)
  })

  test('a second in which the machine stood still refuses none of 32 connections', () => {
    expect(most(standing(500, 1_100), 2_100)).toBe(32)
  })

  test('the first queue of a process may stand for a second: its connections are being made', () => {
    expect(most(standing(1_000, 900), 900)).toBe(full)
    const backlog = standing(1_000, 1_100)
    backlog.ended()
    backlog.began(2_000)
    for (let now = 2_001; now <= 2_600; now += 1) backlog.served(now)
    expect(most(backlog, 2_400)).toBe(full)
    expect(most(backlog, 2_600)).toBe(inTimeMs)
  })

  test('once the pace is known, a burst is a hundred calls, or what is served in a fifth of a second', () => {
    const again = (perSecond: number) => {
      const backlog = standing(perSecond, 1_100)
      backlog.ended()
      backlog.began(5_000)
      return most(backlog, 5_010)
    }
    expect([100, 700, 5_000].map(again)).toEqual([100, 140, full])
  })

  test('the lanes that wait have equal parts', () =>
    expect(most(standing(1_000, 1_100), 1_100, { lanes: 5 })).toBe(inTimeMs / 5))

  test('what the others leave of their parts is for the lane that wants it', () => {
    expect(most(standing(1_000, 1_100), 1_100, { lanes: 2, others: 1 })).toBe(inTimeMs - 1)
    expect(most(standing(1_000, 1_100), 1_100, { lanes: 4, others: 30 })).toBe(inTimeMs - 30)
    expect(most(standing(100, 1_100), 1_100, { lanes: 3, others: 5 })).toBe(27)
  })

  test('what the event loop is late counts as waited', () => {
    expect(most(standing(1_000, 1_100), 1_100, { lateMs: 25 })).toBe(inTimeMs - 25)
    expect(most(standing(1_000, 1_100), 1_100, { lateMs: 500 })).toBe(32)
  })

  test('a lane that is refused more than a fifth of its calls may have half as many waiting', () => {
    const of = (refused: number) => most(standing(1_000, 1_100), 1_100, { refused })
    expect([0, 0.19, 0.21, 1].map(of)).toEqual([inTimeMs, inTimeMs, floodInTimeMs, floodInTimeMs])
    expect(most(standing(100, 1_100), 1_100, { refused: 1 }), 'the least that may wait').toBe(32)
  })

  test('what was refused of a flood is forgotten after ten seconds, and found out again', () => {
    const backlog = standing(1_000, 11_000)
    const lane = { refused: 0, forgottenAt: 0 }
    const ask = (waiting: number, now: number) =>
      backlog.hasRoom({ asker: lane, waiting, all: waiting, lanes: 1, lateMs: 0 }, now)
    const between = (floodInTimeMs + inTimeMs) / 2
    for (let n = 0; n < 64; n += 1) ask(full, 1_100)
    expect(ask(between, 11_000)).toBe(false)
    expect(ask(between, 11_101)).toBe(true)
    for (let n = 0; n < 64; n += 1) ask(full, 11_200)
    expect(ask(between, 11_200)).toBe(false)
  })

  test('what is refused of a lane is that of its latest hundred calls', () => {
    const backlog = standing(1_000, 1_100)
    const lane = { refused: 0, forgottenAt: 0 }
    const ask = (waiting: number) => backlog.hasRoom({ asker: lane, waiting, all: waiting, lanes: 1, lateMs: 0 }, 1_100)
    for (let n = 0; n < 64; n += 1) expect(ask(full)).toBe(false)
    expect(lane.refused).toBeCloseTo(0.635, 2)
    for (let n = 0; n < 128; n += 1) expect(ask(1)).toBe(true)
    expect(lane.refused).toBeGreaterThan(0.05)
    expect(lane.refused).toBeLessThan(0.1)
    expect(ask(0), 'nothing of the lane waits').toBe(true)
    expect(lane.refused).toBe(0)
  })

  test('on a slow machine it is what a client with 32 connections sends, unless that takes more than half a second', () => {
    expect(most(standing(100, 1_100), 1_100)).toBe(32)
    expect(most(standing(100, 1_100), 1_100, { lanes: 4 })).toBe(8)
    expect(most(standing(40, 2_000), 2_000)).toBe(20)
    expect(most(standing(5, 2_000), 2_000)).toBe(least)
  })

  test('a lane below a third of the connections is never refused', () => {
    for (const perSecond of [1, 10, 1_000])
      expect(most(standing(perSecond, 5_000), 5_000, { lanes: 1_000, lateMs: 1_000 })).toBe(least)
  })

  test('the pace falls while nothing is served', () => {
    const backlog = standing(1_000, 1_100)
    const seen = Array.from({ length: 40 }, (_, n) => most(backlog, 1_100 + 200 * n))
    expect(seen[0]).toBe(inTimeMs)
    expect(seen).toEqual([...seen].sort((a, b) => b - a))
    expect(seen.at(-1)).toBe(least)
  })

  test('a disk that is slow for a moment leaves half of it, and more', () => {
    const backlog = standing(1_000, 1_100)
    expect(most(backlog, 1_500)).toBeGreaterThan(inTimeMs / 2)
  })

  test('a moment without a queue does not end it, a second without a refusal does', () => {
    const backlog = standing(1_000, 1_100)
    expect(most(backlog, 1_100)).toBe(inTimeMs)
    backlog.ended()
    backlog.began(1_110)
    expect(most(backlog, 1_120)).toBe(inTimeMs)
    backlog.ended()
    backlog.began(2_200)
    expect(most(backlog, 2_210)).toBe(full)
  })

  test('a lane that was full bounds at once', () => {
    const backlog = standing(1_000, 300)
    expect(
      backlog.hasRoom({ asker: { refused: 0, forgottenAt: 0 }, waiting: full, all: full, lanes: 1, lateMs: 0 }, 300),
    ).toBe(false)
    expect(most(backlog, 310)).toBe(inTimeMs)
  })
})

/** Calls a second, whatever becomes of them; or clients, each of which sends a call when the one before is answered. */
type Caller = number | { readonly clients: number }

/** A pool that serves `perSecond`, one after another and lane by lane, and each lane's caller. */
function simulate(perSecond: number, callers: readonly Caller[], seconds: number) {
  const backlog = new Backlog(least, full)
  const lanes = callers.map((caller) => ({
    every: typeof caller === 'number' ? 1_000 / caller : 0,
    due: typeof caller === 'number' ? [0] : new Array<number>(caller.clients).fill(0),
    queue: [] as number[],
    asker: { refused: 0, forgottenAt: 0 },
    refused: 0,
    waits: [] as number[],
  }))
  const turns: (typeof lanes)[number][] = []
  const ask = (lane: (typeof lanes)[number], now: number) => {
    const all = lanes.reduce((sum, { queue }) => sum + queue.length, 0)
    const met = { asker: lane.asker, waiting: lane.queue.length, all, lanes: turns.length, lateMs: 0 }
    if (!backlog.hasRoom(met, now)) {
      lane.refused += 1
      if (lane.every === 0) lane.due.push(now + 1_000)
      return
    }
    if (turns.length === 0) backlog.began(now)
    if (lane.queue.push(now) === 1) turns.push(lane)
  }
  let nextServed = 0
  for (let now = 0; now < seconds * 1_000; now += 0.1) {
    for (const lane of lanes)
      for (let due = lane.due.find((at) => at <= now); due !== undefined; due = lane.due.find((at) => at <= now)) {
        lane.due.splice(lane.due.indexOf(due), 1)
        if (lane.every > 0) lane.due.push(due + lane.every)
        ask(lane, now)
      }
    if (now < nextServed) continue
    const lane = turns.shift()
    const begun = lane?.queue.shift()
    if (!lane || begun === undefined) continue
    nextServed = now + 1_000 / perSecond
    lane.waits.push(now - begun)
    if (lane.every === 0) lane.due.push(nextServed)
    if (lane.queue.length > 0) turns.push(lane)
    backlog.served(now)
    if (turns.length === 0) backlog.ended()
  }
  return lanes
}

describe.each([200, 600, 1_500])('a pool that serves %i a second', (perSecond) => {
  test.each([1.5, 2, 5, 20])('at %f times that is never idle, and what is admitted soon begins', (times) => {
    const [flood] = simulate(perSecond, [times * perSecond], 10)
    expect(flood!.waits.length).toBeGreaterThan(0.95 * perSecond * 10)
    const settled = flood!.waits.slice(-perSecond * 7)
    // The bound is in whole calls, and never below a third of the connections.
    const inTime = Math.max(floodInTimeMs, 32_000 / perSecond)
    expect(Math.max(...settled)).toBeLessThan(inTime + (1_000 * (least + 2)) / perSecond)
  })

  test('below its pace refuses nothing', () => {
    const [lane] = simulate(perSecond, [0.9 * perSecond], 10)
    expect(lane!.refused).toBe(0)
  })

  test('beside a flood, a lane that asks for little is refused nothing', () => {
    const [, ...quiet] = simulate(perSecond, [3 * perSecond, 10, 25, perSecond / 10], 10)
    expect(quiet.map(({ refused }) => refused)).toEqual([0, 0, 0])
  })

  test('two floods have equal parts', () => {
    const [a, b] = simulate(perSecond, [2 * perSecond, 5 * perSecond], 10)
    expect(a!.waits.length / b!.waits.length).toBeGreaterThan(0.8)
    expect(a!.waits.length / b!.waits.length).toBeLessThan(1.25)
  })

  test('clients that wait for their answers are refused nothing, as long as they are served in time', () => {
    const clients = 2 * Math.max(16, Math.floor(perSecond / 24))
    const [one] = simulate(perSecond, [{ clients }], 10)
    const both = simulate(perSecond, [{ clients: clients / 2 }, { clients: clients / 2 }], 10)
    expect([one!, ...both].map(({ refused }) => refused)).toEqual([0, 0, 0])
  })
})
