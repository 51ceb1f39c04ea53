/** Search of comments: as the items that they are on. Spec: Work on boards, 2, N4; decision 0362. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { removePurged } from '../../src/core/areas/items/trash/removal.ts'
import { takeTurn } from '../../src/core/areas/search/indexing.ts'
import type { Comment } from '../../src/core/contract/comments/operations.ts'
import type { Item } from '../../src/core/contract/items/operations.ts'
import type { SearchAnswer } from '../../src/core/contract/search/operations.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import { type Indexing, openIndexing, searcher } from './indexing.ts'

let desk: Desk
let indexing: Indexing
let search: ReturnType<typeof searcher>
let item: Item
beforeAll(async () => {
  desk = await openDesk()
  indexing = await openIndexing(desk.daemon)
  search = searcher(desk, indexing)
})
beforeEach(async () => {
  item = await desk.item({ title: 'An item' })
})
afterAll(async () => {
  await indexing.close()
  await desk.close()
})

const sql = () => desk.daemon.db.sql
const ids = ({ data }: SearchAnswer) => data.map(({ id }) => id)
async function said(body: string, on: Item = item): Promise<Comment> {
  const { status, json, text } = await desk.ask(`POST /items/${on.id}/comments`, { body })
  expect(status, text).toBe(201)
  return json
}
const change = ({ id }: Comment, body: string) => desk.ask(`PATCH /comments/${id}`, { body })
const remove = ({ id }: Comment) => desk.ask(`DELETE /comments/${id}`)
/** The containers that its documents are in. */
const documents = async ({ id }: { readonly id: string }) =>
  (await sql()`select container_id from search_document where id = ${id} order by generation`).map(
    ({ container_id }) => container_id,
  )

describe('a comment is found', () => {
  test('by its text, under the title of its item, and says where', async () => {
    const comment = await said('The zeppelins were delayed')
    const { data } = await search('zeppelin delay')
    expect(data).toEqual([
      {
        ...{ kind: 'COMMENT', id: comment.id, item_id: item.id, container_id: item.container_id, title: 'An item' },
        matches: [
          {
            member: 'body',
            excerpt: 'The zeppelins were delayed',
            ranges: [
              [4, 13],
              [19, 26],
            ],
          },
        ],
      },
    ])
    expect(ids(await search('zeppelin', { kinds: ['ITEM'] }))).toEqual([])
    expect(ids(await search('zeppelin', { kinds: ['COMMENT'] }))).toEqual([comment.id])
  })

  test('as it is now, and not once it is deleted', async () => {
    const comment = await said('A marmot')
    expect(ids(await search('marmot'))).toEqual([comment.id])
    await change(comment, 'A badger')
    expect([ids(await search('marmot')), ids(await search('badger'))]).toEqual([[], [comment.id]])
    await remove(comment)
    expect([ids(await search('badger')), await documents(comment)]).toEqual([[], []])
  })

  test('behind an item that has the word in its description', async () => {
    const comment = await said('quokka')
    const other = await desk.item({ title: 'Other', description: 'quokka' })
    expect(ids(await search('quokka'))).toEqual([other.id, comment.id])
  })

  test('by a filter of its item, and counted where it lies; other facets count items', async () => {
    const comment = await said('an axolotl')
    const filter = (value: string) => ({ field: 'state', op: 'is', value })
    expect(ids(await search('axolotl', { filter: filter('OPEN') }))).toEqual([comment.id])
    expect(ids(await search('axolotl', { filter: filter('DONE') }))).toEqual([])
    const { facets } = await search('axolotl', { facets: ['container', 'state'] })
    expect(facets).toEqual({ container: [{ key: item.container_id, count: 1 }], state: [] })
  })
})

