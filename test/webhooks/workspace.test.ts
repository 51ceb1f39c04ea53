/** A workspace's state machine, and a target's: every transition, every event that a mode forbids, and when turns are due. */
import { beforeEach, describe, expect, test } from 'vitest'
import { Lanes, Places, productLimits } from '../../src/core/areas/webhooks/dispatch/lanes.ts'
import { type Demand, type Place, Target } from '../../src/core/areas/webhooks/dispatch/target.ts'
import { ForbiddenTransition } from '../../src/core/areas/webhooks/dispatch/transitions.ts'
import { type Mode, type Scope, type Turn, Workspace } from '../../src/core/areas/webhooks/dispatch/workspace.ts'
import { claimed, resultOf } from '../kit/dispatch.ts'

const healthyTargets = 12
const retrySeconds = 5
/** One attempt a turn, so that several turns find something to claim. */
const limits = { ...productLimits, atOnce: 1 }

let now = 0
let lanes: Lanes
let workspace: Workspace
/** Attempts under way, at healthy targets. */
let underWay: { readonly webhookId: string; readonly place: Place }[]

/** Twelve healthy targets with an attempt under way at each, and with more due at each; nothing rests, gathers or waits. */
beforeEach(() => {
  now = 10_000
  lanes = new Lanes(limits, () => now)
  workspace = new Workspace('tenant', lanes)
  const ids = Array.from({ length: healthyTargets }, (_, n) => `healthy-${n}`)
  for (const id of ids) {
    workspace.call(id)
    for (const { place, begun } of commit(open('all'))) workspace.ended(place, resultOf(begun.webhookId))
  }
  commit(open('all'))
  underWay = []
  for (const id of ids) {
    workspace.call(id)
    underWay.push(...commit(open('healthy')).map(({ begun: { webhookId }, place }) => ({ webhookId, place })))
  }
  for (const id of ids) workspace.call(id)
  now += 1_000
})

const open = (scope: Scope): Turn => {
  const turn = workspace.open(scope)
  if (!turn) throw new Error('nothing to do')
  return turn
}
/** Commits a turn in which nothing more is due to anybody. */
const commit = (turn: Turn) =>
  workspace.commit(
    turn,
    claimed(turn, undefined, () => true),
  )
const keep = (turn: Turn) => workspace.rollBack(turn, { results: 'kept' })
const drop = (turn: Turn) => workspace.rollBack(turn, { results: 'dropped' })
/** An attempt ends, so that a result waits. */
const end = (verdict?: Parameters<typeof resultOf>[1]) => {
  const { webhookId, place } = underWay.shift() as (typeof underWay)[number]
  workspace.ended(place, resultOf(webhookId, verdict))
}
const due = (free = 3) => workspace.turnsDue(free)

type Event = 'openFast' | 'closeFast' | 'openSlow' | 'closeSlow' | 'failRecording'

/** What the header of workspace.ts says. */
const table: Record<Mode, Partial<Record<Event, Mode>>> = {
  idle: { openFast: 'fast', openSlow: 'slow' },
  fast: { closeFast: 'idle', openSlow: 'both' },
  slow: { openFast: 'both', closeSlow: 'idle', failRecording: 'blocked' },
  both: { closeFast: 'slow', closeSlow: 'fast', failRecording: 'blocking' },
  blocking: { closeFast: 'blocked' },
  blocked: { openSlow: 'retrying' },
  retrying: { closeSlow: 'idle', failRecording: 'blocked' },
}
const paths: Record<Mode, readonly Event[]> = {
  idle: [],
  fast: ['openFast'],
  slow: ['openSlow'],
  both: ['openFast', 'openSlow'],
  blocking: ['openFast', 'openSlow', 'failRecording'],
  blocked: ['openSlow', 'failRecording'],
  retrying: ['openSlow', 'failRecording', 'openSlow'],
}
const events: readonly Event[] = ['openFast', 'closeFast', 'openSlow', 'closeSlow', 'failRecording']

