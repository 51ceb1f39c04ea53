/** A server that is frozen answers nothing, closes nothing and keeps none of its own limits: ours hold. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { attach } from '../../src/core/kernel/database/client.ts'
import { DatabaseUnavailable, openPool, type Pool, type PoolOptions } from '../../src/core/kernel/database/pool.ts'
import { holdSharedLocks } from '../../src/core/kernel/database/shared-lock.ts'
import { type OwnCluster, ownCluster } from '../kernel/database/own-cluster.ts'
import { makeWorkspaces, watchProcess } from '../kernel/database/two-workspaces.ts'

let cluster: OwnCluster
let pool: Pool
const watched = watchProcess()
beforeAll(async () => {
  cluster = await ownCluster({ fsync: 'off' })
  await makeWorkspaces(cluster.superuser)
  await cluster.superuser.unsafe('create table note (id int primary key); grant all on note to svc_login')
})
beforeEach(() => cluster.superuser`truncate note`)
afterEach(async () => {
  cluster.thaw()
  await pool.close(0)
})
afterAll(async () => {
  await cluster.remove()
  watched.stop()
  expect(watched.uncaught).toEqual([])
})

const opened = (options: Partial<PoolOptions>): Pool =>
  openPool(cluster.address('svc_login'), { size: 1, applicationName: 'svc-silence', statementMs: 300, ...options })

const notes = async () => (await cluster.superuser`select id from note order by id`).map((row) => row['id'] as number)

/** What became of it, where something did within `ms`. */
const within = <T>(ms: number, promise: Promise<T>) =>
  Promise.race([
    promise.then(
      () => 'done',
      (error: Error) => error.name,
    ),
    pause(ms, 'nothing', { ref: false }),
  ])

test('a statement that is not answered ends its transaction, and the connection is never lent again', async () => {
  pool = opened({})
  const pids: number[] = []
  const ask = () =>
    pool.transaction('', async (tx) => {
      const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
      pids.push(row!.pid)
    })
  await ask()
  await cluster.freeze()
  expect(await within(5_000, ask())).toBe('DatabaseUnavailable')
  cluster.thaw()
  await ask()
  expect(pids).toHaveLength(2)
  expect(pids[1]).not.toBe(pids[0])
  expect(pool.counts.discarded).toBe(1)
})

test('a rollback and a commit that are not answered are unavailable; what was acknowledged is there, once', async () => {
  pool = opened({})
  await pool.transaction('', (tx) => tx`insert into note values (1)`)
  for (const end of ['commit', 'rollback']) {
    const stopped = pool.transaction('', async (tx) => {
      await tx`insert into note values (2)`
      await cluster.freeze()
      if (end === 'rollback') throw new Error('refused')
    })
    expect(await within(5_000, stopped)).toMatch(end === 'commit' ? /^DatabaseUnavailable$/ : /^Error$/)
    cluster.thaw()
    await pool.transaction('', (tx) => tx`delete from note where id = 2`)
  }
  expect(await notes()).toEqual([1])
})

test('nobody waits for a connection longer than its time, new ones included', async () => {
  pool = opened({ acquireMs: 500 })
  await cluster.freeze()
  const waiting = Array.from({ length: 5 }, () => pool.transaction('', async () => {}))
  for (const one of waiting) expect(await within(4_000, one)).toBe('DatabaseUnavailable')
})

test('several silences do not add up for a caller, and do for work that nobody waits for', async () => {
  pool = opened({ size: 2, statementMs: 2_000, callerMs: 1_000 })
  const work = (answersCaller: boolean) =>
    pool.transaction(
      '',
      async (tx) => {
        await tx`select pg_sleep(0.9)`
        await tx`select pg_sleep(1.5)`
      },
      { answersCaller },
    )
  const [awaited, other] = await Promise.allSettled([work(true), work(false)])
  expect(awaited).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseUnavailable) })
  expect(other).toMatchObject({ status: 'fulfilled' })
})

test('a server that is slow and answers in time is left alone, also where a transaction asked for more time', async () => {
  // Two beats of silence, of the four that a statement is given.
  pool = opened({ size: 2, statementMs: 600 })
  await pool.transaction('', (tx) => tx`select pg_sleep(0.5)`)
  const locked = Promise.withResolvers<void>()
  const blocker = cluster.superuser.begin(async (sql) => {
    await sql`lock table note`
    locked.resolve()
    await pause(1_500)
  })
  await locked.promise
  const patient = pool.transaction('', async (tx) => {
    void tx.patience(3)
    await tx`insert into note values (3)`
  })
  expect(await within(5_000, patient)).toBe('done')
  await blocker
  expect(pool.counts.discarded).toBe(0)
  // And only that one.
  await expect(pool.transaction('', (tx) => tx`select pg_sleep(1)`)).rejects.toMatchObject({ cause: { code: '57014' } })
})

test('a copy that its taker holds back is no silence; one that the server holds back is', async () => {
  pool = opened({ size: 1, statementMs: 60_000, silenceMs: 300 })
  let rows = 0
  const copy = "copy (select repeat('x', 9000) from generate_series(1, 2000)) to stdout"
  await pool.transaction('', (tx) =>
    tx.copyOut(copy, () => {
      rows += 1
      return rows === 5 ? pause(1_500) : undefined
    }),
  )
  expect(rows).toBe(2_000)
  const freezing: Promise<void>[] = []
  const silent = pool.transaction('', (tx) =>
    tx.copyOut(copy, () => {
      if (freezing.length === 0) freezing.push(cluster.freeze())
      return undefined
    }),
  )
  expect(await within(5_000, silent)).toBe('DatabaseUnavailable')
})

test('connections that are kept beside the pool let go of a server that says nothing', async () => {
  pool = opened({})
  const { client, end } = await attach(cluster.address('svc_login'), 'svc-kept', () => {})
  const held = await holdSharedLocks(cluster.address('svc_login'), 'svc-lock', [{ lockClass: 1, key: 2 }])
  await cluster.freeze()
  expect(await within(9_000, client.query('select 1'))).toBe('Error')
  expect(await within(4_000, end())).toBe('done')
  expect(await within(4_000, held.release())).toBe('done')
  expect(
    await within(
      9_000,
      attach(cluster.address('svc_login'), 'svc-late', () => {}),
    ),
  ).toBe('Error')
})
