/**
 * The purge of a large workspace: many short transactions, no table lock above ROW
 * EXCLUSIVE, and nobody else disturbed. 20,000 rows here; 1,000,000 with SVC_FAULTS=full,
 * which prints what it saw: the longest transaction, and a neighbour's reads meanwhile.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PurgeOutcome, pursuePurge } from '../../src/core/areas/tenants/purge/purge.ts'
import { purgeOperations } from '../../src/core/contract/retention/operations.ts'
import { furnished, overdue } from '../kit/leaving-workspace.ts'
import { person } from '../kit/people.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const rows = isFull ? 1_000_000 : 20_000
/** Few of the rows: more than thirty tables refer to an account, so each takes as long as 25 others. */
const accounts = rows / 40

let ways: TwoWays
beforeAll(async () => {
  ways = await twoWays()
})
afterAll(() => ways.close())

interface Seen {
  readonly modes: Set<string>
  longestMs: number
}

/** Looks at the purge's transactions from outside until it is told to stop. */
async function watch(seen: Seen, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const looks = await ways.sql<{ mode: string | null; age_ms: number }[]>`
      select l.mode, extract(epoch from clock_timestamp() - a.xact_start)::float8 * 1000 as age_ms
      from pg_stat_activity a left join pg_locks l on l.pid = a.pid and l.locktype = 'relation'
      where a.datname = current_database() and a.application_name = 'svc test' and a.xact_start is not null`
    for (const { mode, age_ms } of looks) {
      if (mode) seen.modes.add(mode)
      seen.longestMs = Math.max(seen.longestMs, age_ms)
    }
    await pause(2)
  }
}

/** A neighbour's reads, one after the other; answers how long each took, in milliseconds. */
async function readAsNeighbour(token: string, isOver: () => boolean): Promise<number[]> {
  const took: number[] = []
  while (!isOver()) {
    const began = performance.now()
    const { status } = await ways.daemon.call('GET', '/api/v1/containers', { token })
    expect(status).toBe(200)
    took.push(performance.now() - began)
    await pause(2)
  }
  return took
}

const p99 = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0

test(`${rows} rows go in short transactions, while a neighbour reads`, { timeout: 180_000 }, async () => {
  const [leaving, neighbour] = [await furnished(ways), await furnished(ways)]
  const { token } = await person(ways.daemon, neighbour.id)
  await ways.sql`update tenant_quota set quota = 'api_requests_per_minute', ceiling = 0 where tenant_id = ${neighbour.id}`
  for (const table of ['audit_entry', 'outbox_event', 'label'])
    await fill(table, leaving.id, leaving.collectionId, (rows - accounts) / 3)
  await fill('account', leaving.id, leaving.collectionId, accounts)
  await overdue(ways, leaving)

  let isOver = false
  const idle = readAsNeighbour(token, () => isOver)
  await pause(isFull ? 3000 : 100)
  isOver = true
  const idleReads = await idle

  isOver = false
  const seen: Seen = { modes: new Set(), longestMs: 0 }
  const [watching, reading] = [watch(seen, () => isOver), readAsNeighbour(token, () => isOver)]
  const began = performance.now()
  let tries = 0
  for (let outcome: PurgeOutcome = 'settling'; outcome !== 'purged'; tries += 1) {
    expect(['settling', 'more']).toContain(outcome)
    outcome = await pursuePurge(ways.installation, leaving.id)
    ways.clock.pass(3600)
  }
  const tookMs = performance.now() - began
  isOver = true
  const [, reads] = await Promise.all([watching, reading])

  expect(
    [...seen.modes].filter((mode) => !['AccessShareLock', 'RowShareLock', 'RowExclusiveLock'].includes(mode)),
  ).toEqual([])
  expect(seen.modes).toContain('RowExclusiveLock')
  const { document } = await ways.call('recovery', purgeOperations.getPurgeCertificate, { tenantId: leaving.id })
  const removed = JSON.parse(document).removed as { count: number }[]
  expect(removed.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(rows)
  if (isFull)
    console.log(
      `purged ${rows} rows in ${Math.round(tookMs / 1000)} s and ${tries} tries; longest transaction seen ${Math.round(seen.longestMs)} ms; ` +
        `a neighbour's reads p99 ${p99(idleReads).toFixed(1)} ms idle, ${p99(reads).toFixed(1)} ms meanwhile`,
    )
})

async function fill(table: string, id: string, collection: string, count: number): Promise<void> {
  const { sql } = ways
  const many = sql`generate_series(1, ${count}::int) n`
  if (table === 'audit_entry')
    await sql`insert into audit_entry (tenant_id, id, action, actor_kind, via) select ${id}, gen_random_uuid(), 'filler', 'SYSTEM', 'JOB' from ${many}`
  else if (table === 'outbox_event')
    await sql`insert into outbox_event (tenant_id, id, type, body, seq) select ${id}, gen_random_uuid(), 'filler', repeat('x', 400), n from ${many}`
  else if (table === 'label')
    await sql`insert into label (tenant_id, id, container_id, name, name_fold, color_token) select ${id}, gen_random_uuid(), ${collection}, n::text, n::text, 'red' from ${many}`
  else
    await sql`insert into account (tenant_id, id, kind, state) select ${id}, gen_random_uuid(), 'SERVICE', 'ACTIVE' from ${many}`
}