/** Lets events happen, each by the call that brings it about. A turn that is not open is made up. */
function happening(): (event: Event) => void {
  let fast: Turn = { kind: 'fast', results: [], claims: [] }
  let slow: Turn = { kind: 'slow', results: [resultOf('healthy-0')], claims: [] }
  return (event) => {
    if (event === 'openFast') fast = open('healthy')
    else if (event === 'openSlow') {
      end()
      slow = open('others')
    } else if (event === 'closeFast') commit(fast)
    else if (event === 'closeSlow') commit(slow)
    else keep(slow)
  }
}

describe('the mode', () => {
  const modes = Object.keys(table) as Mode[]
  const allowed = modes.flatMap((mode) =>
    events.flatMap((event) => (table[mode][event] ? [[mode, event, table[mode][event]] as const] : [])),
  )
  const forbidden = modes.flatMap((mode) =>
    events.flatMap((event) => (table[mode][event] ? [] : [[mode, event] as const])),
  )

  test.each(allowed)('%s: %s leads to %s', (mode, event, next) => {
    const happens = happening()
    for (const step of paths[mode]) happens(step)
    expect(workspace.mode).toBe(mode)
    happens(event)
    expect(workspace.mode).toBe(next)
  })

  test.each(forbidden)('%s: %s is refused, and changes nothing', (mode, event) => {
    const happens = happening()
    for (const step of paths[mode]) happens(step)
    const held = lanes.places.total
    const ready = workspace.readiness()
    const ending = event === 'openSlow' ? 1 : 0
    expect(() => happens(event)).toThrow(ForbiddenTransition)
    expect([workspace.mode, lanes.places.total, workspace.readiness()]).toEqual([mode, held - ending, ready])
  })

  test('a fast turn that is rolled back closes, whatever becomes of results', () => {
    for (const rollBack of [keep, drop]) {
      rollBack(open('healthy'))
      expect(workspace.mode).toBe('idle')
    }
  })

  test('a slow turn that is rolled back without results closes: recording did not fail', () => {
    workspace.call('fresh')
    keep(open('others'))
    expect(workspace.mode).toBe('idle')
  })

  test('a turn with nothing to do does not open', () => {
    expect([workspace.open('others'), workspace.mode]).toEqual([undefined, 'idle'])
  })
})

