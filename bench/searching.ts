/**
 * The search in a workspace of a million items: how long callers wait for a rare word and for one that every item has; after
 * how long an item is found, beside two hundred new ones a second; and what being found costs a creation: the same creations
 * where the database keeps no note of what is to be indexed.
 * BENCH_ITEMS makes the million smaller, to try the benchmark itself. Targets: work on boards, 9.
 */
import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { indexAll } from '../src/core/areas/search/indexer.ts'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import { type Boards, fillBoards } from './board-filler.ts'
import { type Ground, layGround } from './ground.ts'
import { p99 } from './neighbour.ts'
import { startService } from './processes.ts'
import { anyOf, type Client, openClient, type SignedRequest } from './requests.ts'
import { compare, elapsedMs } from './rounds.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'

const items = Number(process.env['BENCH_ITEMS'] ?? 1_000_000)
const mostOnBoard = 50_000
const callers = 4
const secondsEach = 8
const warmUpSeconds = 2
const writesASecond = 200
const writingSeconds = 20
/** One of so many new items is looked for. */
const lookedFor = 10
const lookEachMs = 50
const creations = 300
const rounds = 7

export async function searching(): Promise<Line[]> {
  const ground = await layGround()
  try {
    const count = Math.max(2, Math.ceil(items / mostOnBoard))
    const boards = await fillBoards(ground, { boards: count, buckets: 5, itemsEach: Math.ceil(items / count) })
    await makeDocuments(ground)
    const daemon = await startService(ground.environment)
    const client = openClient(daemon.address, callers)
    try {
      const lines = [...(await waits(client, ground)), await untilFound(client, ground, boards)]
      return [...lines, await costOfAWrite(client, ground, boards)]
    } finally {
      await client.close()
      await daemon.stop()
    }
  } finally {
    await ground.remove()
  }
}

const superuser = (ground: Ground) =>
  postgres({ ...postgresOptions(ground.superuser), max: 1, onnotice: () => undefined })

/** The filler made the workspace one that has its documents. */
async function makeDocuments(ground: Ground): Promise<void> {
  const sql = superuser(ground)
  try {
    await sql`delete from search_index where tenant_id = ${ground.tenantId}`
    const took = await elapsedMs(() => indexAll(ground.installation))
    process.stderr.write(`search: ${Math.round(items / (took / 1000))} documents a second\n`)
    await sql`vacuum analyze search_document`
  } finally {
    await sql.end()
  }
}

const searchFor = (query: string, { token }: Ground): SignedRequest => ({
  ...{ method: 'POST', path: '/search', body: { query }, token },
})

const foundIn = (answer: string): number => (JSON.parse(answer) as { data: unknown[] }).data.length

async function waits(client: Client, ground: Ground): Promise<Line[]> {
  const latencies = async (word: () => string, seconds = secondsEach) => {
    const took: number[] = []
    const caller = async (until: number) => {
      while (performance.now() < until)
        took.push(
          await elapsedMs(async () => {
            const query = word()
            if (foundIn(await client.send(searchFor(query, ground))) === 0) throw new Error(`${query} was not found`)
          }),
        )
    }
    const until = performance.now() + seconds * 1000
    await Promise.all(Array.from({ length: callers }, () => caller(until)))
    return p99(took)
  }
  const onEach = Math.min(items, mostOnBoard)
  const rareWord = () => `"${1 + Math.floor(Math.random() * (onEach / 2))}"`
  await latencies(rareWord, warmUpSeconds) // the daemon's first requests are slower
  const rare = await latencies(rareWord)
  const common = await latencies(() => 'item')
  return [
    ceilingLine(`search: a rare word among ${items} items, p99 of ${callers} callers`, rare, 'ms', 60),
    ceilingLine(`search: a word of each of ${items} items, p99 of ${callers} callers`, common, 'ms', 300),
  ]
}

const creation = ({ collections }: Boards, title: string, token: string): SignedRequest => ({
  ...{ method: 'POST', path: '/items', body: { container_id: anyOf(collections).id, title }, token },
})

async function untilFound(client: Client, ground: Ground, boards: Boards): Promise<Line> {
  const took: number[] = []
  const create = async (n: number) => {
    const word = `novelty${n}`
    await client.send(creation(boards, `A ${word}`, ground.token))
    if (n % lookedFor !== 0) return
    const began = performance.now()
    while (foundIn(await client.send(searchFor(word, ground))) === 0) await pause(lookEachMs)
    took.push(performance.now() - began)
  }
  const all: Promise<void>[] = []
  const began = performance.now()
  for (let n = 0; n < writesASecond * writingSeconds; ) {
    for (const due = ((performance.now() - began) / 1000) * writesASecond; n < due; n += 1) all.push(create(n))
    await pause(1)
  }
  await Promise.all(all)
  const what = `search: until an item is found, beside ${writesASecond} new ones a second, the slowest of ${took.length}`
  return ceilingLine(what, Math.max(...took), 'ms', 2_000)
}

/** In turns: with the note, and where a trigger of the database drops it. */
async function costOfAWrite(client: Client, ground: Ground, boards: Boards): Promise<Line> {
  const sql = superuser(ground)
  try {
    await sql`create function no_note() returns trigger language plpgsql as 'begin return null; end'`
    await sql`create trigger no_note before insert on search_pending for each row execute function no_note()`
    const create = async () => {
      for (let n = 0; n < creations; n += 1) await client.send(creation(boards, `Paid ${n}`, ground.token))
    }
    const round = (keeps: 'enable' | 'disable') => async () => {
      await sql.unsafe(`alter table search_pending ${keeps} trigger no_note`)
      return creations / ((await elapsedMs(create)) / 1000)
    }
    const { ours, bare } = await compare(round('disable'), round('enable'), rounds)
    return ratioLine('search: creations, against those that nothing finds', { ours, bare, unit: '/s' }, 'at least', 0.9)
  } finally {
    await sql.end()
  }
}
