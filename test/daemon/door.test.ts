/**
 * The bounds of the door: how many connections, of one source and in all, and what becomes of callers that do not
 * take their answers. Sources are addresses of the loopback. Spec: decisions 7, Bounds at the door.
 */
import { randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Config } from '../../src/core/kernel/config/config.ts'
import { type Log, silentLog } from '../../src/daemon/log.ts'
import { sourceOfConnection } from '../../src/daemon/source.ts'
import { type TestDaemon, type TestDaemonOptions, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp, workspace } from '../kit/people.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function started(config: Partial<Config>, options: TestDaemonOptions = {}): Promise<TestDaemon> {
  const daemon = await testDaemon({ ...options, config })
  ends.push(() => daemon.close())
  return daemon
}

/** A connection from `source` that sends `bytes` and nothing more. */
async function opened({ port }: TestDaemon, source: string, bytes: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, localAddress: source })
  socket.on('error', () => {})
  ends.push(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(bytes)
  return socket
}

async function openedMany(daemon: TestDaemon, sources: readonly string[], bytes: string): Promise<Socket[]> {
  const sockets: Socket[] = []
  for (const source of sources) sockets.push(await opened(daemon, source, bytes))
  return sockets
}

/** The status of a request on a connection of its own; the code of the failure where there is none. */
function ask(
  { port }: Pick<TestDaemon, 'port'>,
  source: string,
  path = '/healthz',
  token?: string,
): Promise<number | string> {
  return new Promise((resolve) => {
    request(
      {
        host: '127.0.0.1',
        port,
        localAddress: source,
        path,
        agent: false,
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      },
      (response) => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0))
      },
    )
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      .end()
  })
}

/** Waits until as many of the connections as wanted are still open, as their daemon has it. */
async function stillOpen(sockets: readonly Socket[], wanted: number): Promise<void> {
  await expect.poll(() => sockets.filter(({ closed }) => !closed).length).toBe(wanted)
}

const halfHeader = 'GET /healthz HTTP/1.1\r\nHost: x\r\n'
const halfBody =
  'POST /api/v1/auth/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'
const [flooder, neighbour] = ['127.0.0.3', '127.0.0.2']
const times = (count: number, source: string) => Array<string>(count).fill(source)

describe('a source', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:DB8::1', '2001:db8::/64'],
    ['::1', '::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    [undefined, ''],
  ])('of %s is %s', (address, source) => {
    expect(sourceOfConnection(address)).toBe(source)
  })
})

describe('connections', () => {
  const few = { connections: 20, connectionsPerSource: 10 }

  test.each([
    ['half a header', halfHeader],
    ['half a body', halfBody],
    ['nothing', ''],
  ])('with %s on each, a flood closes its own oldest ones, and a neighbour is served', async (_, bytes) => {
    const daemon = await started(few)
    const sockets = await openedMany(daemon, times(30, flooder), bytes)
    await stillOpen(sockets, 10)
    expect(sockets.slice(-10).every(({ closed }) => !closed)).toBe(true)
    for (let n = 0; n < 12; n += 1) expect(await ask(daemon, neighbour)).toBe(200)
    await stillOpen(sockets, 10)
  })

  test('of many sources, the oldest without a whole request gives way', async () => {
    const daemon = await started(few)
    const sources = Array.from({ length: 40 }, (_, n) => `127.0.1.${n + 1}`)
    const sockets = await openedMany(daemon, sources, halfHeader)
    await stillOpen(sockets, 20)
    expect(await ask(daemon, neighbour)).toBe(200)
  })

  test('behind one proxy, whoever sends a whole request is served beside the flood', async () => {
    const daemon = await started(few)
    const sockets = await openedMany(daemon, times(30, flooder), halfHeader)
    for (let n = 0; n < 12; n += 1) expect(await ask(daemon, flooder)).toBe(200)
    await stillOpen(sockets, 9)
  })

  test('that wait between two requests go after those that have sent none', async () => {
    const daemon = await started(few)
    const idle = await opened(daemon, flooder, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(idle, 'data')
    await openedMany(daemon, times(30, flooder), halfHeader)
    idle.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(idle, 'data')
    expect(idle.closed).toBe(false)
  })

  test('that end in the middle of a body are logged and counted, and leave nothing', async () => {
    const lines: object[] = []
    const failures: string[] = []
    const log: Log = {
      ...silentLog,
      request: (line) => void lines.push(line),
      failure: (event) => void failures.push(event),
    }
    const daemon = await started({}, { log })
    const socket = await opened(daemon, flooder, halfBody)
    await expect.poll(async () => (await metrics(daemon)).get('svc_requests_in_flight')).toBe(2)
    socket.destroy()
    await expect.poll(async () => (await metrics(daemon)).get('svc_requests_in_flight')).toBe(1)
    const left = { operation: 'signIn', status: 499 }
    expect(lines).toContainEqual(expect.objectContaining(left))
    // Whoever leaves is no failure of ours, and is told nothing.
    expect(failures).toEqual([])
  })

  test('that are busy are never closed for others; one that finds only such is turned away', async () => {
    const daemon = await started({ ...few, poolSize: 2 })
    const home = await setUp(daemon)
    const { token } = await person(daemon, home.tenantId)
    const locker = await daemon.db.sql.reserve()
    ends.push(() => locker.release())
    await locker`begin`
    await locker`lock table credential in access exclusive mode`
    const asked = times(10, flooder).map((source) => ask(daemon, source, '/api/v1/accounts/me', token))
    await expect.poll(async () => (await metrics(daemon)).get('svc_requests_in_flight')).toBe(11)
    expect(await ask(daemon, flooder)).toBe('ECONNRESET')
    expect(await ask(daemon, neighbour)).toBe(200)
    await locker`rollback`
    expect(await Promise.all(asked)).toEqual(times(10, flooder).map(() => 200))
    expect(await ask(daemon, flooder)).toBe(200)
    expect((await metrics(daemon)).get('svc_connections_refused_total{listener="api"}')).toBe(1)
  })
})

async function metrics({ port }: Pick<TestDaemon, 'port'>): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: 'close' } })).text()
  const lines = text.split('\n').filter((line) => /^svc_/.test(line))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

