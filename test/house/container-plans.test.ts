/**
 * What a container has does not slow down a call that shows or changes a part of it. Each statement is run and its rows
 * are counted, so that no clock is involved: none reads more rows of a long table than some pages have. Beside 50 small
 * boards there are two containers of 20,000 items (1,000,000 with SVC_FAULTS=full): one with buckets, where the last
 * bucket has all done items, and one without.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recorded } from '../../bench/recording.ts'
import { perform, type Request } from '../../src/core/app/perform.ts'
import { readBelongings, removeBelongings } from '../../src/core/areas/items/trash/belongings.ts'
import type { Operation } from '../../src/core/contract/operation.ts'
import { type OperationId, operations } from '../../src/core/contract/operations.ts'
import { scopes } from '../../src/core/contract/vocabulary.ts'
import { asTenant } from '../../src/core/kernel/database/roles.ts'
import type { Statement } from '../../src/core/kernel/database/statement.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import type { AccountActor } from '../../src/core/kernel/values/actor.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { looksAt, nodesOf, type PlanMode, type RunPlan, runPlans } from './run-plans.ts'
import { sentStatements } from './sent-statements.ts'

const items = process.env['SVC_FAULTS'] === 'full' ? 1_000_000 : 20_000
const small = { boards: 50, items: 40 }
/** A board of 8 buckets reads 51 items of each. */
const mostRows = 1_000
const long = new Set(['item', 'item_label', 'item_field_value'])

let own: TestInstallation
let actor: AccountActor
const ids = Object.fromEntries(
  ['large', 'flat', 'small', 'rare', 'frequent'].map((name) => [name, randomUUIDv7()]),
) as Record<'large' | 'flat' | 'small' | 'rare' | 'frequent', string>
/** Of the large container, from the left; the last but one has the done items, the last one a few. */
let buckets: string[]
let flatBucket: string
let some: { large: string[]; flat: string[] }

beforeAll(async () => {
  own = await testInstallation()
  const { tenant } = await own.provision()
  const tenantId = tenant.id
  const [account] = await own.oracle<{ id: string }[]>`select id from account where tenant_id = ${tenantId}`
  actor = {
    kind: 'ACCOUNT',
    accountId: account!.id,
    tenantId,
    credentialId: randomUUIDv7(),
    bearerId: randomUUIDv7(),
    sessionId: null,
    scopes,
    role: 'OWNER',
    isOperator: false,
  }
  await fill(tenantId, account!.id)
  const found = await own.oracle<{ container_id: string; id: string }[]>`
    select container_id, id from bucket where tenant_id = ${tenantId} order by rank`
  buckets = found.filter(({ container_id }) => container_id === ids.large).map(({ id }) => id)
  flatBucket = found.find(({ container_id }) => container_id === ids.flat)!.id
  const someOf = async (containerId: string, bucketId: string | null) => {
    const rows = await own.oracle<{ id: string }[]>`
      select id from item where container_id = ${containerId} and bucket_id is not distinct from ${bucketId} limit 20`
    return rows.map(({ id }) => id)
  }
  some = { large: await someOf(ids.large, buckets[1]!), flat: await someOf(ids.flat, null) }
}, 600_000)
afterAll(() => own.close())

