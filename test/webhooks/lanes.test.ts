/** The pure parts: who may be called next (lanes), and what becomes of a delivery (ladder). */
import { beforeEach, describe, expect, test } from 'vitest'
import { Lanes, type Place } from '../../src/core/areas/webhooks/dispatch/lanes.ts'
import { type Ended, retryAfterSeconds, verdictOn } from '../../src/core/areas/webhooks/ladder.ts'
import { readLadder } from '../../src/core/kernel/config/retry-ladder.ts'

const limits = {
  quick: { daemon: 10, workspace: 6, target: 4 },
  fresh: { daemon: 5, workspace: 3, target: 1 },
  slow: { daemon: 8, workspace: 4, target: 3 },
  atOnce: 100,
  backgroundLimit: { behind: 100, doubtful: 100 },
}
let now = 0
let lanes: Lanes
beforeEach(() => {
  now = 1000
  lanes = new Lanes(limits, () => now)
})

/** Takes all that may be begun at a workspace, as if so much were due. */
const begin = (tenantId: string): [string, Place[]][] =>
  lanes.take(tenantId).map((held) => [held.webhookId, lanes.claimed(held, held.slots)])
/** Workspaces at which something may be begun now. */
const ready = () =>
  [...lanes.readiness()].filter(([, { keepsUp, others }]) => keepsUp || others === 'ready').map(([id]) => id)
const rests = (tenantId: string) => lanes.readiness().get(tenantId)?.others === 'resting'
const counts = (begun: readonly [string, readonly Place[]][]) => begun.map(([id, places]) => [id, places.length])
/** Lets targets show that they answer, so much at once that every place asked for is filled; nothing more is due to them then. */
const prove = (tenantId: string, ...targets: string[]) => {
  for (const target of targets) {
    lanes.call(tenantId, target)
    for (const isLast of [false, false, true])
      for (const held of lanes.take(tenantId))
        for (const place of lanes.claimed(held, held.slots, isLast && held.webhookId === target)) place.leave(succeeded)
  }
}
/** Lets a target show that more is due to it than it is asked for. */
const leaveBehind = (tenantId: string, target: string) => {
  prove(tenantId, target)
  lanes.call(tenantId, target)
  for (const [, places] of begin(tenantId)) for (const place of places) place.leave(succeeded)
}
const failed = { failed: true, isWhole: true, wasConnected: true, durationMs: 5 }
const succeeded = { failed: false, isWhole: true, wasConnected: true, durationMs: 5 }
const cutOff = { failed: false, isWhole: false, wasConnected: false, durationMs: 5 }

