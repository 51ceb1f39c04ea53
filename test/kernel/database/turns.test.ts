/** Who waits for a connection takes turns with others, whatever one of them asks for. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openPool, type Pool, type PoolOptions } from '../../../src/core/kernel/database/pool.ts'
import { type TestDatabase, testDatabase } from '../../kit/database.ts'

let db: TestDatabase
let pool: Pool
beforeAll(async () => {
  db = await testDatabase()
})
afterEach(() => pool.close(0))
afterAll(() => db.drop())

const opened = (options: Partial<PoolOptions>): Pool =>
  openPool(db.daemon, { size: 6, applicationName: 'turns', acquireMs: 60_000, ...options })

interface Held {
  /** Resolves once it holds a connection; rejects when it was refused one. */
  readonly begun: Promise<void>
  /** Gives the connection back. */
  end(): Promise<void>
}

/** A transaction that holds its connection until it is told to end. */
function hold(lane: string, answersCaller = false): Held {
  const begun = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const run = pool.transaction(
    '',
    async (tx) => {
      await tx`select 1`
      begun.resolve()
      await over.promise
    },
    { lane, answersCaller },
  )
  run.catch(begun.reject)
  begun.promise.catch(() => {})
  return {
    begun: begun.promise,
    async end() {
      over.resolve()
      await run
    },
  }
}

const many = (count: number, lane: string) => Array.from({ length: count }, () => hold(lane))
const allBegun = (held: readonly Held[]) => Promise.all(held.map(({ begun }) => begun))
const refused = (held: readonly Held[]) =>
  Promise.all(
    held.map(({ begun }) =>
      Promise.race([
        begun.then(
          () => 'begun',
          () => 'refused',
        ),
        pause(20, 'waits'),
      ]),
    ),
  )
const waiting = async (count: number) => expect.poll(() => pool.counts.waiting).toBe(count)

test('alone, one lane holds every connection', async () => {
  pool = opened({})
  const all = many(6, 'flood')
  await allBegun(all)
  expect(pool.counts).toMatchObject({ used: 6, waiting: 0, waitingLanes: 0 })
  await Promise.all(all.map(({ end }) => end()))
})

test('lanes take turns, and one that holds its third is passed over while another waits', async () => {
  pool = opened({})
  const flood = many(6, 'flood')
  await allBegun(flood)
  const more = many(5, 'flood')
  await waiting(5)
  const order: string[] = []
  const note = (name: string) => (held: Held) => void held.begun.then(() => order.push(name))
  more.forEach(note('flood'))
  const a = many(2, 'a')
  a.forEach(note('a'))
  const b = many(2, 'b')
  b.forEach(note('b'))
  await waiting(9)
  expect(pool.counts.waitingLanes).toBe(3)
  for (let n = 0; n < 6; n += 1) {
    await flood[n]!.end()
    await expect.poll(() => order.length).toBe(n + 1)
  }
  // The first four find the flood at its third or beyond; then it holds less, and comes again.
  expect(order).toEqual(['a', 'b', 'a', 'b', 'flood', 'flood'])
  const served = [...a, ...b, ...more]
  for (const { begun, end } of served) {
    await begun
    await end()
  }
})

test('where only such lanes wait, no connection is idle', async () => {
  pool = opened({ size: 3 })
  const [first, ...rest] = many(3, 'flood')
  await allBegun([first!, ...rest])
  const next = hold('flood')
  await waiting(1)
  await first!.end()
  await next.begun
  await Promise.all([...rest, next].map(({ end }) => end()))
})

test('a flood is refused what exceeds its own lane, and nobody else is', async () => {
  pool = opened({ size: 1, maxWaiting: 3 })
  const holder = hold('flood')
  await holder.begun
  const flood = many(5, 'flood')
  const other = many(3, 'other')
  expect(await refused([...flood, ...other])).toEqual([
    ...['waits', 'waits', 'waits', 'refused', 'refused'],
    ...['waits', 'waits', 'waits'],
  ])
  await holder.end()
  for (const one of [flood[0]!, other[0]!, flood[1]!, other[1]!, flood[2]!, other[2]!]) {
    await one.begun
    await one.end()
  }
})

test('where many lanes fill the house, the newest of the longest leaves for a newcomer of a shorter one', async () => {
  pool = opened({ size: 1, maxWaiting: 2 })
  const holder = hold('flood')
  await holder.begun
  const floods = ['1', '2', '3', '4', '5'].flatMap((lane) => many(2, lane))
  await waiting(10)
  const [late, quiet] = [hold('1'), hold('quiet')]
  expect(await refused([late, quiet])).toEqual(['refused', 'waits'])
  expect((await refused(floods)).filter((one) => one === 'refused')).toHaveLength(1)
  expect(pool.counts.waiting).toBe(10)
  await holder.end()
  await Promise.allSettled([...floods, quiet].map(async ({ begun, end }) => begun.then(end)))
  expect(pool.counts).toMatchObject({ used: 0, waiting: 0, waitingLanes: 0 })
})

