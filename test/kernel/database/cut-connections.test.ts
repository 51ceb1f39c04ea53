/**
 * A connection that is cut anywhere settles everything that was under way, and never
 * comes back: whatever the server had said by then, down to the byte.
 */
import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DatabaseAddress } from '../../../src/core/kernel/database/address.ts'
import { type Connection, connect } from '../../../src/core/kernel/database/connection.ts'
import type { Statement } from '../../../src/core/kernel/database/statement.ts'
import { DatabaseUnavailable } from '../../../src/core/kernel/database/unavailable.ts'
import { socketOf } from '../../kit/database.ts'
import { type OwnCluster, ownCluster } from './own-cluster.ts'
import { watchProcess } from './two-workspaces.ts'

const limits = { applicationName: 'svc-cut', statementMs: 5_000, lockMs: 2_000, idleInTransactionMs: 10_000 }
const full = process.env['SVC_FAULTS'] === 'full'

type Cut = 'closed' | 'reset'

let cluster: OwnCluster
let way: CuttingProxy
const watched = watchProcess()
beforeAll(async () => {
  cluster = await ownCluster({ fsync: 'off' })
  way = await cuttingProxy(cluster.address('postgres'))
})
afterAll(async () => {
  await way.close()
  await cluster.remove()
  watched.stop()
  expect(watched.uncaught).toEqual([])
})

const simple = (text: string): Statement => ({ text, values: [], mode: 'simple' })
const planned = (n: number): Statement => ({ text: 'select $1::int as n', values: [n], mode: 'plan' })
/** More than the driver sends at once, so that some wait inside it for their turn. */
const many = Array.from({ length: 120 }, (_, n) => planned(n))
const statements = [simple('begin'), simple("set local statement_timeout = '4s'"), ...many, simple('commit')]

interface Outcome {
  readonly answered: number
  readonly unavailable: number
  readonly strange: unknown[]
}

/** Everything is sent at once; each must be answered or be unavailable, and none may wait for ever. */
async function settled(connection: Connection): Promise<Outcome> {
  const all = await Promise.allSettled(statements.map((statement) => connection.send(statement)))
  const rejected = all.filter((one) => one.status === 'rejected').map(({ reason }) => reason as unknown)
  return {
    answered: all.length - rejected.length,
    unavailable: rejected.filter((reason) => reason instanceof DatabaseUnavailable).length,
    strange: rejected.filter((reason) => !(reason instanceof DatabaseUnavailable)),
  }
}

/** How many bytes the server answers when nobody cuts. */
async function wholeAnswer(): Promise<number> {
  const connection = await connect(way.address, limits)
  const before = way.answered()
  expect(await settled(connection)).toEqual({ answered: statements.length, unavailable: 0, strange: [] })
  await connection.end()
  return way.answered() - before
}

test.each<Cut>(['closed', 'reset'])('%s after any number of bytes: what is under way is settled', async (how) => {
  const whole = await wholeAnswer()
  const every = (from: number, to: number, step: number) =>
    Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, at) => from + at * step)
  const places = full ? every(0, whole, 1) : [...every(0, 300, 3), ...every(300, whole, 97)]
  for (const place of places) {
    const connection = await connect(way.address, limits)
    way.cutAfter(place, how)
    const { answered, unavailable, strange } = await settled(connection)
    expect([place, strange]).toEqual([place, []])
    expect(answered + unavailable).toBe(statements.length)
    expect(unavailable).toBeGreaterThan(0)
    // Between the socket's failure and its end the driver would still take this one.
    await expect(connection.send(simple('select 1'))).rejects.toThrow(DatabaseUnavailable)
    await expect.poll(() => connection.alive).toBe(false)
    await connection.end()
  }
})

test('ended by us with everything under way: the same', async () => {
  const connection = await connect(way.address, limits)
  const sleeping = connection.send(simple('select pg_sleep(60)')).catch((error: unknown) => error)
  const behind = settled(connection)
  await connection.end()
  expect(await sleeping).toBeInstanceOf(DatabaseUnavailable)
  expect(await behind).toEqual({ answered: 0, unavailable: statements.length, strange: [] })
  expect(connection.alive).toBe(false)
})

test.each<Cut>(['closed', 'reset'])('%s while it greets: refused at once, and not dialled again', async (how) => {
  const before = way.answered()
  await (await connect(way.address, limits)).end()
  const greeting = way.answered() - before
  expect(greeting).toBeGreaterThan(100)

  for (let place = 0; place < greeting; place += full ? 1 : 13) {
    const dialled = way.connections()
    way.cutAfter(place, how)
    const refused = await connect(way.address, limits).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(DatabaseUnavailable)
    // The driver's patience would be two seconds: for a socket that is gone nobody waits.
    expect(String(refused)).not.toContain('TIMEOUT')
    expect(way.connections()).toBe(dialled + 1)
  }
})

interface CuttingProxy {
  readonly address: DatabaseAddress
  readonly connections: () => number
  /** Bytes the server has answered. */
  readonly answered: () => number
  /** Passes so many more bytes of the server's answers on, then cuts the connection. */
  cutAfter(bytes: number, how: Cut): void
  close(): Promise<void>
}

async function cuttingProxy(target: DatabaseAddress): Promise<CuttingProxy> {
  const open = new Set<Socket>()
  let connections = 0
  let answered = 0
  let left = Number.POSITIVE_INFINITY
  let cut: Cut = 'closed'
  const server: Server = createServer((near) => {
    connections += 1
    const far = dial(socketOf(target))
    far.on('data', (bytes) => {
      answered += bytes.length
      near.write(bytes.subarray(0, Math.min(left, bytes.length)))
      left -= bytes.length
      if (left > 0) return
      left = Number.POSITIVE_INFINITY
      far.removeAllListeners('data').destroy()
      if (cut === 'reset') near.resetAndDestroy()
      else near.end(() => near.destroy())
    })
    near.on('data', (bytes) => far.write(bytes))
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    address: { ...target, host: '127.0.0.1', port },
    connections: () => connections,
    answered: () => answered,
    cutAfter(bytes, how) {
      left = bytes
      cut = how
    },
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