describe('lanes', () => {
  test('bound a target, a workspace and the daemon', () => {
    prove('one', 'a', 'b', 'c')
    prove('two', 'd', 'e')
    for (const target of ['a', 'b', 'c']) lanes.call('one', target)
    expect(counts(begin('one'))).toEqual([
      ['a', 4],
      ['b', 2],
    ])
    for (const target of ['d', 'e']) lanes.call('two', target)
    expect(counts(begin('two'))).toEqual([['d', 4]])
    expect(ready()).toEqual([])
  })

  test('ask a target of which nothing is known once, and few of them at a time', () => {
    for (const target of ['a', 'b', 'c', 'd']) lanes.call('one', target)
    expect(counts(begin('one'))).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 1],
    ])
    expect(ready()).toEqual([])
  })

  test('ask for one at first, for twice as many while all are filled, and for as many as there were after that', () => {
    const asked = (begun: (slots: number) => number) => {
      const [held] = lanes.take('one')
      if (!held) throw new Error('nothing to take')
      for (const place of lanes.claimed(held, begun(held.slots))) place.leave(succeeded)
      lanes.call('one', 'a')
      return held.slots
    }
    lanes.call('one', 'a')
    const all = (slots: number) => slots
    expect([asked(all), asked(all), asked(all), asked(all)]).toEqual([1, 2, 4, 4])
    expect([asked(() => 2), asked(() => 0), asked(all), asked(() => 0)]).toEqual([4, 2, 1, 2])
  })

  test.each([
    [0, ['short', 'long']],
    [1_001, ['long', 'short']],
  ])('ask those that keep up before those with a queue, but for a second at most: %i ms', (ms, order) => {
    leaveBehind('one', 'long')
    prove('one', 'short')
    lanes.call('one', 'short')
    now += ms
    expect(lanes.take('one').map(({ webhookId }) => webhookId)).toEqual(order)
  })

  describe('beside those that keep up', () => {
    const few = {
      ...limits,
      fresh: { daemon: 10, workspace: 10, target: 1 },
      backgroundLimit: { behind: 2, doubtful: 1 },
    }
    /** A turn in which nothing more is due to those that keep up. */
    const turn = () =>
      lanes
        .take('one')
        .map((held) => [held.webhookId, lanes.claimed(held, held.keepsUp ? 1 : held.slots, held.keepsUp).length])

    test('begin few attempts at others, and as many as there is room for a second later', () => {
      lanes = new Lanes(few, () => now)
      prove('one', 'short')
      leaveBehind('one', 'long')
      now += 1_000
      for (const target of ['short', 'a', 'b', 'c', 'd', 'e']) lanes.call('one', target)
      expect(turn()).toEqual([
        ['short', 1],
        ['long', 2],
        ['a', 1],
      ])
      now += 999
      expect(turn()).toEqual([
        ['b', 1],
        ['long', 2],
      ])
      now += 1
      expect(turn()).toEqual([
        ['c', 1],
        ['d', 1],
        ['e', 1],
      ])
    })

    test('have a turn of their own, and are asked by one turn at a time', () => {
      lanes = new Lanes(few, () => now)
      prove('one', 'short')
      leaveBehind('one', 'long')
      now += 1_000
      for (const target of ['short', 'a', 'b']) lanes.call('one', target)
      const ids = (taken: readonly { webhookId: string }[]) => taken.map(({ webhookId }) => webhookId)
      expect(lanes.readiness().get('one')).toEqual({ keepsUp: true, others: 'ready' })
      const first = lanes.take('one', 'keep up')
      expect(ids(first)).toEqual(['short'])
      lanes.call('one', 'short')
      expect(lanes.readiness().get('one')).toEqual({ keepsUp: false, others: 'ready' })
      expect(ids(lanes.take('one', 'others'))).toEqual(['long', 'a'])
      expect(ids(lanes.take('one'))).toEqual(['b'])
      // It was called while it was asked.
      for (const held of first) lanes.claimed(held, 1, true)
      expect(ids(lanes.take('one'))).toEqual(['short'])
    })

    test('one that kept up within a second, and has two due, is not counted', () => {
      lanes = new Lanes(
        { ...few, quick: { daemon: 99, workspace: 99, target: 4 }, backgroundLimit: { behind: 1, doubtful: 1 } },
        () => now,
      )
      prove('one', 'a', 'b', 'c', 'short')
      for (const target of ['a', 'b', 'c', 'short']) lanes.call('one', target)
      for (const held of lanes.take('one'))
        for (const place of lanes.claimed(held, held.slots, held.webhookId === 'short')) place.leave(succeeded)
      lanes.call('one', 'short')
      now += 999
      const ids = () => lanes.take('one', 'others').map(({ webhookId }) => webhookId)
      expect(ids()).toEqual(['a', 'b', 'c'])
    })

    test('a target that answers well, but slowly, is not taken for a bad one', () => {
      lanes = new Lanes(few, () => now)
      prove('one', 'short')
      leaveBehind('one', 'late')
      for (const [, places] of begin('one')) for (const place of places) place.leave({ ...succeeded, durationMs: 501 })
      for (const target of ['short', 'a']) lanes.call('one', target)
      expect(turn()).toEqual([
        ['short', 1],
        ['late', 2],
        ['a', 1],
      ])
      expect(lanes.inFlight.slow).toBe(2)
      now += 51
      expect(turn()).toEqual([['late', 1]])
    })

    test('others have no turn of their own for 50 ms, but are taken along with one', () => {
      prove('one', 'short', 'other')
      lanes.call('one', 'short')
      expect([ready(), turn()]).toEqual([['one'], [['short', 1]]])
      expect([rests('one'), lanes.nextAt()]).toEqual([false, now + 50])

      for (const target of ['a', 'b']) lanes.call('one', target)
      expect([ready(), rests('one'), rests('two')]).toEqual([[], true, false])
      lanes.call('one', 'other')
      expect(lanes.readiness().get('one')).toEqual({ keepsUp: true, others: 'resting' })
      expect(turn()).toEqual([
        ['other', 1],
        ['a', 1],
        ['b', 1],
      ])

      lanes.call('one', 'c')
      now += 49
      expect([ready(), lanes.nextAt()]).toEqual([[], now + 1])
      now += 1
      expect([ready(), lanes.nextAt()]).toEqual([['one'], Number.POSITIVE_INFINITY])
      expect([rests('one'), turn()]).toEqual([false, [['c', 1]]])
    })

    test('those that are connected come first, and so many at once', () => {
      lanes = new Lanes({ ...few, atOnce: 2 }, () => now)
      prove('one', 'closes', 'a', 'b')
      lanes.call('one', 'closes')
      for (const held of lanes.take('one'))
        for (const place of lanes.claimed(held, 1, true)) place.leave({ ...succeeded, wasConnected: false })
      for (const target of ['a', 'b']) {
        lanes.call('one', target)
        for (const held of lanes.take('one')) for (const place of lanes.claimed(held, 1, true)) place.leave(succeeded)
      }
      for (const target of ['closes', 'a', 'b']) lanes.call('one', target)
      const ids = () => lanes.take('one', 'keep up').map(({ webhookId }) => webhookId)
      expect([ids(), ids()]).toEqual([['a', 'b'], ['closes']])
    })

    test('the end of their rest is told though it came after the readiness was read', () => {
      prove('one', 'short')
      lanes.call('one', 'short')
      turn()
      lanes.call('one', 'a')
      const ends = now + 50
      now = ends - 1
      expect(rests('one')).toBe(true)
      now = ends + 1
      expect(lanes.nextAt()).toBe(ends)
    })

    test('one that kept up a moment ago and has a queue now goes on', () => {
      prove('one', 'short', 'long')
      for (const target of ['short', 'long']) lanes.call('one', target)
      for (const held of lanes.take('one'))
        for (const place of lanes.claimed(held, held.slots, held.webhookId === 'short')) place.leave(succeeded)
      lanes.call('one', 'a')
      expect(ready()).toEqual(['one'])
      lanes = new Lanes(limits, () => now)
      prove('one', 'short')
      lanes.call('one', 'short')
      turn()
      lanes.call('one', 'a')
      expect(ready()).toEqual([])
    })

    test('one that has a queue from now on protects nobody', () => {
      lanes = new Lanes(few, () => now)
      leaveBehind('one', 'long')
      for (const target of ['a', 'b']) lanes.call('one', target)
      expect(ready()).toEqual(['one'])
      expect(counts(begin('one'))).toEqual([
        ['long', 4],
        ['a', 1],
        ['b', 1],
      ])
    })
  })

  test('ask a target whose one delivery was all that is due no second time', () => {
    lanes.call('one', 'a')
    const [held] = lanes.take('one')
    if (!held) throw new Error('nothing to take')
    for (const place of lanes.claimed(held, 1, true)) place.leave(succeeded)
    expect(ready()).toEqual([])
  })

  test('ask a target whose answer was cut off as one of which nothing is known', () => {
    prove('one', 'a')
    lanes.call('one', 'a')
    for (const [, places] of begin('one')) for (const place of places) place.leave(cutOff)
    expect(counts(begin('one'))).toEqual([['a', 1]])
    expect(lanes.inFlight).toEqual({ quick: 0, fresh: 1, slow: 0 })
  })

  test('ask those first who were not asked last', () => {
    prove('one', 'a', 'b', 'c')
    for (const target of ['a', 'b', 'c']) lanes.call('one', target)
    for (const [, places] of begin('one')) for (const place of places) place.leave(succeeded)
    expect(counts(begin('one'))).toEqual([
      ['c', 4],
      ['a', 2],
    ])
    lanes.call('two', 'd')
    expect(ready()).toEqual(['two', 'one'].filter((id) => ready().includes(id)))
  })

  test('give a quick place back once an attempt is slow, and bound the slow ones apart', () => {
    prove('one', 'healthy', 'a', 'b')
    for (const target of ['a', 'b']) lanes.call('one', target)
    for (const [, places] of begin('one')) for (const place of places) place.slow()
    expect(lanes.inFlight).toEqual({ quick: 0, fresh: 0, slow: 6 })
    lanes.call('one', 'healthy')
    expect(counts(begin('one')).find(([id]) => id === 'healthy')).toEqual(['healthy', 4])
  })

  test('ask a failing target one at a time and after a pause that grows to a second', () => {
    prove('one', 'a')
    lanes.call('one', 'a')
    const [[, places] = ['', []]] = begin('one')
    for (const place of places) place.leave(failed)
    expect(ready()).toEqual([])
    expect(lanes.nextAt()).toBe(now + 200)
    now += 200
    expect(counts(begin('one'))).toEqual([['a', 1]])
    expect(lanes.inFlight).toEqual({ quick: 0, fresh: 0, slow: 1 })
  })

  test('of a target with nothing due are quiet, unless somebody called during the claim', () => {
    lanes.call('one', 'a')
    const [first] = lanes.take('one')
    if (!first) throw new Error('nothing to take')
    lanes.call('one', 'a')
    lanes.claimed(first, 0)
    expect(ready()).toEqual(['one'])
    const [second] = lanes.take('one')
    if (!second) throw new Error('nothing to take')
    lanes.claimed(second, 0)
    expect(ready()).toEqual([])
  })

  test('wake by the clock for what becomes due, and hold nothing that is over', () => {
    lanes.call('one', 'a', now + 5000)
    expect([ready(), lanes.nextAt()]).toEqual([[], now + 5000])
    now += 5000
    expect(ready()).toEqual(['one'])
    for (const [, places] of begin('one')) for (const place of [...places, ...places]) place.leave(succeeded)
    expect(lanes.inFlight).toEqual({ quick: 0, fresh: 0, slow: 0 })
  })
})

