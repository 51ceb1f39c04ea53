/**
 * Requests over HTTP against the floor (floor-server.ts): the same reads and writes by statements that
 * were written without ours, on the same tables. 200 boards of 8 buckets and 50 items; 32 connections
 * from this process; the daemon, the floor and PostgreSQL are processes of their own. Both sides reach
 * PostgreSQL over TCP, and for two lines over the Unix socket as well.
 */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import autocannon from 'autocannon'
import type { DatabaseAddress } from '../src/core/kernel/database/address.ts'
import { type Boards, fillBoards } from './board-filler.ts'
import type { FloorSettings } from './floor-server.ts'
import type { Ground } from './ground.ts'
import { startDaemon, startServer } from './processes.ts'
import { headersOf, type Request } from './requests.ts'
import { compare } from './rounds.ts'
import { type Line, ratioLine } from './table.ts'

const size = { boards: 200, buckets: 8, itemsEach: 50 }
const connections = 32
const secondsARound = 4
const rounds = 3

type Kind = 'read' | 'items' | 'board' | 'create' | 'create-one' | 'patch' | 'move' | 'mixed'

/** What each line compares, and its target. */
const targets: Readonly<Record<Kind, readonly [what: string, target: number]>> = {
  read: ['8 buckets of a board', 0.55],
  items: ['a page of 50 items', 0.55],
  board: ['a board: 8 buckets and their 50 items', 0.6],
  create: ['creating an item, on 200 boards', 0.5],
  'create-one': ['creating an item, all on one board', 0.4],
  patch: ['a new title', 0.5],
  move: ['a move to another bucket', 0.5],
  mixed: ['70 % read, 30 % written', 0.5],
}

/** How both sides reach PostgreSQL. The socket of the system is cheaper, and most installations have another host. */
type Way = 'TCP' | 'Unix socket'

/** Also measured over the socket. */
const overSocket: readonly Kind[] = ['read', 'create']

export async function floor(ground: Ground): Promise<Line[]> {
  const boards = await fillBoards(ground, size)
  const asked = process.env['BENCH_FLOOR']?.split(',')
  const only = (Object.keys(targets) as Kind[]).filter((kind) => asked?.includes(kind) ?? true)
  const sockets = only.filter((kind) => overSocket.includes(kind))
  return [
    ...(await measured(ground, boards, 'TCP', only)),
    ...(sockets.length === 0 ? [] : await measured(ground, boards, 'Unix socket', sockets)),
  ]
}

async function measured(ground: Ground, boards: Boards, way: Way, kinds: readonly Kind[]): Promise<Line[]> {
  const daemon = await startDaemon(environmentOver(ground, way))
  const address = way === 'TCP' ? overTcp(ground.superuser) : ground.superuser
  const settings: FloorSettings = { address, poolSize: ground.config.poolSize }
  const bare = await startServer([
    process.execPath,
    join(import.meta.dirname, 'floor-server.ts'),
    JSON.stringify(settings),
  ])
  try {
    const requests = await openRequests(daemon.address, ground, boards)
    const lines: Line[] = []
    for (const kind of kinds) {
      if (kind !== 'mixed') await compareSizes([daemon.address, bare.address], ground, requests.next(kind))
      const round = (server: string) => () => requestsASecond(server, ground, () => requests.next(kind))
      const compared = await compare(round(daemon.address), round(bare.address), rounds)
      const [what, target] = targets[kind]
      process.stderr.write(`floor ${kind}, ${way}: ${(compared.ours / compared.bare).toFixed(2)}\n`)
      lines.push(ratioLine(`floor ${kind}, ${way}: ${what}`, { ...compared, unit: 'req/s' }, 'at least', target))
    }
    return lines
  } finally {
    await Promise.all([daemon.stop(), bare.stop()])
  }
}

const overTcp = (address: DatabaseAddress): DatabaseAddress => ({ ...address, host: '127.0.0.1' })

