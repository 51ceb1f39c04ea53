/**
 * Queries and changes in bulk, in a workspace of a million items and in one of ten thousand: a query of five conditions
 * against a statement that is not ours (board-bare.ts), and its p99 in the one against the other; filters that nothing leads
 * to, and what they take from another workspace; two hundred items in one call against two hundred calls.
 * BENCH_ITEMS makes the million smaller, to try the benchmark itself. Targets: work on boards, 9.
 */
import { setTimeout as pause } from 'node:timers/promises'
import autocannon from 'autocannon'
import { perform } from '../src/core/app/perform.ts'
import { operations } from '../src/core/contract/operations.ts'
import { compareSizes } from './bare-client.ts'
import { openBarePool } from './bare-pool.ts'
import type { Side } from './board.ts'
import { queryItems } from './board-bare.ts'
import { type Boards, fillBoards } from './board-filler.ts'
import { addWorkspace, layGround } from './ground.ts'
import { keyItems } from './key-filler.ts'
import { p99, startNeighbour } from './neighbour.ts'
import { startService } from './processes.ts'
import { type Client, headersOf, openClient, type Request } from './requests.ts'
import { compare, elapsedMs, median } from './rounds.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'

const many = Number(process.env['BENCH_ITEMS'] ?? 1_000_000)
const few = Math.min(10_000, many)
const mostOnBoard = 50_000
const rounds = 9
const queriesARound = 50
/** The bare statement takes half a second of a million items. */
const bareARound = 5
const atOnce = 32
const secondsEach = 8
const waitRounds = 3
const worstPages = 20
const worstClients = 4
const inBulk = 200

export async function querying(): Promise<Line[]> {
  const sides: Side[] = []
  try {
    for (const items of [many, few]) sides.push(await openSide(items))
    const [large, small] = sides as [Side, Side]
    return [
      ...(await againstBare(large)),
      ...(await waits(large, small)),
      ...(await worst(large)),
      ...(await bulk(small)),
    ]
  } finally {
    for (const { ground } of sides) await ground.remove()
  }
}

async function openSide(items: number): Promise<Side> {
  const ground = await layGround()
  const count = Math.max(2, Math.ceil(items / mostOnBoard))
  const boards = await fillBoards(ground, { boards: count, buckets: 5, itemsEach: Math.ceil(items / count) })
  await keyItems(ground)
  return { ground, boards }
}

/** The label is one board's: a quarter of its items have it, and a fifth of those points; these are done. */
const leastPoints = 100
const titled = 'item 1'
const since = '2020-01-01'
const query = ({ collections: [first] }: Boards) => ({
  filter: {
    all: [
      { field: 'state', op: 'is', value: 'DONE' },
      { field: 'label', op: 'has_any', value: [first!.labelId] },
      { field: 'custom.points', op: 'gte', value: leastPoints },
      { field: 'title', op: 'starts_with', value: titled },
      { field: 'created', op: 'after', value: since },
    ],
  },
  size: 50,
})

/** One after another, without HTTP. */
async function againstBare({ ground, boards }: Side): Promise<Line[]> {
  const pool = openBarePool(ground.installation.address, 1)
  const body = query(boards)
  const labelId = boards.collections[0]!.labelId
  const ours = () => perform(ground.installation, operations.queryItems, ground.actor, { body })
  const theirs = () => pool.lend((client) => queryItems(client, ground, { labelId, leastPoints, titled, since }))
  compareSizes('a query', (await ours()).body, await theirs())
  const msOf = (read: () => Promise<unknown>, times: number) => async () => {
    const took = await elapsedMs(async () => {
      for (let n = 0; n < times; n += 1) await read()
    })
    return took / times
  }
  const [svc, bare] = [msOf(ours, queriesARound), msOf(theirs, bareARound)]
  for (let n = 0; n < 10; n += 1) {
    await svc()
    await bare()
  }
  const took = await compare(svc, bare, rounds)
  await pool.close()
  const rates = { ours: 1000 / took.ours, bare: 1000 / took.bare, unit: '/s' }
  return [ratioLine(`query: five conditions on ${many} items, against bare`, rates, 'at least', 0.5)]
}

