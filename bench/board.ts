/**
 * Boards: a page of items against one by statements that are not ours (board-bare.ts), the rows of positions that a
 * move writes, and lists of a workspace of a million items against those of one of ten thousand.
 */
import postgres from 'postgres'
import { perform, performForAnswer } from '../src/core/app/perform.ts'
import { itemOperations } from '../src/core/contract/items/operations.ts'
import { bucketOperations } from '../src/core/contract/structure/operations.ts'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import { compareSizes } from './bare-client.ts'
import { openBarePool } from './bare-pool.ts'
import { readItems } from './board-bare.ts'
import { type Boards, fillBoards } from './board-filler.ts'
import { type Ground, layGround } from './ground.ts'
import { anyOf } from './requests.ts'
import { compare, elapsedMs, median } from './rounds.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'

const board = { boards: 1, buckets: 20, itemsEach: 10_000 }
/** BENCH_BOARDS makes it smaller, to try the benchmark itself. */
const millions = { boards: Number(process.env['BENCH_BOARDS'] ?? 100), buckets: 20, itemsEach: 10_000 }
const rounds = { ofPages: 25, ofLists: 7 }
const pagesARound = 100
const moves = 101

type Query = Record<string, string | number>

export async function boards(): Promise<Line[]> {
  const small = await layGround()
  const large = await layGround()
  try {
    const [ten, million] = [await fillBoards(small, board), await fillBoards(large, millions)]
    return [
      ...(await pages(small, ten)),
      ...(await positions(small, ten)),
      ...(await lists({ ground: small, boards: ten }, { ground: large, boards: million })),
    ]
  } finally {
    await large.remove()
    await small.remove()
  }
}

/** All that the daemon does for a page, except HTTP. */
const page = ({ installation, actor }: Ground, query: Query) =>
  perform(installation, itemOperations.listItems, actor, { query: asSent(query) })
const asSent = (query: Query) => Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]))

const oneByOne = async (read: () => Promise<unknown>) => {
  for (let done = 0; done < pagesARound; done += 1) await read()
}
const manyPages = (ground: Ground, query: Query) => () => elapsedMs(() => oneByOne(() => page(ground, query)))

/** Pages of a bucket and of the container, one after another: what rules, schemas and cursors add to statements that are not ours. */
async function pages(ground: Ground, { collections: [only] }: Boards): Promise<Line[]> {
  const bare = openBarePool(ground.installation.address, 1)
  const lines: Line[] = []
  const queries = [
    ['bucket', only!.buckets[3]!],
    ['container', only!.id],
  ] as const
  for (const [of, id] of queries) {
    const query = { [`${of}_id`]: id, size: 50 }
    const bareRead = () => bare.lend((client) => readItems(client, ground.actor, of, id))
    compareSizes(of, (await page(ground, query)).body, await bareRead())
    const bareRound = () => elapsedMs(() => oneByOne(bareRead))
    // Warms up: the figures are for a daemon that has served for a while, not for the JavaScript compiler.
    for (let round = 0; round < 30; round += 1) {
      await manyPages(ground, query)()
      await bareRound()
    }
    const compared = await compare(manyPages(ground, query), bareRound, rounds.ofPages)
    const what = `board: ${pagesARound} × a page of 50 of a ${of}, ${board.itemsEach} items in ${board.buckets} buckets`
    lines.push(ratioLine(what, { ...compared, unit: 'ms' }, 'at most', 1.4))
  }
  await bare.close()
  return lines
}

/** How many ranks a move changes. */
async function positions(ground: Ground, { collections: [only] }: Boards): Promise<Line[]> {
  const { installation, actor, superuser } = ground
  const sql = postgres({ ...postgresOptions(superuser), max: 1 })
  const ranks = async (table: 'item' | 'bucket') => {
    const rows = await sql<{ id: string; rank: string; bucket_id: string }[]>`
      select id, rank ${table === 'item' ? sql`, bucket_id` : sql``} from ${sql(table)} where container_id = ${only!.id}`
    return rows
  }
  const written = async (table: 'item' | 'bucket', move: () => Promise<unknown>) => {
    const before = new Map((await ranks(table)).map(({ id, rank }) => [id, rank]))
    await move()
    return (await ranks(table)).filter(({ id, rank }) => before.get(id) !== rank).length
  }
  const items = await ranks('item')
  const moveItem = () => {
    const [{ id }, before] = [anyOf(items), anyOf(items)]
    const params = { itemId: id, body: { bucket_id: before.bucket_id, before_item_id: before.id } }
    // The neighbour may have been moved by then: the next one is tried.
    return performForAnswer(installation, itemOperations.moveItem, actor, params).catch(() => undefined)
  }
  const moveBucket = () =>
    performForAnswer(installation, bucketOperations.reorderBucket, actor, {
      containerId: only!.id,
      bucketId: only!.buckets[0]!,
      body: { before_bucket_id: anyOf(only!.buckets.slice(1)) },
    })
  try {
    return [
      ceilingLine(
        'board: rows of positions written by a move of an item',
        await medianOf(() => written('item', moveItem)),
        'rows',
        2,
      ),
      ceilingLine(
        'board: rows of positions written by a move of a bucket',
        await medianOf(() => written('bucket', moveBucket)),
        'rows',
        2,
      ),
    ]
  } finally {
    await sql.end()
  }
}

async function medianOf(act: () => Promise<number>): Promise<number> {
  const figures: number[] = []
  for (let n = 0; n < moves; n += 1) figures.push(await act())
  return median(figures)
}

export interface Side {
  readonly ground: Ground
  readonly boards: Boards
}

/** The same lists of both workspaces: each list's first page and the next one. */
async function lists(small: Side, large: Side): Promise<Line[]> {
  const queries: [string, (boards: Boards['collections'][number]) => Query][] = [
    ['of the workspace', () => ({})],
    ['of the workspace, open', () => ({ state: 'OPEN' })],
    ['of a container', ({ id }) => ({ container_id: id })],
    ['of a container, done', ({ id }) => ({ container_id: id, state: 'DONE' })],
    ['of a bucket', ({ buckets }) => ({ bucket_id: buckets[5]! })],
    ['of a label', ({ labelId }) => ({ label_id: labelId })],
  ]
  const total = millions.boards * millions.itemsEach
  const lines: Line[] = []
  for (const [of, queryFor] of queries) {
    const [few, many] = await Promise.all([small, large].map((side) => rounded(side, queryFor)))
    const compared = await compare(many!, few!, rounds.ofLists)
    const what = `board: ${pagesARound} × two pages ${of}, ${total} items in the workspace against ${board.itemsEach}`
    lines.push(ratioLine(what, { ...compared, unit: 'ms' }, 'at most', 1.5))
  }
  return lines
}

async function rounded(
  { ground, boards: { collections } }: Side,
  queryFor: (board: Boards['collections'][number]) => Query,
): Promise<() => Promise<number>> {
  const query: Query = { ...queryFor(collections[Math.floor(collections.length / 2)]!), size: 50 }
  const { body } = await page(ground, query)
  const { next_cursor } = JSON.parse(body ?? '') as { next_cursor: string }
  const [first, next] = [manyPages(ground, query), manyPages(ground, { ...query, cursor: next_cursor })]
  return async () => (await first()) + (await next())
}
