/** The pure parts: which targets may be called next (lanes), and what becomes of a delivery (ladder). */
import { beforeEach, describe, expect, test } from 'vitest'
import { Lanes } from '../../src/core/areas/webhooks/dispatch/lanes.ts'
import type { PendingClaim, Place } from '../../src/core/areas/webhooks/dispatch/target.ts'
import { type Readiness, type Scope, type Turn, Workspace } from '../../src/core/areas/webhooks/dispatch/workspace.ts'
import { type Ended, retryAfterSeconds, verdictOn } from '../../src/core/areas/webhooks/ladder.ts'
import { readLadder } from '../../src/core/kernel/config/webhook-settings.ts'
import { claimed } from '../kit/dispatch.ts'

const limits = {
  quick: { daemon: 10, workspace: 6, target: 4 },
  fresh: { daemon: 5, workspace: 3, target: 1 },
  slow: { daemon: 8, workspace: 4, target: 3 },
  atOnce: 100,
  backgroundLimit: { behind: 100, doubtful: 100 },
}
let now = 0
let readAt = 0
let lanes: Lanes
let workspaces: Map<string, Workspace>
/** A daemon that knows nothing yet. */
const startAfresh = (own: Lanes['limits'] = limits) => {
  lanes = new Lanes(own, () => now)
  workspaces = new Map()
}
beforeEach(() => {
  now = 1000
  startAfresh()
})

const workspace = (id: string): Workspace => {
  const one = workspaces.get(id) ?? new Workspace(id, lanes)
  workspaces.set(id, one)
  return one
}
const call = (tenantId: string, ...targets: string[]) => {
  for (const target of targets) workspace(tenantId).call(target)
}
/** Opens a turn in which something can start. */
const open = (tenantId: string, scope: Scope = 'all'): Turn => {
  const turn = workspace(tenantId).open(scope)
  if (!turn) throw new Error('nothing can start')
  return turn
}
const idsOf = ({ claims }: Turn) => claims.map(({ webhookId }) => webhookId)
const all = ({ slots }: PendingClaim) => slots
const one = () => 1
/** Commits a turn that started so many attempts at each target, of which some have nothing more due then. Answers each target's places. */
const commit = (
  tenantId: string,
  turn: Turn,
  started: (claim: PendingClaim) => number = all,
  isDrained: (claim: PendingClaim) => boolean = () => false,
): [string, Place[]][] => {
  const places = Map.groupBy(
    workspace(tenantId).commit(turn, claimed(turn, started, isDrained)),
    ({ begun }) => begun.webhookId,
  )
  return idsOf(turn).map((id) => [id, (places.get(id) ?? []).map(({ place }) => place)])
}
/** Starts all that can start in a workspace, as if so much were due. */
const begin = (tenantId: string): [string, Place[]][] => {
  const turn = workspace(tenantId).open('all')
  return turn ? commit(tenantId, turn) : []
}
const leave = (begun: readonly [string, readonly Place[]][], end = succeeded) => {
  for (const [, places] of begun) for (const place of places) place.leave(end)
}
const readiness = (): Map<string, Readiness> => {
  readAt = now
  return new Map([...workspaces].map(([id, each]) => [id, each.readiness()]))
}
/** Workspaces in which something can start now. */
const ready = () =>
  [...readiness()].filter(([, { healthy, others }]) => healthy || others === 'ready').map(([id]) => id)
const rests = (tenantId: string) => readiness().get(tenantId)?.others === 'resting'
const nextAt = () => Math.min(...[...workspaces.values()].map((each) => each.nextAt(readAt)))
const inFlight = () => ({
  quick: lanes.places.in('quick'),
  fresh: lanes.places.in('fresh'),
  slow: lanes.places.in('slow'),
})
const counts = (begun: readonly [string, readonly Place[]][]) => begun.map(([id, places]) => [id, places.length])
/** Lets targets show that they answer, with so much due at once that every place is filled; nothing more is due to them then. */
const prove = (tenantId: string, ...targets: string[]) => {
  for (const target of targets) {
    call(tenantId, target)
    for (const isLast of [false, false, true])
      leave(commit(tenantId, open(tenantId), all, ({ webhookId }) => isLast && webhookId === target))
  }
}
/** Lets a target show that more is due to it than it is asked for. */
const leaveBehind = (tenantId: string, target: string) => {
  prove(tenantId, target)
  call(tenantId, target)
  leave(begin(tenantId))
}
const failed = { failed: true, isWhole: true, wasConnected: true, durationMs: 5 }
const succeeded = { failed: false, isWhole: true, wasConnected: true, durationMs: 5 }
const cutOff = { failed: false, isWhole: false, wasConnected: false, durationMs: 5 }