describe('a comment is found where its item is', () => {
  test('in the archive, and not in the trash; it comes back with it', async () => {
    const comment = await said('an ocelot')
    const found = async () => [ids(await search('ocelot')), ids(await search('ocelot', { archived: 'ONLY' }))]
    expect(await found()).toEqual([[comment.id], []])
    await desk.act(item, 'archive')
    expect(await found()).toEqual([[], [comment.id]])
    await desk.act(item, 'unarchive')
    await desk.ask(`DELETE /items/${item.id}`)
    expect(await found()).toEqual([[], []])
    await desk.act(item, 'restore')
    expect(await found()).toEqual([[comment.id], []])
  })

  test('in the container that it moves to, by whoever sees that one, and by nobody else', async () => {
    const comment = await said('a pangolin')
    const { id: hidden } = await desk.collection(await desk.hub(), { is_private: true })
    const seen = () => search('pangolin', {}, desk.people.MEMBER).then(ids)
    expect(await seen()).toEqual([comment.id])
    await desk.act(item, 'move', { container_id: hidden })
    expect(await seen()).toEqual([])
    expect(await documents(comment)).toEqual([hidden])
    await desk.grant({ id: hidden }, desk.people.VIEWER, 'VIEWER')
    expect(ids(await search('pangolin', {}, desk.people.VIEWER))).toEqual([comment.id])
  })

  test('also where it left the trash and moved before the indexer came by', async () => {
    const comment = await said('a narwhal')
    await indexing.catchUp()
    const { collectionId } = await desk.shelf(1)
    await desk.ask(`DELETE /items/${item.id}`)
    await indexing.catchUp()
    await desk.act(item, 'restore')
    await desk.act(item, 'move', { container_id: collectionId })
    expect(ids(await search('narwhal'))).toEqual([comment.id])
    expect(await documents(comment)).toEqual([collectionId])
  })

  test('whichever of the two is indexed first', async () => {
    await indexing.catchUp()
    const comment = await said('a wombat')
    const { collectionId } = await desk.shelf(1)
    await takeTurn(indexing.installation, desk.tenantId)
    await desk.act(item, 'move', { container_id: collectionId })
    await change(comment, 'another wombat')
    expect(ids(await search('wombat'))).toEqual([comment.id])
    expect(await documents(comment)).toEqual([collectionId])
  })
})

test('a new generation has the comments, and a removed item leaves none behind', async () => {
  const comment = await said('a tapir')
  const { ADMIN } = desk.people
  await sql()`
    insert into search_index (tenant_id, language, state) values (${desk.tenantId}, 'english_stem', 'BUILDING')`
  expect(ids(await search('tapir', {}, ADMIN))).toEqual([comment.id])
  await desk.ask(`DELETE /items/${item.id}`)
  await desk.ask(`POST /items/${item.id}:purge`)
  await indexing.catchUp()
  await removePurged.run(indexing.installation, { tenantId: desk.tenantId })
  expect(await documents(comment)).toEqual([])
})

test('comments of before are found after the migration, which begins a generation beside the one that answers', async () => {
  const comment = await said('a dugong')
  await indexing.catchUp()
  await sql()`delete from search_document where kind = 'COMMENT'`
  expect(ids(await search('dugong'))).toEqual([])
  await sql().unsafe(readFileSync('migrations/0127_search_of_comments.sql', 'utf8'))
  const states = await sql()`select state from search_index where tenant_id = ${desk.tenantId} order by state`
  expect(states.map(({ state }) => state)).toEqual(['BUILDING', 'SERVING'])
  const [table] = await sql()`select relforcerowsecurity as is_forced from pg_class where relname = 'search_index'`
  expect(table).toEqual({ is_forced: true })
  expect(ids(await search('dugong'))).toEqual([comment.id])
})

test('what a hold keeps of a deleted comment is not found', async () => {
  const comment = await said('a secret capybara')
  await sql()`
    insert into legal_hold (tenant_id, id, scope_kind, scope_id, reason, placed_by)
    values (${desk.tenantId}, gen_random_uuid(), 'TENANT', null, 'a case', ${desk.people.OWNER.accountId})`
  await remove(comment)
  expect([ids(await search('capybara')), await documents(comment)]).toEqual([[], []])
  expect(await sql()`select 1 from comment where id = ${comment.id} and body <> ''`).toHaveLength(1)
})