describe('readers', () => {
  const mebibyte = 1024 * 1024
  const page = '/api/v1/items?size=200'
  let lines: { status: number; code?: string }[]
  const log: Log = { ...silentLog, request: (line) => void lines.push(line) }
  beforeAll(() => {
    lines = []
  })

  /** A daemon with a workspace whose first page of items is 1 MiB. */
  async function withLargePages(config: Partial<Config>): Promise<{ daemon: TestDaemon; reader: Person }> {
    lines = []
    const daemon = await started(config, { log })
    const { tenantId } = await setUp(daemon)
    const reader = await person(daemon, tenantId)
    await fillWithLargeItems(daemon, reader)
    return { daemon, reader }
  }

  async function fillWithLargeItems({ db: { sql } }: TestDaemon, { tenantId, accountId }: Person): Promise<void> {
    const [hub, collection] = [randomUUIDv7(), randomUUIDv7()]
    await sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
    await sql`
      insert into container (tenant_id, id, kind, parent_id, name, rank)
      values (${tenantId}, ${hub}, 'HUB', null, 'h', 'a'), (${tenantId}, ${collection}, 'COLLECTION', ${hub}, 'c', 'a')`
    await sql`
      insert into item (tenant_id, id, container_id, type, title, description, rank, created_by)
      select ${tenantId}, new_id(), ${collection}, 'TASK', 'large', repeat('x', 20000), 'a' || lpad(n::text, 4, '0'), ${accountId}
      from generate_series(1, 60) n`
  }

  const asking = (token: string) => `GET ${page} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`

  /** Asks for so many pages on one connection and takes nothing. */
  async function neverReading(daemon: TestDaemon, { token }: Person, pages: number): Promise<Socket> {
    const socket = await opened(daemon, flooder, '')
    socket.pause()
    socket.write(asking(token).repeat(pages))
    return socket
  }

  const waiting = async (daemon: TestDaemon) =>
    (await metrics(daemon)).get('svc_answers_waiting_bytes{listener="api"}') ?? 0

  test('that take nothing are closed, and nothing waits any more', async () => {
    const { daemon, reader } = await withLargePages({ slowReaderSeconds: 1 })
    const socket = await neverReading(daemon, reader, 30)
    // A slow machine has made one page when the reader is closed.
    await expect.poll(() => waiting(daemon), { timeout: 8_000 }).toBeGreaterThan(mebibyte / 2)
    await expect
      .poll(async () => (await metrics(daemon)).get('svc_readers_closed_total{listener="api"}'), { timeout: 8_000 })
      .toBe(1)
    expect(await waiting(daemon)).toBeLessThan(mebibyte / 2)
    expect(lines).toContainEqual(expect.objectContaining({ status: 499, code: 'reader.slow' }))
    socket.resume()
    await expect.poll(() => socket.closed).toBe(true)
  })

  test('that take a little all the time are not closed', async () => {
    const { daemon, reader } = await withLargePages({ slowReaderSeconds: 2 })
    const socket = await opened(daemon, flooder, '')
    socket.pause()
    socket.write(asking(reader.token).repeat(12))
    let taken = 0
    const until = performance.now() + 5_000
    while (performance.now() < until) {
      await pause(200)
      taken += (socket.read(socket.readableLength) as Buffer | null)?.length ?? 0
    }
    socket.on('data', (chunk: Buffer) => {
      taken += chunk.length
    })
    socket.resume()
    await expect.poll(() => taken, { timeout: 10_000 }).toBeGreaterThan(12_000_000)
    expect((await metrics(daemon)).get('svc_readers_closed_total{listener="api"}')).toBe(0)
  })

  test('of one workspace hold no more than its share, and make room for one that reads', async () => {
    const { daemon, reader } = await withLargePages({ slowReaderSeconds: 600, waitingBytes: 8 * mebibyte })
    const otherId = await workspace(daemon, 'other')
    const other = await person(daemon, otherId)
    await fillWithLargeItems(daemon, other)
    for (let n = 0; n < 6; n += 1) await neverReading(daemon, reader, 30)
    await expect.poll(() => waiting(daemon), { timeout: 8_000 }).toBeGreaterThan(mebibyte)
    expect(await waiting(daemon)).toBeLessThanOrEqual(2.2 * mebibyte)
    // Somebody else's workspace has room, and its own makes some once its readers have stood still for a second.
    expect(await ask(daemon, neighbour, page, other.token)).toBe(200)
    await expect.poll(() => ask(daemon, neighbour, page, reader.token), { timeout: 8_000 }).toBe(200)
    const after = await metrics(daemon)
    expect(after.get('svc_readers_closed_total{listener="api"}')).toBeGreaterThan(0)
    expect(after.get('svc_reads_refused_total{listener="api"}')).toBeGreaterThan(0)
    expect(lines).toContainEqual(expect.objectContaining({ status: 503, code: 'service.unavailable' }))
  })
})