/** As callers wait for it, through daemons of the same machine, in turns. */
async function waits(large: Side, small: Side): Promise<Line[]> {
  const daemons = [large, small].map(({ ground }) => startService(ground.environment, '--role', 'api'))
  try {
    const waited = (side: Side, at: number) => async () => {
      const request = { method: 'POST', path: '/items:query', body: query(side.boards) } as const
      const { latency, non2xx, errors } = await autocannon({
        ...{ url: `${(await daemons[at]!).address}/api/v1${request.path}`, connections: atOnce, duration: secondsEach },
        ...{ method: 'POST', headers: headersOf(request, side.ground.token), body: JSON.stringify(request.body) },
      })
      if (non2xx + errors > 0) throw new Error(`${non2xx + errors} queries failed`)
      return latency.p99
    }
    const compared = await compare(waited(large, 0), waited(small, 1), waitRounds)
    const what = `query: p99 at ${atOnce} connections, of ${many} items against ${few}`
    return [ratioLine(what, { ...compared, unit: 'ms' }, 'at most', 2)]
  } finally {
    for (const daemon of daemons) await (await daemon).stop()
  }
}

/** Nothing leads to what they ask for, and nearly nothing fits. */
const worstFilters = ({ collections }: Boards): Record<string, object> => ({
  'a word that no title has': { field: 'title', op: 'contains', value: 'nowhere' },
  'no label of any board, and no title': {
    all: [
      { field: 'label', op: 'has_none', value: collections.map(({ labelId }) => labelId) },
      { not: { field: 'title', op: 'starts_with', value: 'item' } },
    ],
  },
  'fifty words that no title has': {
    any: Array.from({ length: 50 }, (_, n) => ({ field: 'title', op: 'contains', value: `nowhere ${n}` })),
  },
})

async function worst({ ground, boards }: Side): Promise<Line[]> {
  const other = await addWorkspace(ground, 'neighbour')
  const daemon = await startService(ground.environment, '--role', 'api')
  const client = openClient(daemon.address, worstClients)
  const neighbour = await startNeighbour(daemon.address, other)
  try {
    const lines: Line[] = []
    const filters = Object.entries(worstFilters(boards))
    for (const [what, filter] of filters) {
      const took = await pagesOf(client, ground.token, filter)
      lines.push(ceilingLine(`query: ${what}, a page of ${many} items`, median(took), 'ms', 150))
    }
    const asked = filters.map(([, filter]) => ({ ...queryFor(filter), token: ground.token }))
    let n = 0
    const press = () => client.rate(() => asked[n++ % asked.length]!, secondsEach * 1000)
    const compared = {
      ...(await compare(
        async () => p99(await neighbour.askUntil(press())),
        async () => p99(await neighbour.askUntil(pause(secondsEach * 1000))),
        waitRounds,
      )),
      unit: 'ms',
    }
    const what = `query: another workspace's reads beside ${worstClients} who send these, p99 against alone`
    return [...lines, ratioLine(what, compared, 'at most', 2)]
  } finally {
    await neighbour.end()
    await client.close()
    await daemon.stop()
  }
}

const queryFor = (filter: object, cursor?: string): Request => ({
  method: 'POST',
  path: '/items:query',
  body: { filter, size: 50, ...(cursor ? { cursor } : {}) },
})

/** How long the first pages took, each from where the one before it ended. */
async function pagesOf(client: Client, token: string, filter: object): Promise<number[]> {
  const took: number[] = []
  let cursor: string | undefined
  while (took.length < worstPages) {
    took.push(
      await elapsedMs(async () => {
        const page = await client.send({ ...queryFor(filter, cursor), token })
        cursor = (JSON.parse(page) as { next_cursor: string | null }).next_cursor ?? undefined
      }),
    )
  }
  return took
}

/** One client changes titles, item by item or many at once. */
async function bulk({ ground, boards }: Side): Promise<Line[]> {
  const daemon = await startService(ground.environment, '--role', 'api')
  const client = openClient(daemon.address, 1)
  const { token } = ground
  try {
    const page = await client.send({
      ...{ method: 'GET', path: `/items?container_id=${boards.collections[0]!.id}&size=${inBulk}`, token },
    })
    const ids = (JSON.parse(page) as { data: { id: string }[] }).data.map(({ id }) => id)
    let n = 0
    const title = () => `Title ${n++}`
    const single = () =>
      elapsedMs(async () => {
        for (const id of ids)
          await client.send({ method: 'PATCH', path: `/items/${id}`, body: { title: title() }, token })
      })
    const inOneCall = () =>
      elapsedMs(() => {
        const body = { items: ids.map((id) => ({ id })), actions: [{ action: 'update', title: title() }] }
        return client.send({ method: 'POST', path: '/items:bulk', body, token })
      })
    const { ours, bare } = await compare(inOneCall, single, rounds)
    const rates = { ours: (1000 * ids.length) / ours, bare: (1000 * ids.length) / bare, unit: '/s' }
    return [ratioLine(`bulk: ${ids.length} items changed in one call, against a call for each`, rates, 'at least', 3)]
  } finally {
    await client.close()
    await daemon.stop()
  }
}
