/** Where the trash meets comments and files: what a hold keeps of them, and what goes with an item. Spec: items 3 and 4; decisions 0270 to 0272. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { removePurged } from '../../src/core/areas/items/trash/removal.ts'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type HoldScope, retentionOperations } from '../../src/core/contract/retention/operations.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type Files, openFiles, png } from '../media/files.ts'

let files: Files
beforeAll(async () => {
  files = await openFiles()
})
afterAll(() => files.close())

const sql = () => files.daemon.db.sql
const place = (scope: HoldScope) =>
  performForAnswer(files.installation, retentionOperations.placeHold, recoveryActor(), {
    body: { tenant_id: files.tenantId, scope, reason: 'court' },
  })
const release = ({ id }: { readonly id: string }) =>
  performForAnswer(files.installation, retentionOperations.releaseHold, recoveryActor(), { holdId: id })
const destroy = () => removePurged.run(files.installation, { tenantId: files.tenantId })

async function purge(...items: Item[]): Promise<void> {
  for (const { id } of items) {
    expect((await files.ask(`DELETE /items/${id}`)).status).toBe(204)
    expect((await files.ask(`POST /items/${id}:purge`)).status).toBe(204)
  }
  await destroy()
}
const carried = (item: Item, media: { readonly id: string }, as = files.people.MEMBER) =>
  files.ask(`PUT /items/${item.id}/attachments/${media.id}`, {}, { as })
const isThere = async ({ id }: Item) => (await sql()`select 1 from item where id = ${id}`).length === 1
const looseSince = async ({ id }: { readonly id: string }) =>
  (await sql()`select loose_since from media where id = ${id}`)[0]?.['loose_since'] as Date | null | undefined

describe('a hold on an account keeps a purged item of others', () => {
  test('that the account has commented on, also where the comment is deleted', async () => {
    const { COMMENTER: author } = files.people
    for (const isDeleted of [false, true]) {
      const item = await files.item()
      const { json } = await files.ask(`POST /items/${item.id}/comments`, { body: 'evidence' }, { as: author })
      const hold = await place({ kind: 'ACCOUNT', id: author.accountId })
      if (isDeleted)
        expect((await files.ask(`DELETE /comments/${json.id}`, undefined, { as: author })).status).toBe(204)
      await purge(item)
      expect(await sql()`select body from comment where id = ${json.id}`).toEqual([{ body: 'evidence' }])
      await release(hold)
      await destroy()
      expect(await isThere(item)).toBe(false)
    }
  })

  test('that carries a file of it, and that it attached one to', async () => {
    const { COMMENTER: uploader, ADMIN: attacher } = files.people
    const item = await files.item()
    const media = await files.file(png, {}, uploader)
    expect((await carried(item, media, uploader)).status).toBe(200)
    const other = await files.item()
    expect((await carried(other, media, attacher)).status).toBe(200)
    const holds = [
      await place({ kind: 'ACCOUNT', id: uploader.accountId }),
      await place({ kind: 'ACCOUNT', id: attacher.accountId }),
    ]
    await purge(item, other)
    expect([await isThere(item), await isThere(other)]).toEqual([true, true])
    await release(holds[0]!)
    await destroy()
    expect([await isThere(item), await isThere(other)]).toEqual([false, true])
    await release(holds[1]!)
    await destroy()
    expect(await isThere(other)).toBe(false)
  })
})

describe('a file that a purged item carried', () => {
  test('is carried by nothing once the last such item is removed, and goes with its quota', async () => {
    const before = await files.quota()
    const media = await files.file(png)
    const [one, two] = [await files.item(), await files.item()]
    await carried(one, media)
    await carried(two, media)
    await purge(one)
    expect(await looseSince(media)).toBeNull()
    await purge(two)
    expect(await looseSince(media)).not.toBeNull()
    await sql()`update media set loose_since = now() - interval '2 days' where id = ${media.id}`
    await files.sweep()
    expect(await looseSince(media)).toBeUndefined()
    expect(await files.quota()).toBe(before)
  })

  test('of two removed at once with it', async () => {
    const media = await files.file(png)
    const [one, two] = [await files.item(), await files.item()]
    await carried(one, media)
    await carried(two, media)
    await sql()`update item set deleted_at = now(), purged_at = now() where id in ${sql()([one.id, two.id])}`
    await destroy()
    expect(await looseSince(media)).not.toBeNull()
  })
})

test('a file that only held items carry goes as without the hold, and its rows and bytes stay until the release', async () => {
  const uploader = files.people.MEMBER
  const before = await files.quota()
  const [item, free] = [await files.item(), await files.item()]
  const [kept, other] = [await files.file(png, {}, uploader), await files.file('free', {}, uploader)]
  await carried(item, kept)
  await carried(free, other)
  const hold = await place({ kind: 'ITEM', id: item.id })
  await purge(item, free)
  const shown = async (query: string) => {
    const { json } = await files.ask(`GET /media?${query}`, undefined, { as: uploader })
    return json.data.map(({ id }: { id: string }) => id).filter((id: string) => id === kept.id || id === other.id)
  }
  expect([await shown('is_attached=true'), (await shown('is_attached=false')).length]).toEqual([[], 2])
  const later = async () => {
    await sql()`update media set loose_since = now() - interval '2 days'
      where loose_since is not null and id in ${sql()([kept.id, other.id])}`
    await files.sweep()
  }
  await later()
  expect([await shown(''), await files.quota()]).toEqual([[], before])
  for (const request of ['GET', 'DELETE'])
    for (const { id } of [kept, other])
      expect((await files.ask(`${request} /media/${id}`, undefined, { as: uploader })).status).toBe(404)
  expect((await files.content(kept, { as: uploader })).status).toBe(404)
  const there = async () => [
    (await sql()`select 1 from media where id in ${sql()([kept.id, other.id])}`).length,
    (await sql()`select 1 from media_reference where media_id = ${kept.id}`).length,
    files.stored().includes(kept.id),
  ]
  expect(await there()).toEqual([1, 1, true])
  const told = async () =>
    (
      await sql()`
        select body::jsonb -> 'data' ->> 'id' as id from outbox_event
        where type like '%work.media.removed%' and body::jsonb -> 'data' ->> 'id' in ${sql()([kept.id, other.id])}`
    ).length
  expect(await told()).toBe(2)

  await later()
  expect(await there()).toEqual([1, 1, true])
  await release(hold)
  await destroy()
  await later()
  expect([(await there()).slice(0, 2), await told(), await files.quota()]).toEqual([[0, 0], 2, before])
  await sql()`update media_removal set due_at = now() - interval '1 day'`
  await files.sweep()
  expect(files.stored()).not.toContain(kept.id)
})

test('a file that a held item carries is attached to another one until that goes, and counts until then', async () => {
  const media = await files.file(png)
  const [item, other] = [await files.item(), await files.item()]
  await carried(item, media)
  await carried(other, media)
  const hold = await place({ kind: 'ITEM', id: item.id })
  await purge(item)
  expect(await looseSince(media)).toBeNull()
  expect((await files.ask(`DELETE /items/${other.id}/attachments/${media.id}`)).status).toBe(204)
  await destroy()
  expect(await looseSince(media)).not.toBeNull()
  await carried(other, media)
  expect(await looseSince(media)).toBeNull()
  await release(hold)
})

test('bytes of a deleted file stay in the store while a hold is in force, and the answers are the same', async () => {
  const [uploader, admin] = [files.people.COMMENTER, files.people.ADMIN]
  const item = await files.item()
  const media = await files.file(png, {}, uploader)
  await carried(item, media, uploader)
  const before = await files.quota()
  const hold = await place({ kind: 'ITEM', id: item.id })
  expect((await files.ask(`DELETE /media/${media.id}`, undefined, { as: admin })).status).toBe(204)
  expect((await files.content(media, { as: uploader })).status).toBe(404)
  expect(await files.quota()).toBe(before - png.byteLength)
  await sql()`update media_removal set due_at = now() - interval '1 day'`
  await files.sweep()
  expect(files.stored()).toContain(media.id)

  await release(hold)
  await files.sweep()
  expect(files.stored()).not.toContain(media.id)
  expect(await sql()`select 1 from media_removal where media_id = ${media.id}`).toHaveLength(0)
})

test('the uploader deletes a file that only purged items carry, whether a hold keeps them or not, and nothing tells of them', async () => {
  const uploader = files.people.MEMBER
  const [item, other] = [await files.item(), await files.item()]
  const media = await files.file(png, {}, uploader)
  await carried(item, media)
  await carried(other, media)
  const hold = await place({ kind: 'TENANT', id: null })
  await purge(item)
  const remove = () => files.ask(`DELETE /media/${media.id}`, undefined, { as: uploader })
  const refused = await remove()
  expect([refused.status, refused.json.params]).toEqual([409, { count: 1 }])
  await purge(other)
  expect((await remove()).status).toBe(204)
  const told = await sql()`
    select 1 from outbox_event where type like '%attachment_removed%' and body::jsonb -> 'data' ->> 'media_id' = ${media.id}`
  expect(told).toHaveLength(0)
  expect([await isThere(item), files.stored().includes(media.id)]).toEqual([true, true])
  await release(hold)
})

test('an upload that was attached and never ended goes after a day, also from the quota', async () => {
  const item = await files.item()
  const before = await files.quota()
  const [stale, young] = [await files.begin(100), await files.begin(10)]
  for (const media of [stale, young]) expect((await carried(item, media)).status).toBe(200)
  await sql()`update media set updated_at = now() - interval '25 hours' where id = ${stale.id}`
  await files.sweep()
  const { json } = await files.ask(`GET /items/${item.id}/attachments`)
  expect(json.data.map(({ media }: { media: { id: string } }) => media.id)).toEqual([young.id])
  expect(await files.quota()).toBe(before + 10)
})
