/**
 * Growth: what a request costs beside much else. First each line of a container of 10,000, 100,000 and 1,000,000 items
 * against the same of 100, in installations of their own, all of them in turns. Then a mixed load on 1,000 and 10,000
 * workspaces against the same on 10. Time in both is that of requests over HTTP, all connections busy.
 */
import postgres from 'postgres'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import { type Boards, fillBoards } from './board-filler.ts'
import { type Ground, layGround } from './ground.ts'
import { workspacesInUse } from './growth-workspaces.ts'
import { startDaemon } from './processes.ts'
import { type Client, openClient, type Request } from './requests.ts'
import { medians } from './rounds.ts'
import { type Line, ratioLine } from './table.ts'

/** BENCH_GROWTH_ITEMS and BENCH_GROWTH_LINES have fewer of them, to try the benchmark itself. */
const sizes = (process.env['BENCH_GROWTH_ITEMS'] ?? '100,10000,100000,1000000').split(',').map(Number)
const others = { boards: 20, buckets: 8, itemsEach: 50 }
const connections = 4
/** Changes wait for the disk, which one second is twice as slow as in the next. */
const rounds = { ofReads: 5, ofChanges: 11 }
const roundMs = 700
const warmUpMs = 3_000
/** Of a larger container so many items are read and changed, which lie all over it. */
const mostTouched = 20_000

type Make = (container: Container, n: number) => Request
/** What is asked of a container; `n` counts the requests. */
type Requests = Readonly<Record<string, Make>>

interface Container {
  readonly id: string
  readonly buckets: readonly string[]
  /** Of the next page. */
  readonly cursor: string
  /** Those that are read and changed, and where they were. */
  readonly items: readonly string[]
  /** Those that stay where they are, each with its bucket. */
  readonly staying: readonly { readonly id: string; readonly bucket_id: string }[]
  /** Another board of the workspace. */
  readonly small: string
}

/** What each of the containers has at least: the answers are of one size. */
const [inBucket, inBoard] = ['size=10', 'size=6']

const reads: Requests = {
  'its buckets': ({ id }) => get(`/containers/${id}/buckets`),
  'a page of its items': ({ id }) => get(`/items?container_id=${id}&size=50`),
  'the next page': ({ id, cursor }) => get(`/items?container_id=${id}&size=50&cursor=${cursor}`),
  'a page of a bucket': ({ buckets }, n) => get(`/items?bucket_id=${of(buckets, n)}&${inBucket}`),
  'its board': ({ id }) => get(`/containers/${id}/board?${inBoard}`),
  'its board, open items only': ({ id }) => get(`/containers/${id}/board?${inBoard}&state=OPEN`),
  'an item': ({ items }, n) => get(`/items/${of(items, n)}`),
  'a small board beside it': ({ small }) => get(`/containers/${small}/board?${inBoard}`),
}

const changes: Requests = {
  'a new item': ({ id }, n) => ({ method: 'POST', path: '/items', body: { container_id: id, title: `Item ${n}` } }),
  'a new title': ({ items }, n) => ({ method: 'PATCH', path: `/items/${of(items, n)}`, body: { title: `Title ${n}` } }),
  'a move to the end': ({ items, buckets }, n) => ({
    method: 'POST',
    path: `/items/${of(items, n)}:move`,
    body: { bucket_id: of(buckets, Math.floor(n / 7)) },
  }),
  'a move before an item': ({ items, staying }, n) => {
    // At random: an item that is already there would not be written.
    const { id, bucket_id } = of(staying, Math.floor(Math.random() * staying.length))
    return { method: 'POST', path: `/items/${of(items, n)}:move`, body: { bucket_id, before_item_id: id } }
  },
  'a bucket renamed': ({ id, buckets }, n) => ({
    method: 'PATCH',
    path: `/containers/${id}/buckets/${of(buckets, n)}`,
    body: { name: `Bucket ${n}` },
  }),
}

const get = (path: string): Request => ({ method: 'GET', path })
const of = <T>(list: readonly T[], n: number): T => list[n % list.length]!

export const growth = async (): Promise<Line[]> => [...(await largeContainers()), ...(await workspacesInUse())]

interface Side {
  readonly size: number
  readonly container: Container
  readonly client: Client
  readonly token: string
  remove(): Promise<void>
}

async function largeContainers(): Promise<Line[]> {
  const sides: Side[] = []
  try {
    for (const size of sizes) sides.push(await openSide(size))
    const only = process.env['BENCH_GROWTH_LINES']?.split(',')
    const asked = Object.entries({ ...reads, ...changes }).filter(([what]) => only?.includes(what) ?? true)
    for (const side of sides) await warmUp(side)
    const lines: Line[] = []
    for (const [what, request] of asked) lines.push(...(await compareSides(sides, what, request)))
    return lines
  } finally {
    for (const side of sides) await side.remove()
  }
}

async function openSide(size: number): Promise<Side> {
  const ground = await layGround()
  const boards = await fillBoards(ground, { ...others, boards: others.boards + 1, itemsOfFirst: size })
  const daemon = await startDaemon(ground.environment)
  const client = openClient(daemon.address, connections)
  return {
    size,
    container: await readContainer(ground, boards, client),
    client,
    token: ground.token,
    async remove() {
      await client.close()
      await daemon.stop()
      await ground.remove()
    },
  }
}

async function readContainer(ground: Ground, { collections }: Boards, client: Client): Promise<Container> {
  const [large, small] = [collections[0]!, collections[1]!]
  const sql = postgres({ ...postgresOptions(ground.superuser), max: 1 })
  const items = await sql<{ id: string; bucket_id: string }[]>`
    select id, bucket_id from item where container_id = ${large.id} order by random() limit ${2 * mostTouched}`
  await sql.end()
  const page = await client.send({ ...get(`/items?container_id=${large.id}&size=50`), token: ground.token })
  const half = Math.floor(items.length / 2)
  return {
    id: large.id,
    buckets: large.buckets,
    cursor: (JSON.parse(page) as { next_cursor: string }).next_cursor,
    items: items.slice(0, half).map(({ id }) => id),
    staying: items.slice(half),
    small: small.id,
  }
}

let count = 0
const rateOf = ({ client, container, token }: Side, make: Make, ms: number) =>
  client.rate(() => ({ ...make(container, ++count), token }), ms)

/** A daemon that has served for a while has compiled its code. Nothing moves before the buckets are read. */
async function warmUp(side: Side): Promise<void> {
  const makers = Object.values(reads)
  await rateOf(side, (container, n) => of(makers, n)(container, n), warmUpMs)
}

/** A line for each size but the first, which it is compared to: how long a request takes. */
async function compareSides(sides: readonly Side[], what: string, make: Make): Promise<Line[]> {
  const round = (side: Side) => async () => (connections * 1_000) / (await rateOf(side, make, roundMs))
  const [least, ...more] = await medians(sides.map(round), what in reads ? rounds.ofReads : rounds.ofChanges)
  return more.map((ours, at) => {
    const line = `growth: ${what}, of ${sides[at + 1]!.size} items against ${sides[0]!.size}`
    process.stderr.write(`${line}: ${(ours / least!).toFixed(2)}\n`)
    return ratioLine(line, { ours, bare: least!, unit: 'ms' }, 'at most', 1.3)
  })
}