/** Over TCP the daemon is told of a server that others run: it is the same one, kept up by this process. */
function environmentOver({ installation, environment, dataDir }: Ground, way: Way): Record<string, string> {
  if (way === 'Unix socket') return environment
  const { user, password, host, port, database } = overTcp(installation.address)
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password ?? '')}`
  return {
    ...environment,
    SVC_DATABASE_URL: `postgres://${login}@${host}:${port}/${database}`,
    SVC_KEYRING_FILE: join(dataDir, 'keyring.json'),
  }
}

/** Throws unless both sides answer the same request with about as much. */
async function compareSizes(addresses: readonly [string, string], { token }: Ground, request: Request): Promise<void> {
  const { method, path, body } = request
  const sizes: number[] = []
  // One after the other: both lock the same rows, in another order.
  for (const address of addresses) {
    const sent = body ? { body: JSON.stringify(body) } : {}
    const answer = await fetch(`${address}/api/v1${path}`, { method, headers: headersOf(request, token), ...sent })
    sizes.push((await answer.text()).length)
  }
  const [ours = 0, theirs = 0] = sizes
  if (ours > theirs * 1.15 || theirs > ours * 1.15) throw new Error(`${method} ${path} is answered with ${sizes} bytes`)
}

async function requestsASecond(address: string, { token }: Ground, next: () => Request): Promise<number> {
  const { requests, non2xx, errors, statusCodeStats } = await autocannon({
    url: address,
    connections,
    duration: secondsARound,
    requests: [
      {
        setupRequest: (request: object) => {
          const asked = next()
          const { method, path, body } = asked
          return {
            ...request,
            method,
            path: `/api/v1${path}`,
            headers: headersOf(asked, token),
            ...(body ? { body: JSON.stringify(body) } : {}),
          }
        },
      },
    ],
  })
  // What was under way when the clients hung up still holds its locks, which the other side takes in another order.
  await setTimeout(500)
  if (non2xx + errors > 0)
    throw new Error(`${errors} requests failed, and of ${address}: ${JSON.stringify(statusCodeStats)}`)
  return requests.average
}

/** Requests of each kind, of boards in turn. */
async function openRequests(address: string, { token }: Ground, { collections }: Boards) {
  const items: { id: string; buckets: readonly string[] }[] = []
  for (const { id, buckets } of collections) {
    const answer = await fetch(`${address}/api/v1/items?container_id=${id}&size=50`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const { data } = (await answer.json()) as { data: { id: string }[] }
    items.push(...data.map((item) => ({ id: item.id, buckets })))
  }
  let count = 0
  const makers: Readonly<Record<Exclude<Kind, 'mixed'>, (n: number) => Request>> = {
    read: (n) => ({ method: 'GET', path: `/containers/${collections[n % collections.length]!.id}/buckets` }),
    items: (n) => ({ method: 'GET', path: `/items?container_id=${collections[n % collections.length]!.id}&size=50` }),
    board: (n) => ({ method: 'GET', path: `/containers/${collections[n % collections.length]!.id}/board?size=50` }),
    create: (n) => created(collections[n % collections.length]!.id, n),
    'create-one': (n) => created(collections[0]!.id, n),
    patch: (n) => ({ method: 'PATCH', path: `/items/${items[n % items.length]!.id}`, body: { title: `Title ${n}` } }),
    move: (n) => {
      const { id, buckets } = items[(n * 7) % items.length]!
      return { method: 'POST', path: `/items/${id}:move`, body: { bucket_id: buckets[n % buckets.length] } }
    },
  }
  const mix = ['read', 'read', 'read', 'read', 'items', 'items', 'items', 'create', 'patch', 'move'] as const
  return {
    next(kind: Kind): Request {
      count += 1
      return makers[kind === 'mixed' ? mix[count % mix.length]! : kind](count)
    },
  }
}

const created = (containerId: string, n: number): Request => ({
  method: 'POST',
  path: '/items',
  body: { container_id: containerId, title: `Item ${n}` },
})