describe('health on a port of its own', () => {
  const healthOf = ({ healthAddress }: TestDaemon) => ({ port: Number(new URL(healthAddress ?? '').port) })

  test('is served there, and metrics only there; nothing of the API is', async () => {
    const daemon = await started({ healthPort: 0 })
    const health = healthOf(daemon)
    for (const path of ['/healthz', '/readyz', '/metrics']) expect(await ask(health, neighbour, path)).toBe(200)
    for (const path of ['/api/v1/accounts/me', '/docs']) expect(await ask(health, neighbour, path)).toBe(404)
    for (const path of ['/healthz', '/readyz']) expect(await ask(daemon, neighbour, path)).toBe(200)
    expect(await ask(daemon, neighbour, '/metrics')).toBe(404)
  })

  /** Calls that have arrived and wait for a lock, until it is released. */
  async function withBusy(daemon: TestDaemon, calls: number) {
    const home = await setUp(daemon)
    const { token } = await person(daemon, home.tenantId)
    const locker = await daemon.db.sql.reserve()
    let isHeld = true
    const release = async () => {
      if (!isHeld) return
      isHeld = false
      await locker`rollback`
      locker.release()
    }
    ends.push(release)
    await locker`begin`
    await locker`lock table credential in access exclusive mode`
    const answers = times(calls, flooder).map((source) => ask(daemon, source, '/api/v1/accounts/me', token))
    // The question itself is one more.
    await expect.poll(async () => (await metrics(healthOf(daemon))).get('svc_requests_in_flight')).toBe(calls + 1)
    return { answers: Promise.all(answers), release }
  }

  test('answers while the connections of the other one are all taken', async () => {
    const daemon = await started({ healthPort: 0, connections: 10, connectionsPerSource: 10 })
    const busy = await withBusy(daemon, 10)
    await expect.poll(() => ask(daemon, neighbour)).toBe('ECONNRESET')
    expect(await ask(healthOf(daemon), neighbour)).toBe(200)
    await busy.release()
    expect(await busy.answers).toEqual(times(10, '').map(() => 200))
  })

  test('is closed last: while the daemon drains, it says that it does', async () => {
    const daemon = await started({ healthPort: 0 })
    const health = healthOf(daemon)
    const busy = await withBusy(daemon, 1)
    const closed = daemon.close()
    await expect.poll(() => ask(health, neighbour, '/readyz')).toBe(503)
    expect(await ask(daemon, neighbour)).toBe('ECONNREFUSED')
    await busy.release()
    expect(await busy.answers).toEqual([200])
    await closed
    expect(await ask(health, neighbour)).toBe('ECONNREFUSED')
  })
})
