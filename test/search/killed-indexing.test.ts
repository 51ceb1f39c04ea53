/**
 * An indexer that is killed at each of its steps, again and again, while items change: in the end every document is that of
 * its item as it is, in one generation, and the job has succeeded. SVC_FAULTS=full: 20 kills.
 */
import { spawn } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { searchOperations } from '../../src/core/contract/search/operations.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { bareEnvironment } from '../kit/processes.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
/** How often each step comes: of all but the build there is one portion. */
const steps = { pending: 1, portion: 2, serving: 1, retired: 1 }
const deaths = Object.entries(steps).flatMap(([name, most]) =>
  (isFull ? [1, 1, 1, most, most] : [1]).map((hit) => `search.${name}=exit@${hit}`),
)

let own: TestInstallation
let tenantId: string
let containerId: string
beforeAll(async () => {
  own = await testInstallation()
  const made = await own.provision()
  tenantId = made.tenant.id
  containerId = made.collection_id
  await own.oracle`
    insert into item (tenant_id, id, container_id, type, title, rank, created_by)
    select ${tenantId}, uuidv7(), ${containerId}, 'TASK', 'Item number' || n, 'a' || lpad(n::text, 6, '0'), ${made.owner.account_id}
    from generate_series(1, 450) n`
}, 60_000)
afterAll(() => own.close())

function index(failpoint: string): Promise<{ said: string; signal: NodeJS.Signals | null }> {
  const env = { ...bareEnvironment(), ...own.env, SVC_TEST: '1', SVC_FAILPOINTS: failpoint }
  const runner = join(import.meta.dirname, '../kit/index-runner.ts')
  const child = spawn(process.execPath, [runner], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  return new Promise((resolve) => child.once('close', (_, signal) => resolve({ said, signal })))
}

/** Changes the titles of ten items, as a rule does. */
const change = (n: number) =>
  own.oracle.begin(async (sql) => {
    const changed = await sql<{ id: string }[]>`
    update item set title = 'Changed ' || ${n}::int where tenant_id = ${tenantId} and id in (
      select id from item where tenant_id = ${tenantId} order by random() limit 10) returning id`
    for (const { id } of changed)
      await sql`insert into search_pending (tenant_id, id, subject, subject_id) values (${tenantId}, ${randomUUIDv7()}, 'ITEM', ${id})`
  })

test('a build and a reindex end whole, whatever step the indexer is killed at', async () => {
  const { job_id: jobId } = await own.asRecovery(searchOperations.reindexSearch, { body: { tenant_id: tenantId } })
  for (const [n, death] of deaths.entries()) {
    await change(n)
    if (death.includes('retired')) expect((await index('')).said).toBe('at work done')
    if (death.includes('retired'))
      await own.asRecovery(searchOperations.reindexSearch, { body: { tenant_id: tenantId } })
    expect(await index(death), death).toEqual({ said: 'at work ', signal: 'SIGKILL' })
  }
  expect(await index('')).toEqual({ said: 'at work done', signal: null })

  const jobs = await own.oracle<
    { id: string; state: string }[]
  >`select id, state from job where kind = 'SEARCH_REINDEX'`
  expect(jobs.find(({ id }) => id === jobId)?.state).toBe('SUCCEEDED')
  expect(jobs.filter(({ state }) => state !== 'SUCCEEDED')).toEqual([])
  const states = await own.oracle<{ state: string }[]>`select state from search_index where tenant_id = ${tenantId}`
  expect(states.map(({ state }) => state)).toEqual(['SERVING'])
  expect(await own.oracle`select from search_pending where tenant_id = ${tenantId}`).toHaveLength(0)
  const wrong = await own.oracle`
    select i.id from item i left join search_document d on d.tenant_id = i.tenant_id and d.kind = 'ITEM' and d.id = i.id
    where i.tenant_id = ${tenantId} and (d.id is null or not d.words @@ (
      select string_agg(format('''%s=%s''', d.generation, w), ' & ')::tsquery from unnest(regexp_split_to_array(lower(i.title), ' ')) w))`
  expect(wrong).toHaveLength(0)
  const documents = await own.oracle`select from search_document where tenant_id = ${tenantId} and kind = 'ITEM'`
  expect(documents).toHaveLength(450)
})
