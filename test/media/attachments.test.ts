/** Attachments: who may attach, who sees, and what keeps a file. Spec: items 1, N22 to N24; items 4; docs/decisions/0238. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Attachment, mostAttachments } from '../../src/core/contract/media/attachments.ts'
import type { Media } from '../../src/core/contract/media/operations.ts'
import type { Person } from '../kit/people.ts'
import { code, type Files, openFiles, png } from './files.ts'

let files: Files
let member: Person
let commenter: Person
let viewer: Person
let item: Item
beforeAll(async () => {
  files = await openFiles()
  ;({ MEMBER: member, COMMENTER: commenter, VIEWER: viewer } = files.people)
})
beforeEach(async () => {
  item = await files.item()
})
afterAll(() => files.close())

type Known = { readonly id: string }
const attach = (media: Known, body: object = {}, as = member, to: Known = item) =>
  files.ask(`PUT /items/${to.id}/attachments/${media.id}`, body, { as })
const detach = (media: Known, as = member, from: Known = item) =>
  files.ask(`DELETE /items/${from.id}/attachments/${media.id}`, undefined, { as })
const list = async (as = viewer, of: Known = item) =>
  (await files.ask(`GET /items/${of.id}/attachments`, undefined, { as })).json?.data as Attachment[] | undefined
const looseSince = async ({ id }: Media) =>
  (await files.daemon.db.sql`select loose_since from media where id = ${id}`)[0]?.['loose_since'] as Date | null

describe('an attached file', () => {
  test('is listed, renamed there, and told', async () => {
    const media = await files.file(png, { filename: 'a.png' })
    const { status, json } = await attach(media, { alt: 'A point' })
    expect([status, json]).toEqual([
      200,
      { media, name: null, alt: 'A point', comment_id: null, added_by: member.accountId, added_at: expect.any(String) },
    ])
    expect((await attach(media, { name: 'Plan' })).json).toEqual({ ...json, name: 'Plan' })
    expect((await attach(media, {})).json).toEqual({ ...json, name: 'Plan' })
    expect(await list()).toEqual([{ ...json, name: 'Plan' }])
    expect((await detach(media)).status).toBe(204)
    expect((await detach(media)).status).toBe(204)
    const told = await files.daemon.db.sql`
      select type from outbox_event where body::jsonb -> 'data' ->> 'media_id' = ${media.id} order by seq`
    expect(told.map(({ type }) => type)).toEqual([
      'svc.work.item.attachment_added.v1',
      'svc.work.item.attachment_removed.v1',
    ])
    expect((await files.ask(`GET /items/${item.id}`)).json.version).toBe(item.version)
  })

  test('is seen by whoever sees the item, and by nobody else', async () => {
    const hub = await files.hub({}, files.people.ADMIN)
    const hidden = await files.collection(hub, { is_private: true }, member)
    const inside = await files.item({ container_id: hidden.id }, member)
    const media = await files.file(png)
    expect((await attach(media, {}, member, inside)).status).toBe(200)
    const seen = async (as: Person) => (await files.content(media, { as })).status
    expect([await seen(member), await seen(viewer), await seen(commenter)]).toEqual([200, 404, 404])
    await files.grant(hidden, viewer, 'VIEWER')
    expect([await seen(viewer), await seen(commenter)]).toEqual([200, 404])
    expect(code(await files.ask(`DELETE /media/${media.id}`, undefined, { as: viewer }))).toEqual([
      403,
      'auth.role_required',
    ])
    await files.ask(`DELETE /items/${inside.id}`, undefined, { as: member })
    expect([await seen(viewer), await seen(member)]).toEqual([404, 200])
  })

  test('stays while something carries it, and is swept a day after the last one let it go', async () => {
    const other = await files.item()
    const media = await files.file(png)
    await attach(media)
    await attach(media, {}, member, other)
    expect(await looseSince(media)).toBeNull()
    await detach(media)
    expect(await looseSince(media)).toBeNull()
    await detach(media, member, other)
    expect(await looseSince(media)).not.toBeNull()
  })

  test('that two items let go at once is carried by nothing then', async () => {
    for (let round = 0; round < 10; round += 1) {
      const [one, two] = [await files.item(), await files.item()]
      const media = await files.file(png)
      await attach(media, {}, member, one)
      await attach(media, {}, member, two)
      await Promise.all([detach(media, member, one), detach(media, member, two)])
      expect(await looseSince(media)).not.toBeNull()
    }
  })

  test('is deleted by its uploader only when nothing carries it, and by an ADMIN everywhere', async () => {
    const media = await files.file(png)
    await attach(media)
    const remove = (as: Person) => files.ask(`DELETE /media/${media.id}`, undefined, { as })
    const refused = await remove(member)
    expect([code(refused), refused.json.params]).toEqual([[409, 'media.in_use'], { count: 1 }])
    expect((await remove(files.people.ADMIN)).status).toBe(204)
    expect(await list()).toEqual([])
  })
})

describe('attaching', () => {
  test('takes MEMBER for other people’s files, COMMENTER for the own, and sight of the file', async () => {
    const theirs = await files.file(png, {}, commenter)
    expect((await attach(theirs, {}, commenter)).status).toBe(200)
    const mine = await files.file(png)
    expect(code(await attach(mine, {}, commenter))).toEqual([403, 'auth.role_required'])
    expect(code(await attach(mine, {}, files.people.ADMIN))).toEqual([404, 'not_found'])
    await attach(mine)
    expect(code(await detach(mine, commenter))).toEqual([403, 'auth.role_required'])
    expect((await detach(theirs, commenter)).status).toBe(204)
    expect(code(await attach({ id: randomUUID() }))).toEqual([404, 'not_found'])
  })

  test('is refused for a refused file, an archived item, and another version of the item', async () => {
    const refused = await files.file(png, { sha256: '0'.repeat(64) })
    expect(code(await attach(refused))).toEqual([409, 'media.not_ready'])
    const media = await files.file(png)
    const stale = await files.ask(
      `PUT /items/${item.id}/attachments/${media.id}`,
      {},
      { headers: { 'if-match': '"9"' }, as: member },
    )
    expect(code(stale)).toEqual([412, 'precondition.failed'])
    await files.act(item, 'archive')
    expect(code(await attach(media))).toEqual([409, 'item.archived'])
  })

  test('is counted by a query that asks for it', async () => {
    const { collectionId } = await files.shelf(1)
    const [none, two] = [
      await files.item({ container_id: collectionId }),
      await files.item({ container_id: collectionId }),
    ]
    for (const media of [await files.file(png), await files.file(png)]) await attach(media, {}, member, two)
    const ask = async (include: readonly string[]) =>
      (await files.ask('POST /items:query', { container_id: collectionId, include }, { as: viewer })).json.extras
    expect(await ask(['ATTACHMENTS'])).toEqual({ [none.id]: { attachments: 0 }, [two.id]: { attachments: 2 } })
    expect(await ask(['COMMENTS', 'ATTACHMENTS'])).toEqual({
      [none.id]: { attachments: 0, comments: 0 },
      [two.id]: { attachments: 2, comments: 0 },
    })
  })

  test(`ends at ${mostAttachments} of an item`, async () => {
    const { sql } = files.daemon.db
    const made = await files.begin(1)
    await sql`
      insert into media (tenant_id, id, filename, size_bytes, created_by)
      select ${files.tenantId}, gen_random_uuid(), 'filler', 1, ${member.accountId} from generate_series(1, ${mostAttachments})`
    await sql`
      insert into media_reference (tenant_id, item_id, media_id, added_by)
      select ${files.tenantId}, ${item.id}, id, ${member.accountId} from media where filename = 'filler'`
    expect(code(await attach(made))).toEqual([409, 'structure.full'])
  })
})
