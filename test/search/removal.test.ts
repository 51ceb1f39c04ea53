/** What is purged and removed leaves no words behind. Spec: Work on boards, 3; keeping, Two steps of removal. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removePurged } from '../../src/core/areas/items/trash/removal.ts'
import { lockClasses } from '../../src/core/kernel/database/lock-classes.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import { type Indexing, openIndexing } from './indexing.ts'

let desk: Desk
let indexing: Indexing
beforeAll(async () => {
  desk = await openDesk()
  indexing = await openIndexing(desk.daemon)
})
afterAll(async () => {
  await indexing.close()
  await desk.close()
})

test('the words of a purged container go with it, and those of the items in it', async () => {
  const { collectionId } = await desk.shelf(1)
  const item = await desk.item({ container_id: collectionId, title: 'canary of the removal' })
  const documents = async () => {
    const rows = await desk.daemon.db.sql<{ kind: string }[]>`
      select kind from search_document where id in ${desk.daemon.db.sql([item.id, collectionId])} order by kind`
    return rows.map(({ kind }) => kind)
  }
  await indexing.catchUp()
  expect(await documents()).toEqual(['CONTAINER', 'ITEM'])

  expect((await desk.ask(`DELETE /containers/${collectionId}`)).status).toBe(204)
  await desk.daemon.db.sql`update container set purged_at = now() where id = ${collectionId}`
  await removePurged.run(indexing.installation, { tenantId: desk.tenantId })
  expect(await documents()).toEqual([])
})

test('a turn of the indexer that has read an item before its removal leaves no words of it behind', async () => {
  const { sql } = desk.daemon.db
  const { collectionId } = await desk.shelf(1)
  const item = await desk.item({ container_id: collectionId, title: 'canary of the turn' })
  await indexing.catchUp()
  expect((await desk.ask(`DELETE /containers/${collectionId}`)).status).toBe(204)
  await sql`update container set purged_at = now() where id = ${collectionId}`
  // As a turn that has read the item, and writes its words a moment later.
  const turn = await sql.reserve()
  await turn`begin`
  await turn`select pg_advisory_xact_lock(${lockClasses.searchIndex}, hashtext(${desk.tenantId}))`
  const [read] = await turn`select * from search_document where id = ${item.id}`
  const removal = removePurged.run(indexing.installation, { tenantId: desk.tenantId })
  await desk.untilWaiting(1)
  await turn`delete from search_document where id = ${item.id}`
  await turn`insert into search_document ${turn(read!)}`
  await turn`commit`
  turn.release()
  await removal
  expect(await sql`select 1 from item where id = ${item.id}`).toHaveLength(0)
  expect(await sql`select 1 from search_document where id = ${item.id}`).toHaveLength(0)
})
