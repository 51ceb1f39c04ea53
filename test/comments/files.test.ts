/** Files of comments: who brings them, where they are seen, and when they leave the item. Spec: items 4, O2 to O4; decision 0360. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { purgeComments } from '../../src/core/areas/comments/purge.ts'
import { type Comment, mostFiles } from '../../src/core/contract/comments/operations.ts'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Attachment, mostAttachments } from '../../src/core/contract/media/attachments.ts'
import type { Media } from '../../src/core/contract/media/operations.ts'
import { expectUntouched, pointers } from '../items/desk.ts'
import type { Person } from '../kit/people.ts'
import { code, type Files, openFiles, png } from '../media/files.ts'

let files: Files
let commenter: Person
let member: Person
let viewer: Person
let item: Item
beforeAll(async () => {
  files = await openFiles()
  ;({ COMMENTER: commenter, MEMBER: member, VIEWER: viewer } = files.people)
})
beforeEach(async () => {
  item = await files.item()
})
afterAll(() => files.close())

const sql = () => files.daemon.db.sql
const write = (media_ids: readonly string[], as = commenter, on: Item = item) =>
  files.ask(`POST /items/${on.id}/comments`, { body: 'See the file', media_ids }, { as })
async function written(media: readonly Media[], as = commenter): Promise<Comment> {
  const answered = await write(
    media.map(({ id }) => id),
    as,
  )
  expect(answered.status, answered.text).toBe(201)
  return answered.json
}
const change = ({ id }: Comment, body: object, as = commenter) => files.ask(`PATCH /comments/${id}`, body, { as })
const remove = ({ id }: Comment, as = commenter) => files.ask(`DELETE /comments/${id}`, undefined, { as })
const listed = async (of: Item = item) =>
  (await files.ask(`GET /items/${of.id}/comments`, undefined, { as: viewer })).json.data as Comment[]
const carried = async (of: Item = item) =>
  ((await files.ask(`GET /items/${of.id}/attachments`, undefined, { as: viewer })).json.data as Attachment[]).map(
    ({ media, comment_id }) => [media.id, comment_id],
  )
const attach = ({ id }: Media, as = member, to: Item = item) =>
  files.ask(`PUT /items/${to.id}/attachments/${id}`, {}, { as })
const looseSince = async ({ id }: Media) =>
  (await sql()`select loose_since from media where id = ${id}`)[0]?.['loose_since']
const told = async (media: Media) =>
  (
    await sql()`
      select type from outbox_event where type like '%attachment%' and body::jsonb -> 'data' ->> 'media_id' = ${media.id} order by seq`
  ).map(({ type }) => type.split('_').at(-1))

describe('a file of a comment', () => {
  test('is an attachment that names the comment, seen by whoever sees the item, and told', async () => {
    const [a, b] = [await files.file(png, {}, commenter), await files.file('text', {}, commenter)]
    const comment = await written([b, a])
    expect(comment.media_ids).toEqual([b.id, a.id])
    expect(await listed()).toEqual([comment])
    expect(new Map((await carried()) as [string, string][])).toEqual(
      new Map([
        [a.id, comment.id],
        [b.id, comment.id],
      ]),
    )
    expect((await files.content(a, { as: viewer })).status).toBe(200)
    expect([await looseSince(a), await told(a)]).toEqual([null, ['added.v1']])
    const [event] = await sql()`
      select body::jsonb -> 'data' -> 'media_ids' as ids from outbox_event
      where type like '%comment.created%' and body::jsonb -> 'data' ->> 'id' = ${comment.id}`
    expect(event).toEqual({ ids: [b.id, a.id] })
    expect((await files.ask(`GET /items/${item.id}`)).json.version).toBe(item.version)
  })

  test('leaves the item with the comment, and its bytes a day later', async () => {
    const quota = await files.quota()
    const media = await files.file(png, {}, commenter)
    const comment = await written([media])
    expect((await remove(comment)).status).toBe(204)
    expect([await carried(), await listed(), await told(media)]).toEqual([[], [], ['added.v1', 'removed.v1']])
    expect(await looseSince(media)).not.toBeNull()
    await sql()`update media set loose_since = now() - interval '2 days' where id = ${media.id}`
    await files.sweep()
    expect(await files.quota()).toBe(quota)
  })

  test('stays where it was attached by itself, and where another comment has it', async () => {
    const [own, shared] = [await files.file(png, {}, commenter), await files.file('shared', {}, commenter)]
    await attach(own, commenter)
    const [first, second] = [await written([own, shared]), await written([shared])]
    expect(await carried()).toContainEqual([own.id, null])
    expect(await carried()).toContainEqual([shared.id, first.id])
    await remove(first)
    expect(await carried()).toContainEqual([own.id, null])
    expect(await carried()).toContainEqual([shared.id, second.id])
    await remove(second)
    expect(await carried()).toEqual([[own.id, null]])
    expect(await told(shared)).toEqual(['added.v1', 'removed.v1'])
  })

  test('comes and goes by a change, which has a version, and stays beside a new text', async () => {
    const [a, b] = [await files.file(png, {}, commenter), await files.file('b', {}, commenter)]
    const comment = await written([a])
    const other = (await change(comment, { body: 'Other' })).json
    expect(other).toMatchObject({ media_ids: [a.id], version: 2 })
    const after = (await change(comment, { media_ids: [b.id] })).json
    expect(after).toMatchObject({ body: 'Other', media_ids: [b.id], version: 3, edited_at: expect.any(String) })
    expect([await carried(), await listed()]).toEqual([[[b.id, comment.id]], [after]])
    await expectUntouched(files as never, () => change(comment, { media_ids: [b.id] }))
    expect((await change(comment, { media_ids: [] })).json.media_ids).toEqual([])
    expect([await carried(), await told(b)]).toEqual([[], ['added.v1', 'removed.v1']])
  })

  test('that was taken off the item is still named, and seen by its uploader alone', async () => {
    const media = await files.file(png, {}, commenter)
    const comment = await written([media])
    expect(
      (await files.ask(`DELETE /items/${item.id}/attachments/${media.id}`, undefined, { as: member })).status,
    ).toBe(204)
    expect(await listed()).toEqual([comment])
    expect((await files.content(media, { as: viewer })).status).toBe(404)
    expect((await remove(comment)).status).toBe(204)
  })

  test('is kept in its place under a hold, unseen, and goes with the text', async () => {
    const media = await files.file(png, {}, commenter)
    const [comment] = [await written([media])]
    const id = randomUUID()
    await sql()`
      insert into legal_hold (tenant_id, id, scope_kind, scope_id, reason, placed_by)
      values (${files.tenantId}, ${id}, 'ITEM', ${item.id}, 'a case', ${commenter.accountId})`
    await written([], member)
    const reply = await files.ask(
      `POST /items/${item.id}/comments`,
      { body: 'r', reply_to_id: comment.id },
      { as: member },
    )
    await remove(comment)
    expect((await listed())[0]).toMatchObject({ id: comment.id, media_ids: [], is_deleted: true })
    const kept = async () => (await sql()`select body, media_ids from comment where id = ${comment.id}`)[0]
    expect(await kept()).toEqual({ body: 'See the file', media_ids: [media.id] })
    await sql()`update legal_hold set released_at = now(), released_by = placed_by where id = ${id}`
    const booted = await bootInstallation(files.daemon.config, { works: false, applicationName: 'svc test' })
    await purgeComments.run(booted.installation, null)
    await booted.close()
    expect(await kept()).toEqual({ body: '', media_ids: [] })
    expect(reply.status).toBe(201)
  })

  test('does not come with a copy of the item', async () => {
    const [own, brought] = [await files.file(png), await files.file('b', {}, commenter)]
    await attach(own)
    await written([brought])
    const copy = (await files.ask(`POST /items/${item.id}:duplicate`, {})).json
    expect(await carried(copy)).toEqual([[own.id, null]])
  })
})

describe('nobody brings', () => {
  const leavesAlone = <T>(call: () => Promise<T>) => expectUntouched(files as never, call)

  test('a file that it does not see: somebody else’s is as a random one', async () => {
    const [own, secret] = [await files.file(png, {}, commenter), await files.file('secret', {}, member)]
    for (const id of [secret.id, randomUUID()]) {
      const refused = await leavesAlone(() => write([own.id, id]))
      expect([refused.status, pointers(refused)]).toEqual([422, [['/media_ids/1', 'reference.unknown']]])
    }
    const comment = await written([own])
    const refused = await leavesAlone(() => change(comment, { media_ids: [own.id, secret.id] }))
    expect(pointers(refused)).toEqual([['/media_ids/1', 'reference.unknown']])
  })

  test('another one’s file to another item without being a MEMBER; one that is there it may name', async () => {
    const media = await files.file(png, {}, member)
    const elsewhere = await files.item()
    await attach(media, member, elsewhere)
    expect(code(await leavesAlone(() => write([media.id])))).toEqual([403, 'auth.role_required'])
    await attach(media)
    expect((await written([media])).media_ids).toEqual([media.id])
    expect(await carried()).toEqual([[media.id, null]])
  })

  test('one twice, or more than ten', async () => {
    const { id } = await files.file(png, {}, commenter)
    const comment = await written([])
    for (const answered of [await write([id, id]), await change(comment, { media_ids: [id, id] })])
      expect(pointers(answered)).toEqual([['/media_ids', 'list.unique']])
    const eleven = Array.from({ length: mostFiles + 1 }, () => randomUUID())
    expect(pointers(await write(eleven))).toEqual([['/media_ids', 'list.maximum']])
  })

  test('a refused one', async () => {
    const media = await files.file(png, {}, commenter)
    await sql()`update media set state = 'REFUSED' where id = ${media.id}`
    const refused = await leavesAlone(() => write([media.id]))
    expect([code(refused), refused.json.params]).toEqual([[409, 'media.not_ready'], { state: 'REFUSED' }])
  })

  test('a hundred-and-first to the item, or to a hundred-and-first item', async () => {
    const media = await files.file(png, {}, commenter)
    await sql()`
      with made as (
        insert into media (tenant_id, id, filename, size_bytes, loose_since, created_by)
        select ${files.tenantId}, gen_random_uuid(), 'many', 1, null, ${member.accountId} from generate_series(1, ${mostAttachments}) returning id)
      insert into media_reference (tenant_id, item_id, media_id, added_by)
      select ${files.tenantId}, ${item.id}, id, ${member.accountId} from made`
    const full = { status: 409, json: { code: 'structure.full', params: { limit: mostAttachments } } }
    expect(await leavesAlone(() => write([media.id]))).toMatchObject(full)
    const other = await files.item()
    await sql()`
      insert into item (tenant_id, id, container_id, type, title, rank, created_by)
      select ${files.tenantId}, gen_random_uuid(), ${files.collectionId}, 'TASK', 'carrier', 'q' || lpad(n::text, 4, '0'), ${member.accountId}
      from generate_series(1, ${mostAttachments}) n`
    await sql()`
      insert into media_reference (tenant_id, item_id, media_id, added_by)
      select tenant_id, id, ${media.id}, ${member.accountId} from item where title = 'carrier'`
    expect(await leavesAlone(() => write([media.id], commenter, other))).toMatchObject(full)
  })
})

test('two comments at once with one file: it is brought once, and leaves with the last', async () => {
  const media = await files.file(png, {}, commenter)
  const comments = await Promise.all([written([media]), written([media]), written([media])])
  expect(await carried()).toHaveLength(1)
  await Promise.all(comments.map((one) => remove(one)))
  expect([await carried(), await told(media)]).toEqual([[], ['added.v1', 'removed.v1']])
})
