/**
 * What a search finds and what its index says are looked up by id, also while PostgreSQL knows nothing of the tables.
 *
 * 1,010 items with comments that were never analyzed, and the plan that each connection keeps. Joined as it chose, PostgreSQL
 * compared each item with each result: pages took 0.7 s, 10,000 candidates 8.6 s, and a turn of the indexer 0.5 s. Spec: Work on boards, 2, N4; docs/decisions/0522.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recorded } from '../../bench/recording.ts'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { takeTurn } from '../../src/core/areas/search/indexing.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { looksAt, nodesOf, runPlans } from '../house/run-plans.ts'
import { sentStatements } from '../house/sent-statements.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import { adminOf } from '../kit/events.ts'
import { type Indexing, openIndexing } from './indexing.ts'

const many = 1_010
let desk: Desk
let indexing: Indexing
beforeAll(async () => {
  desk = await openDesk()
  indexing = await openIndexing(desk.daemon)
  const { collectionId } = await desk.shelf(1)
  const { sql } = desk.daemon.db
  for (const table of ['item', 'comment', 'search_document'])
    await sql.unsafe(`alter table ${table} set (autovacuum_enabled = false)`)
  const { accountId } = desk.people.OWNER
  await sql`
    insert into item (tenant_id, id, container_id, type, title, rank, created_by, without_keys)
    select ${desk.tenantId}, uuidv7(), ${collectionId}, 'TASK', 'Lemming ' || n, 'a' || lpad(n::text, 6, '0'), ${accountId}, false
    from generate_series(1, ${many}) n`
  await sql`
    insert into comment (tenant_id, id, item_id, body, created_by)
    select tenant_id, uuidv7(), id, 'Lemming', created_by from item where container_id = ${collectionId}`
  await queue(many)
  await indexing.catchUp()
})
afterAll(async () => {
  await indexing.close()
  await desk.close()
})

/** So many items and their comments are to be written. */
async function queue(count: number): Promise<void> {
  await desk.daemon.db.sql`
    insert into search_pending (tenant_id, id, subject, subject_id)
    select tenant_id, uuidv7(), case when n = 1 then 'ITEM' else 'COMMENT' end, case when n = 1 then item_id else id end
    from (select * from comment order by id limit ${count}) k, generate_series(1, 2) n`
}

/** Steps that look at more rows than so many. */
async function steps(work: (installation: Installation) => Promise<unknown>, most: number) {
  const sent = sentStatements(await recorded(indexing.installation, work))
  const read = sent.filter(({ statement: { text } }) => /search_ids\(|\blateral\b/.test(text))
  const found: string[] = []
  for (const one of read) {
    const [plan] = await runPlans(desk.daemon.db.sql, ['force_generic_plan'], one)
    const large = nodesOf(plan!).filter((node) => looksAt(node) > most)
    found.push(
      ...large.map(
        (node) => `${node['Node Type']} ${node['Index Name'] ?? ''}: ${looksAt(node)} in ${one.statement.text}`,
      ),
    )
  }
  return { read: read.length, found }
}

test('no step of a search looks at more rows than there are candidates', async () => {
  const actor = { ...adminOf(desk.tenantId), accountId: desk.people.MEMBER.accountId, role: 'MEMBER' as const }
  const body = { query: 'lemming', size: 50, archived: 'EXCLUDE' as const }
  const search = async (installation: Installation) => {
    const { data } = await performForAnswer(installation, operations.search, actor, { body } as never)
    expect(data).toHaveLength(50)
  }
  expect(await steps(search, 2 * many)).toEqual({ read: 2, found: [] })
})

test('no step of a turn of the indexer looks at more rows than a turn writes', async () => {
  await queue(50)
  const turn = (installation: Installation) => takeTurn(installation, desk.tenantId)
  expect(await steps(turn, 100)).toEqual({ read: 3, found: [] })
})