describe('the turns that are due', () => {
  test('healthy targets have the fast turn, one at a time', () => {
    expect(due()).toEqual(['healthy'])
    open('healthy')
    expect(due()).toEqual([])
  })

  test('the slow turn waits for the fast one, 50 ms at most, and opens beside it then', () => {
    end()
    expect(due()).toEqual(['healthy'])
    open('healthy')
    now += 49
    expect(due()).toEqual([])
    now += 1
    expect(due()).toEqual(['others'])
    open('others')
    expect([workspace.mode, due()]).toEqual(['both', []])
  })

  test('where only one turn is left, it does the work of both', () => {
    end()
    due()
    now += 50
    expect([due(2), workspace.mode]).toEqual([['healthy', 'others'], 'idle'])
    now += 50
    expect(due()).toEqual(['healthy'])
    now += 50
    expect(due(1)).toEqual(['all'])
  })

  test('results alone have the slow turn at once', () => {
    workspace = new Workspace('tenant', lanes)
    workspace.call('one')
    for (const { place } of commit(open('others'))) workspace.ended(place, resultOf('one'))
    expect(due()).toEqual(['others'])
  })

  test('other targets rest for 50 ms after a healthy one was served', () => {
    workspace.call('fresh')
    for (let n = 0; n < healthyTargets; n += 1) commit(open('healthy'))
    expect(due()).toEqual([])
    expect(workspace.nextAt(now)).toBe(now + 50)
    now += 50
    expect(due()).toEqual(['others'])
  })

  test('slow turns open 50 ms apart while healthy targets are served, and one after the other from 200 ms on', () => {
    workspace.call('one')
    workspace.call('two')
    for (let n = 0; n < healthyTargets; n += 1) commit(open('healthy'))
    now += 50
    expect(due()).toEqual(['others'])
    for (const { place } of commit(open('others'))) workspace.ended(place, resultOf('one'))
    expect(due()).toEqual([])
    expect(workspace.nextAt(now)).toBe(now + 50)
    now += 50
    expect(due()).toEqual(['others'])
    now += 100
    commit(open('others'))
    workspace.call('three')
    expect(due()).toEqual(['others'])
  })

  test('a wait that came to nothing does not count for the next', () => {
    end()
    expect(due()).toEqual(['healthy'])
    commit(open('others'))
    now += 60
    expect(due()).toEqual(['healthy'])
    end()
    expect(due()).toEqual(['healthy'])
  })

  test('after recording failed one turn records and claims for all', () => {
    end()
    keep(open('others'))
    expect([workspace.mode, due()]).toEqual(['blocked', ['all']])
    const again = open('all')
    expect([again.results.length, again.claims.length]).toEqual([1, 1])
    expect(due()).toEqual([])
    commit(again)
    expect([workspace.mode, due()]).toEqual(['idle', ['healthy']])
  })

  test('after recording failed beside a fast turn the next waits for its end, and its failure changes nothing', () => {
    const fast = open('healthy')
    end()
    keep(open('others'))
    expect([workspace.mode, due()]).toEqual(['blocking', []])
    keep(fast)
    expect([workspace.mode, due()]).toEqual(['blocked', ['all']])
  })

  test('where more than 500 results wait, nothing starts but in the turn that records', () => {
    const { place, webhookId } = underWay[0] as (typeof underWay)[number]
    for (let n = 0; n < 501; n += 1) workspace.ended(place, resultOf(webhookId))
    expect(due()).toEqual(['all'])
    expect(open('all').results).toHaveLength(500)
    expect(due()).toEqual(['healthy'])
  })

  test('a turn that filled every place is followed by the next once two thirds have ended, or after 4 ms', () => {
    const others = ['a', 'b', 'c', 'd', 'e', 'f']
    workspace = new Workspace('tenant', lanes)
    for (const id of others) workspace.call(id)
    const turn = open('others')
    underWay = workspace.commit(turn, claimed(turn)).map(({ begun: { webhookId }, place }) => ({ webhookId, place }))
    expect(underWay).toHaveLength(6)
    for (let n = 0; n < 3; n += 1) end()
    expect(due()).toEqual([])
    expect(workspace.nextAt(now)).toBe(now + 4)
    end()
    expect(due()).toEqual(['others'])
    now += 4
    expect(due()).toEqual(['others'])
  })
})

describe('a turn', () => {
  test('that is rolled back leaves its results first in line, and its targets due', () => {
    for (const status of ['SUCCEEDED', 'DEAD_LETTER'] as const) end({ status })
    const turn = open('all')
    end()
    keep(turn)
    const next = open('all')
    expect(next.results.map(({ verdict }) => verdict.status)).toEqual(['SUCCEEDED', 'DEAD_LETTER', 'SUCCEEDED'])
    expect(next.claims).toHaveLength(1)
  })

  test('behind a closed gate drops its results, and asks for nothing again', () => {
    workspace = new Workspace('tenant', lanes)
    for (const id of ['a', 'b']) workspace.call(id)
    for (const { begun, place } of commit(open('others'))) workspace.ended(place, resultOf(begun.webhookId))
    workspace.call('b')
    const turn = open('all')
    expect([turn.results.length, turn.claims.length]).toEqual([2, 1])
    drop(turn)
    expect([workspace.mode, workspace.isSettled, due()]).toEqual(['idle', true, []])
  })

  test('of a workspace that is not served leaves nothing due', () => {
    const turn = open('healthy')
    workspace.commit(turn, { ...claimed(turn), isServed: false })
    expect(workspace.readiness()).toEqual({ healthy: false, others: 'none' })
  })

  test('remembers when a failed delivery is due again', () => {
    end({ status: 'FAILED', waitSeconds: retrySeconds })
    const at = now + retrySeconds * 1_000
    while (workspace.readiness().healthy) commit(open('all'))
    now += 1_000
    for (const { place } of commit(open('others'))) workspace.ended(place, resultOf('healthy-0'))
    expect([workspace.readiness().healthy, workspace.nextAt(now)]).toEqual([false, at])
    now = at
    expect(workspace.readiness().healthy).toBe(true)
  })
})

