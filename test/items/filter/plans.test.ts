/** What leads to the items of a query is an index, and a page reads little beside 20,000 others. Spec: Work on boards, 9. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recorded } from '../../../bench/recording.ts'
import { performForAnswer } from '../../../src/core/app/perform.ts'
import { numberKey, titleField } from '../../../src/core/areas/items/filter/keys.ts'
import { operations } from '../../../src/core/contract/operations.ts'
import { looksAt, nodesOf, runPlans } from '../../house/run-plans.ts'
import { sentStatements } from '../../house/sent-statements.ts'
import { type FilterWorld, filterWorld } from './filter-world.ts'

const many = 20_000
let world: FilterWorld
let label: string
let collectionId: string
beforeAll(async () => {
  world = await filterWorld(10)
  const { oracle } = world.own
  const { tenantId } = world
  const [plain] = await oracle<{ id: string }[]>`
    select id from container c where kind = 'COLLECTION' and not exists (select from custom_field f where f.collection_id = c.id)`
  collectionId = plain?.id ?? ''
  label = randomUUIDv7()
  await oracle`
    insert into item (tenant_id, id, container_id, type, title, rank, created_by, without_labels, without_values, without_keys)
    select ${tenantId}, uuidv7(), ${collectionId}, 'TASK', 'Filler', 'zz' || lpad(n::text, 6, '0'), ${world.actor.accountId}, false, false, false
    from generate_series(1, ${many}) n`
  await oracle`
    insert into label (tenant_id, id, container_id, name, name_fold, color_token)
    values (${tenantId}, ${label}, ${collectionId}, 'rare', 'rare', 'red'), (${tenantId}, ${collectionId}, ${collectionId}, 'many', 'many', 'red')`
  await oracle`insert into item_label (tenant_id, item_id, label_id) select tenant_id, id, ${collectionId} from item where title = 'Filler'`
  await oracle`
    insert into item_label (tenant_id, item_id, label_id)
    select tenant_id, id, ${label} from item where title = 'Filler' order by id desc limit 3`
  await oracle`
    insert into item_field_key (tenant_id, field_id, item_id, key)
    select i.tenant_id, f.id, i.id, case when i.rank > 'zz019997' then ${numberKey(77)} else ${numberKey(5)} end
    from item i, custom_field f where i.title = 'Filler' and f.key = 'number' and f.collection_id is null`
  await oracle`
    insert into item_field_key (tenant_id, field_id, item_id, key)
    select tenant_id, ${titleField}, id, 'filler' from item where title = 'Filler'`
  await oracle`
    insert into item_field_value (tenant_id, field_id, item_id, value)
    select i.tenant_id, f.id, i.id, case when i.rank > 'zz019997' then '77'::jsonb else '5'::jsonb end
    from item i, custom_field f where i.title = 'Filler' and f.key = 'number' and f.collection_id is null`
  const { accountId } = world.actor
  await oracle`update item set assignee_id = ${accountId} where title = 'Filler' and rank between 'zz010001' and 'zz010003'`
  await oracle`
    insert into item_member (tenant_id, item_id, account_id)
    select tenant_id, id, assignee_id from item where title = 'Filler' and assignee_id is not null`
  await oracle`
    insert into item_member (tenant_id, item_id, account_id)
    select i.tenant_id, i.id, a.id from item i join account a on a.tenant_id = i.tenant_id and a.id <> ${accountId}
    where i.title = 'Filler'`
  await oracle`update item set archived_at = now() where title = 'Filler' and rank < 'zz000200'`
  await oracle`vacuum analyze`
}, 120_000)
afterAll(() => world.close())

/** The indexes that the page is read by, the most rows that one scan reads, the items, and how often one is begun. */
async function readBy(body: object) {
  const { own, actor } = world
  let found = 0
  let refusal: unknown
  const sent = sentStatements(
    await recorded(own.installation, async (installation) => {
      try {
        found = (await performForAnswer(installation, operations.queryItems, actor, { body } as never)).data.length
      } catch (error) {
        refusal = error
      }
    }),
  )
  const page = sent.find(({ statement }) =>
    /^\s*select \* from \(\s*select r\.\*|with (found|cut)/.test(statement.text),
  )
  if (!page) throw new Error('no statement is the page')
  // A filter is planned for its call (compile.ts).
  const [plan] = await runPlans(own.oracle, ['force_custom_plan'], page)
  const all = nodesOf(plan!)
  return {
    indexes: all.flatMap((node) => node['Index Name'] ?? []),
    most: Math.max(...all.filter((node) => node['Node Type'].includes('Scan')).map(looksAt)),
    items: Math.max(0, ...all.filter((node) => node['Index Name'] === 'item_of_workspace').map(looksAt)),
    looks: Math.max(...all.map((node) => node['Actual Loops'] ?? 1)),
    found,
    refusal,
  }
}

test.each([
  ['a rare value', 'item_field_key_by_key', () => ({ filter: { field: 'custom.number', op: 'is', value: 77 } })],
  ['a rare label', 'item_label_by_label', () => ({ filter: { field: 'label', op: 'has_any', value: [label] } })],
  ['who is responsible', 'item_member_by_account', () => ({ filter: { field: 'assignee', op: 'is', value: 'me' } })],
  ['nothing', 'item_of_workspace', () => ({})],
  ['nothing but the archive', 'archived_item_of_workspace', () => ({ archived: 'ONLY' })],
  ['nothing, with the archive', 'archived_item_of_workspace', () => ({ archived: 'INCLUDE' })],
  ['one collection', 'item_in_order', () => ({ container_id: collectionId })],
])('%s leads by %s', async (_, index, body) => {
  const { indexes, most, found } = await readBy({ ...body(), size: 20 })
  expect(indexes).toContain(index)
  expect(found).toBeGreaterThan(0)
  expect(most).toBeLessThan(500)
})

test('a filter that nothing leads to looks at no more than a page may', async () => {
  const { most } = await readBy({ filter: { field: 'title', op: 'contains', value: 'nowhere' } })
  expect(most).toBeLessThanOrEqual(many * 0.75)
})

const words = Array.from({ length: 50 }, (_, n) => ({ field: 'title', op: 'contains', value: `nowhere ${n}` }))

test('the more conditions a filter has, the fewer items a page looks at', async () => {
  const labels = Array.from({ length: 50 }, () => ({ field: 'label', op: 'has_any', value: [label] }))
  const { most } = await readBy({ filter: { any: labels } })
  expect(most).toBeLessThanOrEqual(Math.ceil(many / 45))
})

test('to ask who has access costs more than a look-up', async () => {
  const people = Array.from({ length: 50 }, () => ({ field: 'assignee', op: 'has_no_access' }))
  const { items } = await readBy({ filter: { any: people } })
  expect(items).toBeLessThanOrEqual(Math.ceil(many / 140))
  expect(items).toBeGreaterThan(0)
})

test.each([
  ['any of them', { any: words }],
  ['none of them', { not: { any: words } }],
  ['all of them', { all: words }],
])('fifty words of a title share one look-up: %s', async (_, filter) => {
  const { indexes, most } = await readBy({ filter })
  expect(indexes.filter((index) => index.startsWith('item_field_key'))).toHaveLength(1)
  expect(most).toBeLessThanOrEqual(Math.ceil(many / 5))
})

test('an order that no index has is kept of 10,000 items, and nothing is compared of more', async () => {
  const { refusal, most, looks } = await readBy({ filter: { any: words }, sort: [{ by: 'due' }] })
  expect(refusal).toMatchObject({ code: 'query.too_broad', params: { limit: 10_000 } })
  expect(most).toBeLessThanOrEqual(10_001)
  expect(looks).toBe(1)
})
