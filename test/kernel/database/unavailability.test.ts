/** What cannot be done now is DatabaseUnavailable, at once or in bounded time, and leaves nothing behind. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DatabaseUnavailable, openPool, type Pool, type PoolOptions } from '../../../src/core/kernel/database/pool.ts'
import { TransactionOver, type Tx } from '../../../src/core/kernel/database/transaction.ts'
import { type OwnCluster, ownCluster } from './own-cluster.ts'
import { packetProxy } from './packet-proxy.ts'
import { makeWorkspaces, watchProcess } from './two-workspaces.ts'

const applicationName = 'svc-away'

let cluster: OwnCluster
let pool: Pool
const watched = watchProcess()
beforeAll(async () => {
  cluster = await ownCluster({ fsync: 'off' })
  await makeWorkspaces(cluster.superuser)
  await cluster.superuser.unsafe('create table note (id int primary key); grant all on note to svc_login')
  pool = opened({ size: 2 })
})
beforeEach(() => cluster.superuser`truncate note`)
afterAll(async () => {
  await pool.close()
  await cluster.remove()
  watched.stop()
  expect(watched.uncaught).toEqual([])
})

function opened(options: Omit<PoolOptions, 'applicationName'>): Pool {
  return openPool(cluster.address('svc_login'), { applicationName, ...options })
}

/** Runs a test on a pool of its own and closes it. */
async function withPool(options: Omit<PoolOptions, 'applicationName'>, run: (pool: Pool) => Promise<void>) {
  const own = opened(options)
  await run(own).finally(() => own.close(0))
}

const notes = async () => (await cluster.superuser`select id from note order by id`).map((row) => row['id'] as number)
const insert = (tx: Tx, id: number) => tx`insert into note (id) values (${id})`
const terminate = (pid: number) => cluster.superuser`select pg_terminate_backend(${pid})`
async function pidOf(tx: Tx): Promise<number> {
  const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
  return row!.pid
}