test('where a caller had to wait for another lane, that one keeps to its third for a moment, and then has all again', async () => {
  pool = opened({})
  const flood = many(6, 'flood')
  await allBegun(flood)
  const more = many(6, 'flood')
  const caller = hold('caller', true)
  await waiting(7)
  await Promise.all(flood.map(({ end }) => end()))
  await caller.begun
  // Two of the six: the others stay free for whoever comes.
  await expect.poll(() => pool.counts).toMatchObject({ used: 3, free: 3, waiting: 4 })
  await hold('caller', true).end()
  await expect.poll(() => pool.counts.waiting, { timeout: 5_000 }).toBe(1)
  await allBegun(more.slice(0, 5))
  await Promise.all([...more, caller].map(({ end }) => end()))
  expect(pool.counts).toMatchObject({ used: 0, waiting: 0 })
})

test('beside callers that it makes slow, a flood keeps one connection; alone it has all', async () => {
  pool = opened({})
  const answer = (ms: number, calls: number) => {
    for (let n = 0; n < calls; n += 1) pool.took('caller', 'read', ms)
  }
  answer(10, 20)
  const flood = many(30, 'flood')
  await waiting(24)
  for (let n = 0; n < 100; n += 1) pool.took('flood', 'read', 1_000)
  const caller = hold('caller', true)
  await waiting(25)
  await flood[0]!.end()
  await caller.begun
  await Promise.all(flood.slice(1, 5).map(({ end }) => end()))
  // Two of the six, the third that a flood always has: its own calls say nothing.
  await expect.poll(() => pool.counts).toMatchObject({ used: 3, free: 3 })
  answer(30, 20)
  await Promise.all(flood.slice(5, 7).map(({ end }) => end()))
  await expect.poll(() => pool.counts).toMatchObject({ used: 2, free: 4 })
  await caller.end()
  // A second after the last caller it has every connection again.
  await expect.poll(() => pool.counts.used, { timeout: 5_000 }).toBe(6)
  await Promise.all(flood.slice(7).map(({ end }) => end()))
})

test('a caller beside a flood leaves it no more than its share, even where it finds a connection free', async () => {
  pool = opened({})
  const flood = many(14, 'flood')
  await waiting(8)
  const first = hold('caller', true)
  await waiting(9)
  await Promise.all(flood.slice(0, 5).map(({ end }) => end()))
  await first.begun
  await first.end()
  // It waited once; from then on its calls come before the second is over, and find a connection.
  for (let n = 0; n < 8; n += 1) {
    await pause(200)
    await hold('caller', true).end()
    expect(pool.counts).toMatchObject({ used: 2, free: 4 })
  }
  await Promise.all(flood.slice(5).map(({ end }) => end()))
})

test('beside callers that it makes slow, a flood that is refused much rests between its transactions, and alone it does not', async () => {
  pool = opened({ maxWaiting: 3 })
  for (let n = 0; n < 20; n += 1) pool.took('caller', 'read', 1)
  let isOver = false
  let done = 0
  const client = async () => {
    while (!isOver) {
      if (!pool.isInTime('flood', 0)) await pause(1)
      else
        await work('flood').then(
          () => (done += 1),
          () => pause(1),
        )
    }
  }
  const work = (lane: string) => pool.transaction('', (tx) => tx`select pg_sleep(0.005)`, { lane, answersCaller: true })
  const clients = Array.from({ length: 40 }, client)
  const doneIn = async (ms: number, isBeside: boolean) => {
    const before = done
    for (const end = performance.now() + ms; performance.now() < end; ) {
      if (isBeside) await work('caller')
      if (isBeside) pool.took('caller', 'read', 100)
      await pause(10)
    }
    return done - before
  }
  await doneIn(1_000, true)
  const beside = await doneIn(1_000, true)
  // A second after the last caller it has every connection again.
  await doneIn(1_100, false)
  const alone = await doneIn(1_000, false)
  isOver = true
  await Promise.all(clients)
  // At most a quarter of what one connection does in a second, and six of them.
  expect(beside).toBeLessThan(60)
  expect(beside).toBeGreaterThan(0)
  expect(alone).toBeGreaterThan(5 * beside)
})

test('a caller for whom there is no room is told at once', async () => {
  pool = opened({ size: 1, maxWaiting: 1 })
  const holder = hold('flood')
  await holder.begun
  const waits = hold('flood')
  const caller = hold('flood', true)
  expect(await refused([waits, caller])).toEqual(['waits', 'refused'])
  await expect(caller.begun).rejects.toThrow(/too many/)
  await holder.end()
  await waits.end()
})

test('where a queue stands, a lane has room for what begins in time, and another lane for its own', async () => {
  pool = opened({ size: 3 })
  const flood = many(23, 'flood')
  await waiting(20)
  expect(pool.isInTime('flood', 0), 'a burst').toBe(true)
  await pause(1_100)
  expect(pool.isInTime('flood', 0), 'nothing was lent since').toBe(false)
  expect(pool.isInTime('other', 0)).toBe(true)
  const other = hold('other')
  await waiting(21)
  expect(pool.isInTime('other', 0), 'a third of the connections may wait').toBe(false)
  for (const { begun, end } of [...flood.slice(0, 3), other, ...flood.slice(3)]) {
    await begun
    await end()
  }
  expect(pool.isInTime('flood', 0)).toBe(true)
})