describe('a workspace', () => {
  test('is settled when no turn is open, no attempt is under way and no result waits', () => {
    const settled = [workspace.isSettled]
    while (underWay.length > 1) end()
    settled.push(workspace.isSettled)
    const last = underWay.shift()
    workspace.ended(last?.place as Place, undefined) // nothing is known of how it ended
    settled.push(workspace.isSettled)
    const turn = open('others')
    settled.push(workspace.isSettled)
    commit(turn)
    expect([...settled, workspace.isSettled]).toEqual([false, false, false, false, true])
  })

  test('is forgotten with its targets when nothing has happened for ten minutes', () => {
    workspace = new Workspace('tenant', lanes)
    workspace.call('one')
    const forgotten: boolean[] = []
    const later = (by: number) => {
      now += by
      forgotten.push(workspace.forget())
    }
    later(10 * 60_000 + 1) // something is due
    const [started] = commit(open('others'))
    later(10 * 60_000 + 1) // an attempt is under way
    workspace.ended(started?.place as Place, resultOf('one'))
    later(10 * 60_000 + 1) // a result waits
    commit(open('others'))
    workspace.call('two', now + 3_600_000)
    later(10 * 60_000 + 1) // something will be due
    expect(forgotten).toEqual([false, false, false, false])
    workspace = new Workspace('tenant', lanes)
    workspace.call('one')
    const [again] = commit(open('others'))
    workspace.ended(again?.place as Place, resultOf('one'))
    commit(open('others'))
    later(10 * 60_000)
    later(1)
    expect(forgotten.slice(4)).toEqual([false, true])
  })

  test('that is given up leaves the places of the daemon, and so do its attempts later', () => {
    expect(lanes.places.total).toBe(healthyTargets)
    workspace.discard()
    expect(lanes.places.total).toBe(0)
    end()
    expect(lanes.places.total).toBe(0)
    open('healthy')
    expect(lanes.places.total).toBe(0)
  })

  test('starts nothing in a daemon that closes', () => {
    lanes.close()
    expect([due(), workspace.open('all')]).toEqual([[], undefined])
    end()
    expect([due(), open('others').claims]).toEqual([['others'], []])
  })
})

describe("a target's demand", () => {
  type DemandEvent = 'call' | 'park' | 'claim' | 'more' | 'done'
  const demands: Record<Demand, Partial<Record<DemandEvent, Demand>>> = {
    quiet: { call: 'due', park: 'quiet' },
    due: { call: 'due', park: 'quiet', claim: 'claiming' },
    claiming: { call: 'called', park: 'claiming', more: 'due', done: 'quiet' },
    called: { call: 'called', park: 'claiming', more: 'due', done: 'due' },
  }
  const ways: Record<Demand, readonly DemandEvent[]> = {
    quiet: [],
    due: ['call'],
    claiming: ['call', 'claim'],
    called: ['call', 'claim', 'call'],
  }
  const steps = (Object.keys(demands) as Demand[]).flatMap((demand) =>
    (['call', 'park', 'claim', 'more', 'done'] as const).map(
      (event) => [demand, event, demands[demand][event] ?? 'refused'] as const,
    ),
  )

  test.each(steps)('%s: %s is %s', (demand, event, next) => {
    const target = new Target('webhook', lanes, new Places())
    const made = { webhookId: 'webhook', slots: 1, hasExpired: false, target, lane: 'fresh', isHealthy: false } as const
    const happens = (one: DemandEvent) => {
      if (one === 'call') target.call()
      else if (one === 'park') target.park()
      else if (one === 'claim') target.claim(1)
      else target.endClaim(made, one === 'more' ? 1 : 0)
    }
    for (const step of ways[demand]) happens(step)
    expect(target.demand).toBe(demand)
    if (next === 'refused') expect(() => happens(event)).toThrow(ForbiddenTransition)
    else happens(event)
    expect(target.demand).toBe(next === 'refused' ? demand : next)
  })
})
