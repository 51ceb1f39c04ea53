/** Search: what is found, in which order, by whom, and what is shown of it. Spec: Work on boards, 2, N4; decision 0230. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import type { SearchAnswer, SearchResult } from '../../src/core/contract/search/operations.ts'
import { type Desk, openDesk, pointers } from '../items/desk.ts'
import type { Person } from '../kit/people.ts'
import { type Indexing, openIndexing, searcher } from './indexing.ts'

let desk: Desk
let indexing: Indexing
let search: ReturnType<typeof searcher>
beforeAll(async () => {
  desk = await openDesk()
  indexing = await openIndexing(desk.daemon)
  search = searcher(desk, indexing)
})
afterAll(async () => {
  await indexing.close()
  await desk.close()
})

const ask = (body: object, as: Person = desk.people.MEMBER) => desk.ask('POST /search', body, { as })
const titles = ({ data }: SearchAnswer) => data.map(({ title }) => title)
const item = (members: object = {}) => desk.item(members)
/** The marked pieces of each match. */
const marked = ({ matches }: SearchResult) =>
  Object.fromEntries(
    matches.map(({ member, excerpt, ranges }) => {
      const points = [...excerpt]
      return [member, ranges.map(([from, behind]) => points.slice(from, behind).join(''))]
    }),
  )

describe('words', () => {
  test('are all asked for, folded, in any order, the last one as a beginning', async () => {
    await item({ title: 'Café crème für Zoë', description: 'served in the garden' })
    for (const query of ['CAFE', 'zoe cafe', 'fur cre', 'garden café'])
      expect(titles(await search(query)), query).toEqual(['Café crème für Zoë'])
    for (const query of ['cafe teapot', 'caf zoe', 'café -zoe']) expect(titles(await search(query)), query).toEqual([])
  })

  test('are found in their other forms, by the stems of the workspace’s language', async () => {
    const made = await item({ title: 'Printing happily', description: 'The boxes were delivered' })
    for (const query of ['printed pages', 'prints']) {
      const expected = query === 'prints' ? ['Printing happily'] : []
      expect(titles(await search(query)), query).toEqual(expected)
    }
    const [found] = (await search('printer box delivers')).data
    expect(found).toBeUndefined()
    const answer = await search('prints box delivers')
    expect(answer.data.map(({ id }) => id)).toEqual([made.id])
    expect(marked(answer.data[0]!)).toEqual({ title: ['Printing'], description: ['boxes', 'delivered'] })
  })

  test('of camelCase and with digits are found apart and together', async () => {
    await item({ title: 'parseHTTPResponse2 fails' })
    for (const query of ['http response', 'parsehttpresponse2', 'parseHTTPResponse', 'response 2', '"http response"'])
      expect(titles(await search(query)), query).toEqual(['parseHTTPResponse2 fails'])
    expect(titles(await search('"response http"'))).toEqual([])
  })

  test('of scripts without blanks are found by any part', async () => {
    await item({ title: '東京都の会議', description: 'ประชุมทีมวันจันทร์' })
    for (const query of ['東京', '京都', '会議', '議', '"東京都"', 'ทีม'])
      expect(titles(await search(query)), query).toEqual(['東京都の会議'])
    expect(titles(await search('京東'))).toEqual([])
    expect(marked((await search('会議')).data[0]!)).toEqual({ title: ['会議'] })
  })

  test('in quotes are asked for as they are written, in their order and in one text', async () => {
    await item({ title: 'Order of words', description: 'matters a lot' })
    expect(titles(await search('"order of words"'))).toEqual(['Order of words'])
    for (const query of ['"words of order"', '"orders of words"', '"words matters"'])
      expect(titles(await search(query)), query).toEqual([])
  })

  test('of labels and values are found, and named', async () => {
    await desk.field({ key: 'customer', kind: 'TEXT' })
    await desk.field({ key: 'colours', kind: 'MULTI_SELECT', options: ['crimson', 'teal'] })
    const labelled = await desk.label(desk.collectionId, 'Zeppelin')
    await item({
      title: 'With all',
      label_ids: [labelled],
      custom_fields: { customer: 'Wayland Smithy', colours: ['crimson', 'teal'] },
    })
    expect(marked((await search('zeppelin wayl')).data[0]!)).toEqual({
      label: ['Zeppelin'],
      'custom.customer': ['Wayland'],
    })
    expect(marked((await search('teal')).data[0]!)).toEqual({ 'custom.colours': ['teal'] })
  })

  test('come with a piece of a long text, and ranges in code points', async () => {
    const text = `${'🦊 lorem '.repeat(300)}the needle 🧵 is here${' ipsum'.repeat(300)}`
    await item({ title: 'Haystack 🦊', description: text })
    const [found] = (await search('needle')).data
    const [match] = found!.matches
    expect(match!.excerpt.length).toBeLessThanOrEqual(240)
    expect(text).toContain(match!.excerpt)
    expect(marked(found!)).toEqual({ description: ['needle'] })
  })
})

