/** In which order waiting hashes are made, and which one is refused when too many wait. */
import { describe, expect, test } from 'vitest'
import { type Lane, openLane } from '../../src/core/areas/auth/password/hashing-lane.ts'

/** A lane whose work ends when the test says so; what was begun is named in order. */
function watched(lane: Lane) {
  const begun: string[] = []
  const refused: string[] = []
  const ends: (() => void)[] = []
  return {
    begun,
    refused,
    ask(name: string, source: string, workspace = 'w') {
      const work = () =>
        new Promise<void>((resolve) => {
          begun.push(name)
          ends.push(resolve)
        })
      lane.run({ isSignedIn: false, source, workspace }, work).catch(() => refused.push(name))
    },
    /** Ends the work under way until nothing waits. */
    async drain() {
      for (let rounds = 0; rounds < 400; rounds += 1) {
        await new Promise(setImmediate)
        ends.shift()?.()
      }
      return begun
    },
  }
}
const lane = (mostWaiting = 128, mostOfOne = 32, width = 1) => openLane({ width, mostWaiting, mostOfOne })
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`)

describe('the order', () => {
  test('is that of arrival among sources that ask for one each', async () => {
    const own = watched(lane())
    for (const name of names('s', 5)) own.ask(name, name, name)
    expect(await own.drain()).toEqual(names('s', 5))
  })

  test('puts a source that asks for one before the rest of a source that asks for many', async () => {
    const own = watched(lane())
    for (const name of names('flood', 20)) own.ask(name, 'flood')
    own.ask('neighbour', 'elsewhere')
    expect((await own.drain()).indexOf('neighbour')).toBeLessThanOrEqual(3)
  })

  test('the same where the many name a workspace each', async () => {
    const own = watched(lane())
    for (const name of names('flood', 20)) own.ask(name, 'flood', name)
    own.ask('neighbour', 'elsewhere', 'flood3')
    expect((await own.drain()).indexOf('neighbour')).toBeLessThanOrEqual(2)
  })

  test('puts a workspace that is quiet before one that many sources flood', async () => {
    const own = watched(lane())
    for (const name of names('bot', 50)) own.ask(name, name, 'flooded')
    own.ask('neighbour', 'elsewhere', 'quiet')
    expect((await own.drain()).indexOf('neighbour')).toBeLessThanOrEqual(2)
  })

  test('brings everybody the turn at last: no place moves back', async () => {
    const own = watched(lane())
    own.ask('first', 'flood')
    own.ask('last of the flood', 'flood')
    for (const name of names('s', 40)) {
      own.ask(name, name, name)
      await new Promise(setImmediate)
    }
    const begun = await own.drain()
    expect(begun.indexOf('last of the flood')).toBeLessThanOrEqual(41)
    expect(new Set(begun).size).toBe(42)
  })
})

describe('the bounds', () => {
  test('no more than the width is made at a time', async () => {
    const own = watched(lane(128, 32, 2))
    for (const name of names('s', 5)) own.ask(name, name)
    await new Promise(setImmediate)
    expect(own.begun).toEqual(['s0', 's1'])
    await own.drain()
  })

  test('a source that has too many is refused the next, others are not', async () => {
    const own = watched(lane(128, 4))
    for (const name of names('flood', 6)) own.ask(name, 'flood')
    own.ask('neighbour', 'elsewhere')
    await own.drain()
    expect(own.refused).toEqual(['flood4', 'flood5'])
    expect(own.begun).toContain('neighbour')
  })

  test('when too many wait, the last in the order is refused and not whoever comes', async () => {
    const own = watched(lane(8, 32))
    for (const name of names('flood', 9)) own.ask(name, 'flood')
    own.ask('neighbour', 'elsewhere')
    own.ask('one more', 'flood')
    await own.drain()
    expect(own.refused).toEqual(['flood8', 'one more'])
    expect(own.begun).toContain('neighbour')
  })

  test('work that fails makes room for the next', async () => {
    const own = lane()
    const work = [
      own.run({ isSignedIn: false, source: 'a', workspace: 'w' }, () => Promise.reject(new Error('no'))),
      own.run({ isSignedIn: false, source: 'b', workspace: 'w' }, async () => 'done'),
    ]
    expect(await Promise.allSettled(work)).toMatchObject([{ status: 'rejected' }, { value: 'done' }])
  })
})
