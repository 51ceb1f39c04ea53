/** Search of files: on the items that carry them. Spec: Work on boards, 2, N4; docs/decisions/0516. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { removePurged } from '../../src/core/areas/items/trash/removal.ts'
import type { Item } from '../../src/core/contract/items/operations.ts'
import type { Media } from '../../src/core/contract/media/operations.ts'
import type { SearchAnswer } from '../../src/core/contract/search/operations.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import type { Person } from '../kit/people.ts'
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
async function done(operation: Parameters<Desk['ask']>[0], body?: object, as?: Person) {
  const { status, json, text } = await desk.ask(operation, body, as ? { as } : {})
  if (status >= 400) throw new Error(`${operation}: ${status} ${text}`)
  return json
}
const found = ({ data }: SearchAnswer) => data.map(({ kind, id, item_id }) => [kind, id, item_id])
const begun = (filename: string): Promise<Media> => done('POST /media', { filename, size_bytes: 5 })
const attach = (media: Media, body: object = {}, on = item) => done(`PUT /items/${on.id}/attachments/${media.id}`, body)
const documents = () => sql()`select id from search_document where kind = 'MEDIA' and tenant_id = ${desk.tenantId}`

describe('a file is found', () => {
  test('by its name, and by what was written of it on the item', async () => {
    const media = await begun('QuarterlyFigures-Zanzibar.pdf')
    await attach(media, { name: 'Spice trade', alt: 'Cloves by ship' })
    const { data } = await search('zanzibar figures')
    expect(data).toMatchObject([
      { kind: 'MEDIA', id: media.id, item_id: item.id, container_id: item.container_id, title: 'Spice trade' },
    ])
    expect(data[0]?.matches).toMatchObject([{ member: 'filename', excerpt: 'QuarterlyFigures-Zanzibar.pdf' }])
    for (const [query, member] of [
      ['spice', 'name'],
      ['cloves', 'alt'],
    ] as const)
      expect((await search(query)).data[0]?.matches).toMatchObject([{ member }])
    await attach(media, { name: 'Peppercorns' })
    expect(found(await search('peppercorns'))).toEqual([['MEDIA', media.id, item.id]])
    expect(found(await search('spice'))).toEqual([])
  })

  test('once for each item that carries it, until it is taken off or removed', async () => {
    const other = await desk.item({ title: 'Another' })
    const media = await begun('ukulele.wav')
    expect(found(await search('ukulele'))).toEqual([])
    await attach(media)
    await attach(media, {}, other)
    const both = [item.id, other.id].map((id) => ['MEDIA', media.id, id])
    expect(found(await search('ukulele')).sort()).toEqual(both.sort())
    expect(found(await search('ukulele', { kinds: ['ITEM', 'COMMENT'] }))).toEqual([])
    await done(`DELETE /items/${item.id}/attachments/${media.id}`)
    expect(found(await search('ukulele'))).toEqual([['MEDIA', media.id, other.id]])
    await done(`DELETE /media/${media.id}`, undefined, desk.people.OWNER)
    expect(found(await search('ukulele'))).toEqual([])
    expect(await documents()).not.toContainEqual(expect.objectContaining({ id: media.id }))
  })

  test('on a copy, and after a move, where these are', async () => {
    const media = await begun('xylophone.wav')
    await attach(media)
    const copy = await done(`POST /items/${item.id}:duplicate`, {})
    await indexing.catchUp()
    const shelf = await desk.shelf(1)
    await desk.act(item, 'move', { container_id: shelf.collectionId })
    const { data } = await search('xylophone', { facets: ['container'] })
    expect(new Map(data.map(({ item_id, container_id }) => [item_id, container_id]))).toEqual(
      new Map([
        [copy.id, item.container_id],
        [item.id, shelf.collectionId],
      ]),
    )
    // Whoever does not see everything finds what lies in the own containers.
    const guest = await desk.guest()
    await desk.grant({ id: shelf.collectionId }, guest, 'VIEWER')
    expect(found(await search('xylophone', {}, guest))).toEqual([['MEDIA', media.id, item.id]])
  })

  test('as the item is: by a filter, and not from the trash', async () => {
    const media = await begun('trombone.wav')
    await attach(media)
    const state = (value: string) => ({ filter: { field: 'state', op: 'is', value } })
    expect(found(await search('trombone', state('OPEN')))).toEqual([['MEDIA', media.id, item.id]])
    expect(found(await search('trombone', state('DONE')))).toEqual([])
    await done(`DELETE /items/${item.id}`)
    expect(found(await search('trombone'))).toEqual([])
    await desk.act(item, 'restore')
    expect(found(await search('trombone'))).toEqual([['MEDIA', media.id, item.id]])
  })

  test('by nobody who does not see the item', async () => {
    const media = await begun('secretariat.pdf')
    await attach(media)
    const guest = await desk.guest()
    const elsewhere = await desk.shelf(1)
    await desk.grant({ id: elsewhere.collectionId }, guest, 'VIEWER')
    expect(await search('secretariat', { facets: ['container'] }, guest)).toMatchObject({
      data: [],
      capped: false,
      facets: { container: [] },
    })
  })

  test('no more once its item is removed', async () => {
    const media = await begun('bassoon.wav')
    await attach(media)
    expect(found(await search('bassoon'))).toHaveLength(1)
    const before = (await documents()).length
    await done(`DELETE /items/${item.id}`)
    await done(`POST /items/${item.id}:purge`, undefined, desk.people.OWNER)
    await removePurged.run(indexing.installation, { tenantId: desk.tenantId })
    expect((await documents()).length).toBe(before - 1)
  })
})