describe('lanes', () => {
  test('bound a target, a workspace and the daemon', () => {
    prove('one', 'a', 'b', 'c')
    prove('two', 'd', 'e')
    call('one', 'a', 'b', 'c')
    expect(counts(begin('one'))).toEqual([
      ['a', 4],
      ['b', 2],
    ])
    call('two', 'd', 'e')
    expect(counts(begin('two'))).toEqual([['d', 4]])
    expect(ready()).toEqual([])
  })

  test('ask a target of which nothing is known once, and few of them at a time', () => {
    call('one', 'a', 'b', 'c', 'd')
    expect(counts(begin('one'))).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 1],
    ])
    expect(ready()).toEqual([])
  })

  test('ask for one at first, for twice as many while all are filled, and for as many as there were after that', () => {
    const asked = (begun: (slots: number) => number) => {
      const turn = open('one')
      leave(commit('one', turn, ({ slots }) => begun(slots)))
      call('one', 'a')
      return turn.claims[0]?.slots
    }
    call('one', 'a')
    const full = (slots: number) => slots
    expect([asked(full), asked(full), asked(full), asked(full)]).toEqual([1, 2, 4, 4])
    expect([asked(() => 2), asked(() => 0), asked(full), asked(() => 0)]).toEqual([4, 2, 1, 2])
  })

  test.each([
    [0, ['short', 'long']],
    [1_001, ['long', 'short']],
  ])('ask healthy targets before those with a queue, but for a second at most: %i ms', (ms, order) => {
    leaveBehind('one', 'long')
    prove('one', 'short')
    call('one', 'short')
    now += ms
    expect(idsOf(open('one'))).toEqual(order)
  })

  describe('beside healthy targets', () => {
    const few = {
      ...limits,
      fresh: { daemon: 10, workspace: 10, target: 1 },
      backgroundLimit: { behind: 2, doubtful: 1 },
    }
    /** A turn in which nothing more is due to healthy targets. */
    const turn = () => {
      const isHealthy = ({ isHealthy }: PendingClaim) => isHealthy
      return counts(commit('one', open('one'), (claim) => (claim.isHealthy ? 1 : claim.slots), isHealthy))
    }

    test('start few attempts at others, and as many as there is room for a second later', () => {
      startAfresh(few)
      prove('one', 'short')
      leaveBehind('one', 'long')
      now += 1_000
      call('one', 'short', 'a', 'b', 'c', 'd', 'e')
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
      startAfresh(few)
      prove('one', 'short')
      leaveBehind('one', 'long')
      now += 1_000
      call('one', 'short', 'a', 'b')
      expect(readiness().get('one')).toEqual({ healthy: true, others: 'ready' })
      const fast = open('one', 'healthy')
      expect(idsOf(fast)).toEqual(['short'])
      call('one', 'short')
      expect(readiness().get('one')).toEqual({ healthy: false, others: 'ready' })
      const slow = open('one', 'others')
      expect(idsOf(slow)).toEqual(['long', 'a'])
      // Neither is asked again, though the first turn for others is over.
      commit('one', slow, one, () => true)
      const next = open('one')
      expect(idsOf(next)).toEqual(['b'])
      commit('one', next)
      // It was called while it was asked.
      commit('one', fast, one, () => true)
      expect(idsOf(open('one'))).toEqual(['short'])
    })

    test('one that was healthy within a second, and has two due, is not counted', () => {
      startAfresh({
        ...few,
        quick: { daemon: 99, workspace: 99, target: 4 },
        backgroundLimit: { behind: 1, doubtful: 1 },
      })
      prove('one', 'a', 'b', 'c', 'short')
      call('one', 'a', 'b', 'c', 'short')
      leave(commit('one', open('one'), all, ({ webhookId }) => webhookId === 'short'))
      call('one', 'short')
      now += 999
      expect(idsOf(open('one', 'others'))).toEqual(['a', 'b', 'c'])
    })

    test('a target that answers well, but slowly, is not taken for a bad one', () => {
      startAfresh(few)
      prove('one', 'short')
      leaveBehind('one', 'late')
      leave(begin('one'), { ...succeeded, durationMs: 501 })
      call('one', 'short', 'a')
      expect(turn()).toEqual([
        ['short', 1],
        ['late', 2],
        ['a', 1],
      ])
      expect(inFlight().slow).toBe(2)
      now += 51
      expect(turn()).toEqual([['late', 1]])
    })

    test('others have no turn of their own for 50 ms, but are taken along with one', () => {
      prove('one', 'short', 'other')
      now += 4 // it gathers after turns that filled every place
      call('one', 'short')
      expect([ready(), turn()]).toEqual([['one'], [['short', 1]]])
      expect([rests('one'), nextAt()]).toEqual([false, now + 50])

      call('one', 'a', 'b')
      expect([ready(), rests('one'), rests('two')]).toEqual([[], true, false])
      call('one', 'other')
      expect(readiness().get('one')).toEqual({ healthy: true, others: 'resting' })
      expect(turn()).toEqual([
        ['other', 1],
        ['a', 1],
        ['b', 1],
      ])

      call('one', 'c')
      now += 49
      expect([ready(), nextAt()]).toEqual([[], now + 1])
      now += 1
      expect([ready(), nextAt()]).toEqual([['one'], Number.POSITIVE_INFINITY])
      expect([rests('one'), turn()]).toEqual([false, [['c', 1]]])
    })

    test('those that are connected come first, and so many at once', () => {
      startAfresh({ ...few, atOnce: 2 })
      prove('one', 'closes', 'a', 'b')
      for (const [target, wasConnected] of [
        ['closes', false],
        ['a', true],
        ['b', true],
      ] as const) {
        call('one', target)
        leave(
          commit('one', open('one'), one, () => true),
          { ...succeeded, wasConnected },
        )
      }
      call('one', 'closes', 'a', 'b')
      const first = open('one', 'healthy')
      expect(idsOf(first)).toEqual(['a', 'b'])
      commit('one', first, one, () => true)
      expect(idsOf(open('one', 'healthy'))).toEqual(['closes'])
    })

    test('the end of their rest is told though it came after the readiness was read', () => {
      prove('one', 'short')
      call('one', 'short')
      turn()
      call('one', 'a')
      const ends = now + 50
      now = ends - 1
      expect(rests('one')).toBe(true)
      now = ends + 1
      expect(nextAt()).toBe(ends)
    })

    test('one that was healthy a moment ago and has a queue now goes on', () => {
      prove('one', 'short', 'long')
      call('one', 'short', 'long')
      leave(commit('one', open('one'), all, ({ webhookId }) => webhookId === 'short'))
      call('one', 'a')
      expect(ready()).toEqual(['one'])
      startAfresh()
      prove('one', 'short')
      call('one', 'short')
      turn()
      call('one', 'a')
      expect(ready()).toEqual([])
    })

    test('one that has a queue from now on protects nobody', () => {
      startAfresh(few)
      leaveBehind('one', 'long')
      call('one', 'a', 'b')
      expect(ready()).toEqual(['one'])
      expect(counts(begin('one'))).toEqual([
        ['long', 4],
        ['a', 1],
        ['b', 1],
      ])
    })
  })

  test('ask a target whose one delivery was all that is due no second time', () => {
    call('one', 'a')
    leave(commit('one', open('one'), one, () => true))
    expect(ready()).toEqual([])
  })

  test('ask a target whose answer was cut off as one of which nothing is known', () => {
    prove('one', 'a')
    call('one', 'a')
    leave(begin('one'), cutOff)
    expect(counts(begin('one'))).toEqual([['a', 1]])
    expect(inFlight()).toEqual({ quick: 0, fresh: 1, slow: 0 })
  })

  test('ask those first who were not asked last', () => {
    prove('one', 'a', 'b', 'c')
    call('one', 'a', 'b', 'c')
    leave(begin('one'))
    expect(counts(begin('one'))).toEqual([
      ['c', 4],
      ['a', 2],
    ])
    call('two', 'd')
    expect(ready()).toEqual(['two'])
  })

  test('give a quick place back once an attempt is slow, and bound the slow ones apart', () => {
    prove('one', 'healthy', 'a', 'b')
    call('one', 'a', 'b')
    for (const [, places] of begin('one')) for (const place of places) place.becomeSlow()
    expect(inFlight()).toEqual({ quick: 0, fresh: 0, slow: 6 })
    call('one', 'healthy')
    expect(counts(begin('one')).find(([id]) => id === 'healthy')).toEqual(['healthy', 4])
  })

  test('ask a failing target one at a time and after a pause that grows to a second', () => {
    prove('one', 'a')
    call('one', 'a')
    leave(begin('one'), failed)
    now += 4
    expect(ready()).toEqual([])
    expect(nextAt()).toBe(now + 196)
    now += 196
    expect(counts(begin('one'))).toEqual([['a', 1]])
    expect(inFlight()).toEqual({ quick: 0, fresh: 0, slow: 1 })
  })

  test('of a target with nothing due are quiet, unless somebody called during the claim', () => {
    call('one', 'a')
    const first = open('one')
    call('one', 'a')
    commit('one', first, () => 0)
    expect(ready()).toEqual(['one'])
    commit('one', open('one'), () => 0)
    expect(ready()).toEqual([])
  })

  test('wake by the clock for what becomes due, and hold nothing that is over', () => {
    workspace('one').call('a', now + 5000)
    expect([ready(), nextAt()]).toEqual([[], now + 5000])
    now += 5000
    expect(ready()).toEqual(['one'])
    const begun = begin('one')
    leave(begun)
    leave(begun)
    expect(inFlight()).toEqual({ quick: 0, fresh: 0, slow: 0 })
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
