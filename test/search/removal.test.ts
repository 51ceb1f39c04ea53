/** What is purged and removed leaves no words behind. Spec: Work on boards, 3; keeping, Two steps of removal. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removePurged } from '../../src/core/areas/items/trash/removal.ts'
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