describe('the ladder', () => {
  const ended = (more: Partial<Ended>): Ended => ({
    n: 1,
    cause: 'EVENT',
    succeeded: false,
    status: 500,
    retryAfterSeconds: undefined,
    ...more,
  })
  const ladder = readLadder('0,5,300,1800,7200,18000,36000,36000') ?? []

  test.each([
    ['5', [5, 5, 5, 5, 5, 5, 5, 5]],
    ['0,1', [0, 1, 1, 1, 1, 1, 1, 1]],
    ['', undefined],
    ['1,2,3,4,5,6,7,8,9', undefined],
    ['1,-2', undefined],
    ['99999999', undefined],
  ])('%j is read as %j', (text, rungs) => expect(readLadder(text)).toEqual(rungs))

  test('waits a tenth less or more than its rung', () => {
    expect(verdictOn(ended({}), ladder, 0)).toEqual({ status: 'FAILED', waitSeconds: 4.5 })
    expect(verdictOn(ended({ n: 7 }), ladder, 0.5)).toEqual({ status: 'FAILED', waitSeconds: 36_000 })
  })

  test.each([
    ['the eighth', { n: 8 }, 'DEAD_LETTER'],
    ['a replay', { cause: 'REPLAY' as const }, 'DEAD_LETTER'],
    ['a target that is gone', { status: 410 }, 'DEAD_LETTER'],
    ['a success, however late', { n: 11, succeeded: true, status: 200 }, 'SUCCEEDED'],
  ])('%s', (_, more, status) => expect(verdictOn(ended(more), ladder)).toEqual({ status }))

  test('an attempt that was interrupted is made again at once', () =>
    expect(verdictOn(ended({ status: null, interrupted: true }), ladder)).toEqual({ status: 'FAILED', waitSeconds: 0 }))

  test.each([
    [429, '120', 120],
    [503, 'Fri, 20 Nov 2026 12:02:00 GMT', 120],
    [503, 'Fri, 20 Nov 2026 11:00:00 GMT', 0],
    [429, '999999999', 86_400],
    [500, '120', undefined],
    [429, 'soon', undefined],
  ])('%s with Retry-After %s', (status, header, seconds) =>
    expect(retryAfterSeconds(status, header, Date.parse('2026-11-20T12:00:00Z'))).toBe(seconds),
  )
})