async function fill(tenantId: string, accountId: string): Promise<void> {
  await own.oracle.begin(async (sql) => {
    // Without the checks of foreign keys: the rows agree because they are made of the same ids.
    await sql`set local session_replication_role = replica`
    await sql`
      create temp table made on commit drop as
      select id, 8 as buckets, ${small.items}::int as items, false as is_large from (values (${ids.small}::uuid)) v (id)
      union all select uuidv7(), 8, ${small.items}::int, false from generate_series(2, ${small.boards}::int)
      union all select ${ids.large}::uuid, 8, ${items}::int, true
      union all select ${ids.flat}::uuid, 0, ${items}::int, true`
    await sql`
      insert into container (tenant_id, id, kind, parent_id, name, rank)
      select ${tenantId}, m.id, 'COLLECTION', h.id, 'Board', 'a0' from made m, container h where h.tenant_id = ${tenantId} and h.kind = 'HUB'`
    // One bucket more than the items are spread over: it has a few.
    await sql`
      insert into bucket (tenant_id, id, container_id, name, name_fold, rank, is_done_bucket)
      select ${tenantId}, uuidv7(), id, 'Bucket ' || n, 'bucket ' || n, 'a' || n, n = 7 and buckets = 8 from made, generate_series(0, buckets) n`
    await sql`
      insert into item (tenant_id, id, container_id, bucket_id, type, title, state, completed_at, rank, created_by)
      select ${tenantId}, uuidv7(), m.id, b.id, 'TASK', 'Item ' || n, case when b.is_done_bucket then 'DONE' else 'OPEN' end,
             case when b.is_done_bucket then now() end, 'g' || lpad(n::text, 7, '0'), ${accountId}
      from made m cross join lateral generate_series(1, m.items) n
      left join bucket b on b.container_id = m.id and m.buckets > 0 and b.rank = 'a' || n % 8 order by m.id = ${ids.flat}, n`
    await sql`
      insert into item (tenant_id, id, container_id, bucket_id, type, title, rank, created_by)
      select ${tenantId}, uuidv7(), m.id, b.id, 'TASK', 'One of a few', 'b0' || n, ${accountId}
      from made m join bucket b on b.container_id = m.id and b.rank = 'a' || m.buckets, generate_series(1, 3) n where m.is_large`
    await sql`
      insert into label (tenant_id, id, container_id, name, name_fold, color_token)
      values (${tenantId}, ${ids.rare}, ${ids.large}, 'Rare', 'rare', 'red'), (${tenantId}, ${ids.frequent}, ${ids.large}, 'Frequent', 'frequent', 'red')`
    await sql`insert into item_label (tenant_id, item_id, label_id) select tenant_id, id, ${ids.frequent} from item where container_id = ${ids.large}`
    await sql`insert into item_label (tenant_id, item_id, label_id) select tenant_id, id, ${ids.rare} from item where container_id = ${ids.large} order by id limit 3`
    await sql`
      insert into bucket_tally (tenant_id, bucket_id, items)
      select tenant_id, bucket_id, count(*) from item where tenant_id = ${tenantId} and bucket_id is not null group by 1, 2`
    await sql`insert into item_tally (tenant_id, items) select tenant_id, count(*) from item where tenant_id = ${tenantId} group by 1`
    await sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${tenantId}, 'items', 0)`
    // As a guest, the caller sees the large one, and has nothing else to see.
    await sql`insert into membership (tenant_id, id, account_id, container_id, role) values (${tenantId}, uuidv7(), ${accountId}, ${ids.large}, 'VIEWER')`
  })
  await own.oracle`vacuum analyze`
}

/** How many rows each scan of a long table reads, where they are more than some pages have. */
const tooMany = (plan: RunPlan): string[] =>
  nodesOf(plan)
    .filter((node) => long.has(node['Relation Name'] ?? '') && looksAt(node) > mostRows)
    .map((node) => `${node['Node Type']} ${node['Index Name'] ?? node['Relation Name']}: ${looksAt(node)} rows`)

/** A call that reads has the plan that is kept, whatever its values are; a change may have either kind. */
const modesOf = ({ method }: Operation): readonly PlanMode[] =>
  method === 'GET' ? ['force_generic_plan'] : ['force_custom_plan', 'force_generic_plan']

/** What the statements of a call read too much of. */
function found(id: OperationId, request: Request, as = actor): Promise<string[]> {
  const operation: Operation = operations[id]
  return offencesOf((it) => perform(it, operation, as, request), modesOf(operation))
}

/** An insert would violate its key here, and reads nothing long. */
async function offencesOf(work: (it: Installation) => Promise<unknown>, modes: readonly PlanMode[]): Promise<string[]> {
  const sent = sentStatements(await recorded(own.installation, work))
  const read = sent.filter(({ statement }) => !/\binsert into\b/.test(statement.text))
  expect(read).not.toEqual([])
  const offences: string[] = []
  for (const one of read)
    for (const plan of await runPlans(own.oracle, modes, one))
      offences.push(
        ...tooMany(plan).map((offence) => `${offence} in ${one.statement.text.replace(/\s+/g, ' ').trim()}`),
      )
  return offences
}

const page = (query: Record<string, string>): Request => ({ query: { size: '50', ...query } })
const board = (containerId: string, query: Record<string, string> = {}): Request => ({
  params: { containerId },
  query: { size: '50', ...query },
})

const reads: readonly (readonly [string, OperationId, () => Request])[] = [
  ['the buckets', 'listBuckets', () => ({ params: { containerId: ids.large } })],
  ['the workspace', 'listItems', () => page({})],
  ['the workspace, open', 'listItems', () => page({ state: 'OPEN' })],
  ['the container', 'listItems', () => page({ container_id: ids.large })],
  ['a container that was filled later', 'listItems', () => page({ container_id: ids.flat })],
  ['the container, done', 'listItems', () => page({ container_id: ids.large, state: 'DONE' })],
  ['no bucket', 'listItems', () => page({ container_id: ids.flat, bucket_id: 'none' })],
  ['no bucket, done', 'listItems', () => page({ container_id: ids.flat, bucket_id: 'none', state: 'DONE' })],
  ['a bucket', 'listItems', () => page({ bucket_id: buckets[3]! })],
  ['a bucket of open items, done', 'listItems', () => page({ bucket_id: buckets[3]!, state: 'DONE' })],
  ['a bucket of done items, open', 'listItems', () => page({ bucket_id: buckets[7]!, state: 'OPEN' })],
  ['a rare label', 'listItems', () => page({ label_id: ids.rare })],
  ['a frequent label', 'listItems', () => page({ label_id: ids.frequent })],
  ['a frequent label, in a bucket', 'listItems', () => page({ label_id: ids.frequent, bucket_id: buckets[3]! })],
  ['the board', 'getBoard', () => board(ids.large)],
  ['the board, open', 'getBoard', () => board(ids.large, { state: 'OPEN' })],
  ['the board, done', 'getBoard', () => board(ids.large, { state: 'DONE' })],
  ['the board without buckets', 'getBoard', () => board(ids.flat)],
  ['the board without buckets, done', 'getBoard', () => board(ids.flat, { state: 'DONE' })],
  ['a small board beside it', 'getBoard', () => board(ids.small)],
  ['an item', 'getItem', () => ({ params: { itemId: some.large[0]! } })],
]

const to = (itemId: string, body: object): Request => ({ params: { itemId }, body })
const changes: readonly (readonly [string, OperationId, () => Request])[] = [
  ['a new item', 'createItem', () => ({ body: { container_id: ids.large, title: 'New' } })],
  [
    'a new item in no bucket',
    'createItem',
    () => ({ body: { container_id: ids.flat, title: 'New', bucket_id: null } }),
  ],
  ['a new title', 'updateItem', () => to(some.large[0]!, { title: 'Another' })],
  ['a move to the end', 'moveItem', () => to(some.large[1]!, { bucket_id: buckets[4] })],
  [
    'a move before an item',
    'moveItem',
    () => to(some.large[2]!, { bucket_id: buckets[1], before_item_id: some.large[9] }),
  ],
  ['a move in no bucket', 'moveItem', () => to(some.flat[1]!, { bucket_id: null, before_item_id: some.flat[9] })],
  ['a move to the end of no bucket', 'moveItem', () => to(some.flat[2]!, { bucket_id: null })],
  ['a move to another container', 'moveItem', () => to(some.large[3]!, { container_id: ids.flat, bucket_id: null })],
  ['a completion', 'completeItem', () => ({ params: { itemId: some.large[4]! } })],
  ['a deletion', 'deleteItem', () => ({ params: { itemId: some.large[5]! } })],
  [
    'a bucket renamed',
    'updateBucket',
    () => ({ params: { containerId: ids.large, bucketId: buckets[2]! }, body: { name: 'Renamed' } }),
  ],
  [
    'a bucket deleted, whose items go to a large one',
    'deleteBucket',
    () => ({ params: { containerId: ids.large, bucketId: buckets[8]! } }),
  ],
  [
    'the only bucket deleted, whose items go to no bucket',
    'deleteBucket',
    () => ({ params: { containerId: ids.flat, bucketId: flatBucket } }),
  ],
]

describe(`beside ${items} items of a container`, () => {
  test.each([...reads, ...changes])('%s (%s)', async (_, id, request) => {
    expect(await found(id, request())).toEqual([])
  })

  test('the removal of an item: what belongs to it', async () => {
    const remove = (it: Installation) =>
      it.transaction({ kind: 'SYSTEM', job: 'remove_purged' }, { tenantId: actor.tenantId }, async ({ tx }) =>
        removeBelongings(tx, await readBelongings(tx, 'item'), actor.tenantId, [some.flat[3]!]),
      )
    expect(await offencesOf(remove, ['force_custom_plan', 'force_generic_plan'])).toEqual([])
  })

  test.each([
    ['a member', { role: 'MEMBER' }],
    ['a guest', { role: 'VIEWER', isGuest: true }],
  ] as const)('the items, a board and an item, for %s', async (_, caller) => {
    const as = { ...actor, ...caller }
    expect(await found('listItems', page({}), as)).toEqual([])
    expect(await found('listItems', page({ state: 'DONE' }), as)).toEqual([])
    expect(await found('getBoard', board(ids.large), as)).toEqual([])
    expect(await found('getItem', { params: { itemId: some.large[0]! } }, as)).toEqual([])
  })

  test('a page behind the first one', async () => {
    for (const query of [{ container_id: ids.large }, { bucket_id: buckets[3]! }, { label_id: ids.frequent }]) {
      const { body } = await perform(own.installation, operations.listItems, actor, page(query))
      const { next_cursor } = JSON.parse(body ?? '') as { next_cursor: string }
      expect(await found('listItems', page({ ...query, cursor: next_cursor }))).toEqual([])
    }
  })

  test('and a statement that reads all of it is found', async () => {
    const statement: Statement = {
      text: 'select max(title) from item where tenant_id = $1 and container_id = $2',
      values: [actor.tenantId, ids.large],
      mode: 'plan',
    }
    const sent = { opening: asTenant(actor.tenantId), statement }
    const plans = await runPlans(own.oracle, ['force_custom_plan', 'force_generic_plan'], sent)
    expect(plans.map((plan) => tooMany(plan).length)).toEqual([1, 1])
  })
})