describe('an order', () => {
  test('is by where the words are, and then by age', async () => {
    const low = await item({ title: 'Low', description: 'about quokkas' })
    const high = await item({ title: 'Quokkas' })
    const old = await item({ title: 'Quokkas' })
    await desk.daemon.db.sql`update item set updated_at = now() - interval '3 years' where id = ${old.id}`
    await desk.daemon.db
      .sql`insert into search_pending (tenant_id, id, subject, subject_id) values (${desk.tenantId}, uuidv7(), 'ITEM', ${old.id})`
    const { data } = await search('quokkas')
    expect(data.map(({ id }) => id)).toEqual([high.id, old.id, low.id])
  })

  test('goes on from page to page, each result once, and the cursor is of its question alone', async () => {
    const made = await Promise.all(Array.from({ length: 7 }, (_, n) => item({ title: `Wombat ${n}` })))
    const found: string[] = []
    let cursor: string | null = null
    do {
      const page: SearchAnswer = await search('wombat', { size: 3, cursor })
      found.push(...page.data.map(({ id }) => id))
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(found.toSorted()).toEqual(made.map(({ id }) => id).sort())
    const { next_cursor } = await search('wombat', { size: 3 })
    for (const other of [
      { query: 'other' },
      { query: 'wombat', archived: 'ONLY' },
      { query: 'wombat', kinds: ['ITEM'] },
    ])
      expect((await ask({ ...other, cursor: next_cursor })).json.code).toBe('cursor.invalid')
  })
})

test('the pages end behind 1,000 results', async () => {
  const { collectionId } = await desk.shelf(1)
  const { sql } = desk.daemon.db
  await sql`
    insert into item (tenant_id, id, container_id, type, title, rank, created_by, without_keys)
    select ${desk.tenantId}, uuidv7(), ${collectionId}, 'TASK', 'Lemming ' || n, 'a' || lpad(n::text, 6, '0'), ${desk.people.OWNER.accountId}, false
    from generate_series(1, 1010) n`
  await sql`
    insert into search_pending (tenant_id, id, subject, subject_id)
    select tenant_id, uuidv7(), 'ITEM', id from item where container_id = ${collectionId}`
  const found: string[] = []
  let cursor: string | null = null
  do {
    const page: SearchAnswer = await search('lemming', { size: 50, cursor })
    found.push(...page.data.map(({ id }) => id))
    cursor = page.next_cursor
  } while (cursor !== null)
  expect([found.length, new Set(found).size]).toEqual([1_000, 1_000])
})

describe('a change', () => {
  test('of what is found by is found by the next search: title, label, value, container, and back', async () => {
    const made = await item({ title: 'Aardvark' })
    expect(titles(await search('aardvark'))).toEqual(['Aardvark'])
    await desk.patch(made, { title: 'Badger' })
    expect(titles(await search('aardvark'))).toEqual([])
    expect(titles(await search('badger'))).toEqual(['Badger'])

    const labelId = await desk.label(desk.collectionId, 'Gnu')
    await desk.ask(`PUT /items/${made.id}/labels/${labelId}` as 'PUT /items')
    expect(titles(await search('gnu'))).toEqual(['Badger'])
    await desk.ask(`PATCH /containers/${desk.collectionId}/labels/${labelId}` as 'PATCH /items', { name: 'Okapi' })
    expect([titles(await search('gnu')), titles(await search('okapi'))]).toEqual([[], ['Badger']])
    await desk.ask(`DELETE /items/${made.id}` as 'DELETE /items')
    expect(titles(await search('okapi'))).toEqual([])
    const left = await desk.daemon.db.sql`select from search_document where id = ${made.id}`
    expect(left).toHaveLength(0)
  })

  test('of a name of a container is found, and a deleted container is not', async () => {
    const hub = await desk.hub()
    const { id } = await desk.collection(hub)
    await desk.ask(`PATCH /containers/${id}` as 'PATCH /items', { name: 'Capybara pond' })
    const { data } = await search('capybara')
    expect(data).toMatchObject([{ kind: 'CONTAINER', id, item_id: null, container_id: id, title: 'Capybara pond' }])
    await desk.ask(`POST /containers/${id}:archive` as 'POST /items')
    expect(titles(await search('capybara'))).toEqual([])
    expect(titles(await search('capybara', { archived: 'ONLY' }))).toEqual(['Capybara pond'])
    await desk.ask(`DELETE /containers/${id}` as 'DELETE /items')
    expect(titles(await search('capybara', { archived: 'INCLUDE' }))).toEqual([])
  })

  test('that was rolled back queues nothing, and one that changes nothing neither', async () => {
    const made = await item({ title: 'Still' })
    await indexing.catchUp()
    await desk.patch(made, { title: 'Still' })
    expect((await desk.ask('POST /items', { container_id: randomUUIDv7(), title: 'x' })).status).toBe(422)
    expect(await desk.daemon.db.sql`select from search_pending`).toHaveLength(0)
  })
})

describe('archived items', () => {
  test('are found on request', async () => {
    const made = await item({ title: 'Pangolin' })
    await desk.act(made, 'archive')
    for (const [archived, expected] of [
      ['EXCLUDE', []],
      ['INCLUDE', ['Pangolin']],
      ['ONLY', ['Pangolin']],
    ] as const)
      expect(titles(await search('pangolin', { archived }))).toEqual(expected)
  })
})

describe('what the caller does not see', () => {
  let secret: Item
  let openItem: Item
  let privateId: string
  beforeAll(async () => {
    const hub = await desk.hub()
    const { id } = await desk.collection(hub)
    privateId = id
    const labelId = await desk.label(id, 'Classified')
    secret = await desk.item({ container_id: id, title: 'Narwhal secret', label_ids: [labelId] }, desk.people.OWNER)
    await desk.daemon.db.sql`update container set is_private = true, name = 'Narwhal vault' where id = ${id}`
    openItem = await item({ title: 'Narwhal open' })
    await desk.daemon.db
      .sql`insert into search_pending (tenant_id, id, subject, subject_id) values (${desk.tenantId}, uuidv7(), 'CONTAINER', ${id})`
  })

  test('is neither found nor counted', async () => {
    const facets = ['container', 'label', 'assignee', 'state', 'type']
    const seen = await search('narwhal', { facets })
    expect(seen.data.map(({ id }) => id)).toEqual([openItem.id])
    expect(seen.facets).toEqual({
      container: [{ key: desk.collectionId, count: 1 }],
      label: [],
      assignee: [{ key: null, count: 1 }],
      state: [{ key: 'OPEN', count: 1 }],
      type: [{ key: 'TASK', count: 1 }],
    })
    const all = await search('narwhal', { facets }, desk.people.OWNER)
    expect(all.data.map(({ id }) => id).toSorted()).toEqual([openItem.id, secret.id, privateId].sort())
    expect(all.facets?.label).toMatchObject([{ count: 1 }])
    expect((await search('classified', { facets: ['label'] })).facets).toEqual({ label: [] })
  })

  test('does not say that there are more candidates', async () => {
    await desk.daemon.db.sql`
      insert into search_document (tenant_id, generation, kind, id, container_id, changed_at, words)
      select ${desk.tenantId}, s.generation, 'ITEM', uuidv7(), ${privateId}, now(), format('''%s=narwhal'':1A', s.generation)::tsvector
      from search_index s, generate_series(1, 10001) where s.tenant_id = ${desk.tenantId} and s.state = 'SERVING'`
    const seen = await search('narwhal')
    expect([seen.capped, seen.data.map(({ id }) => id)]).toEqual([false, [openItem.id]])
    expect((await search('narwhal', {}, desk.people.OWNER)).capped).toBe(true)
    await desk.daemon.db
      .sql`delete from search_document where container_id = ${privateId} and id not in (select id from item)`
  })

  test('is not found where its document still names the container that it has left', async () => {
    await desk.daemon.db.sql`update search_document set container_id = ${desk.collectionId} where id = ${secret.id}`
    expect((await search('narwhal secret')).data).toEqual([])
  })
})

describe('a filter', () => {
  test('holds beside the words, and lets no container pass', async () => {
    await item({ title: 'Meerkat one', label_ids: [desk.labels[0]] })
    const two = await item({ title: 'Meerkat two' })
    await desk.daemon.db.sql`update container set name = 'Meerkat' where id = ${desk.collectionId}`
    await desk.daemon.db
      .sql`insert into search_pending (tenant_id, id, subject, subject_id) values (${desk.tenantId}, uuidv7(), 'CONTAINER', ${desk.collectionId})`
    expect((await search('meerkat')).data).toHaveLength(3)
    const filter = { field: 'label', op: 'has_none', value: [desk.labels[0]] }
    expect((await search('meerkat', { filter })).data.map(({ id }) => id)).toEqual([two.id])
    expect((await search('meerkat', { filter, kinds: ['CONTAINER'] })).data).toEqual([])
    const gone = { field: 'container', op: 'is_not', value: randomUUIDv7() }
    expect(await search('meerkat', { filter: gone })).toMatchObject({
      data: [],
      unknown: [{ pointer: '/filter/value', code: 'reference.unknown' }],
    })
    const title = { field: 'title', op: 'starts_with', value: 'meerkat t' }
    await desk.daemon.db.sql`update item set without_keys = true where id = ${two.id}`
    expect((await search('meerkat', { filter: title })).data.map(({ id }) => id)).toEqual([two.id])
    const other = { field: 'title', op: 'starts_with', value: 'meerkat x' }
    expect((await search('meerkat', { filter: other })).data).toEqual([])
    await desk.daemon.db.sql`update item set without_keys = false where id = ${two.id}`
  })
})

describe('a question', () => {
  test('without a word to be there finds nothing', async () => {
    for (const query of ['-', '--', '"', '""', '-cat', '!?&|<->', '‮', "'", '\\', ':*'])
      expect(await search(query, { facets: ['state'] }), query).toMatchObject({
        data: [],
        next_cursor: null,
        capped: false,
      })
  })

  test('has 16 words and 200 characters at most', async () => {
    expect((await ask({ query: 'w '.repeat(16) })).status).toBe(200)
    expect(pointers(await ask({ query: 'w '.repeat(17) }))).toEqual([['/query', 'text.too_many_words']])
    expect(pointers(await ask({ query: 'w'.repeat(201) }))).toEqual([['/query', 'text.too_long']])
    expect(pointers(await ask({ query: '' }))).toEqual([['/query', 'text.too_short']])
  })

  test('in words of PostgreSQL is words', async () => {
    await item({ title: "Robert'); drop table item; --" })
    for (const query of ["robert'); drop", 'drop & table | item', "'robert':* <-> !table"])
      expect((await ask({ query })).status, query).toBe(200)
    expect(titles(await search("robert'); drop table"))).toEqual(["Robert'); drop table item; --"])
  })
})

test('changes that wait for more than 10 s are told', async () => {
  expect((await search('anything')).is_behind).toBe(false)
  await item()
  expect((await ask({ query: 'anything' })).json.is_behind).toBe(false)
  await desk.daemon.db.sql`update search_pending set queued_at = now() - interval '11 seconds'`
  expect((await ask({ query: 'anything' })).json.is_behind).toBe(true)
  expect((await search('anything')).is_behind).toBe(false)
})