describe('503, not 500', () => {
  test('a statement, a lock and a connection that take too long are unavailable', async () => {
    await withPool({ size: 1, statementMs: 50, lockMs: 25, acquireMs: 1_000 }, async (single) => {
      await expect(single.transaction('', (tx) => tx`select pg_sleep(60)`)).rejects.toMatchObject({
        name: 'DatabaseUnavailable',
        cause: { code: '57014' },
      })
      await cluster.superuser.begin(async (sql) => {
        await sql`lock table note`
        const locked = single.transaction('', (tx) => insert(tx, 1))
        await expect(locked).rejects.toMatchObject({ name: 'DatabaseUnavailable', cause: { code: '55P03' } })
      })
      const held = Promise.withResolvers<void>()
      const holder = single.transaction('', () => held.promise)
      await expect(single.transaction('', async () => {})).rejects.toThrow(DatabaseUnavailable)
      held.resolve()
      await holder
    })
  })

  test('beyond maxWaiting it is unavailable at once', async () => {
    await withPool({ size: 1, maxWaiting: 1, acquireMs: 60_000 }, async (single) => {
      const held = Promise.withResolvers<void>()
      const holder = single.transaction('', () => held.promise)
      while (single.counts.used < 1) await pause(1)
      const waiting = single.transaction('', async () => 'served')
      await expect(single.transaction('', async () => {})).rejects.toThrow(/too many/)
      expect(single.counts).toMatchObject({ size: 1, used: 1, waiting: 1 })
      held.resolve()
      expect(await waiting).toBe('served')
      await holder
    })
  })

  test('who waits for a connection that dies gets another one, in the order of coming', async () => {
    await withPool({ size: 1, acquireMs: 60_000 }, async (single) => {
      const held = Promise.withResolvers<void>()
      const begun = Promise.withResolvers<number>()
      const doomed = single.transaction('', async (tx) => {
        begun.resolve(await pidOf(tx))
        await held.promise
      })
      const pid = await begun.promise
      const served: number[] = []
      const waiting = [1, 2, 3].map((id) =>
        single.transaction('', async (tx) => void served.push((await insert(tx, id)) && id)),
      )
      // It may be rejected before the answer to `terminate` is here.
      await Promise.all([expect(doomed).rejects.toThrow(DatabaseUnavailable), terminate(pid)])
      held.resolve()
      await Promise.all(waiting)
      expect(served).toEqual([1, 2, 3])
      expect(await notes()).toEqual([1, 2, 3])
      expect(single.counts).toMatchObject({ used: 0, waiting: 0, discarded: 1 })
    })
  })

  test('a pool that could not connect, however many waited, serves as soon as it can', async () => {
    const proxy = await packetProxy(cluster.address('svc_login'))
    const away = openPool(proxy.address, { size: 1, applicationName, acquireMs: 60 })
    try {
      proxy.refuse(true)
      const lost = await Promise.allSettled([1, 2, 3].map((id) => away.transaction('', (tx) => insert(tx, id))))
      expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
      proxy.refuse(false)
      await expect.poll(() => away.transaction('', async () => 'served').catch(() => 'away')).toBe('served')
      expect(await notes()).toEqual([])
    } finally {
      await away.close(0)
      await proxy.close()
    }
  })

  test('work that idles too long is unavailable and its handle is dead, however long it goes on', async () => {
    await withPool({ size: 1, idleInTransactionMs: 50 }, async (single) => {
      const over = Promise.withResolvers<void>()
      let late: Promise<unknown> | undefined
      const idle = single.transaction('', async (tx) => {
        await insert(tx, 1)
        await over.promise
        late = insert(tx, 2)
        await late
      })
      await expect(idle).rejects.toThrow(DatabaseUnavailable)
      await single.transaction('', async (tx) => {
        await insert(tx, 3)
        over.resolve()
        while (late === undefined) await pause(1)
        await expect(late).rejects.toThrow(TransactionOver)
      })
    })
    expect(await notes()).toEqual([3])
  })

  test('a session terminated while a statement runs rejects everything under way', async () => {
    const settled = pool.transaction('', async (tx) => {
      const pid = await pidOf(tx)
      // The second has never been planned, so the third waits inside the driver for its turn.
      const all = Promise.allSettled([tx`select pg_sleep(60)`, tx`select ${1}::int + 41`, insert(tx, 2)])
      await terminate(pid)
      expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    })
    await expect(settled).rejects.toThrow(DatabaseUnavailable)
    expect(await notes()).toEqual([])
  })

  test('a commit whose answer is lost is unavailable: its outcome is unknown', async () => {
    const proxy = await packetProxy(cluster.address('svc_login'))
    const single = openPool(proxy.address, { size: 1, applicationName })
    const work = async (tx: Tx) => {
      await insert(tx, 1)
      proxy.cutAnswerTo('commit')
    }
    await expect(single.transaction('', work)).rejects.toThrow(DatabaseUnavailable)
    expect(await notes()).toEqual([1])
    await single.close()
    await proxy.close()
  })

  test('nobody listens, or nobody by that name: unavailable', async () => {
    for (const wrong of [{ host: '/nonexistent' }, { host: '127.0.0.1', port: 1 }, { database: 'nonexistent' }]) {
      const lost = openPool({ ...cluster.address('svc_login'), ...wrong }, { size: 2, applicationName, acquireMs: 150 })
      await expect(lost.transaction('', async () => {})).rejects.toThrow(DatabaseUnavailable)
      await lost.close()
    }
  })
})

describe('closing', () => {
  test('waits for what runs, refuses what comes, and leaves no session', async () => {
    const closing = opened({ size: 2 })
    const held = Promise.withResolvers<void>()
    const running = closing.transaction('', async (tx) => {
      await held.promise
      await insert(tx, 1)
    })
    while (closing.counts.used < 1) await pause(1)
    const closed = closing.close()
    await expect(closing.transaction('', async () => {})).rejects.toThrow(DatabaseUnavailable)
    held.resolve()
    await Promise.all([running, closed])
    expect(await notes()).toEqual([1])
  })

  test('after the grace it hangs up', async () => {
    const closing = opened({ size: 1 })
    const stuck = closing.transaction('', () => new Promise<void>(() => {}))
    while (closing.counts.used < 1) await pause(1)
    await Promise.all([expect(stuck).rejects.toThrow(DatabaseUnavailable), closing.close(0)])
  })
})
