/** Deleted comments under a legal hold: hidden alike, kept, and purged after the release. Spec: items 3 and 4; decision 0225. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { purgeComments } from '../../src/core/areas/comments/purge.ts'
import type { Comment } from '../../src/core/contract/comments/operations.ts'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import type { Person } from '../kit/people.ts'

let desk: Desk
let commenter: Person
beforeAll(async () => {
  desk = await openDesk()
  commenter = desk.people.COMMENTER
})
afterAll(() => desk.close())

async function written(item: Item, body: string, reply_to_id?: string): Promise<Comment> {
  const sent = { body, ...(reply_to_id === undefined ? {} : { reply_to_id }) }
  return (await desk.ask(`POST /items/${item.id}/comments`, sent, { as: commenter })).json
}
const remove = ({ id }: Comment) => desk.ask(`DELETE /comments/${id}`, undefined, { as: commenter })
const shown = async ({ id }: Item) => (await desk.ask(`GET /items/${id}/comments`)).json.data as Comment[]
const kept = async (item: Item) =>
  (await desk.daemon.db.sql`select body from comment where item_id = ${item.id} order by id`).map(({ body }) => body)

async function hold(kind: string, scopeId: string | null): Promise<() => Promise<unknown>> {
  const { sql } = desk.daemon.db
  const id = randomUUIDv7()
  await sql`
    insert into legal_hold (tenant_id, id, scope_kind, scope_id, reason, placed_by)
    values (${desk.tenantId}, ${id}, ${kind}, ${scopeId}, 'a case', ${commenter.accountId})`
  return () => sql`update legal_hold set released_at = now(), released_by = placed_by where id = ${id}`
}

async function purge(): Promise<void> {
  const booted = await bootInstallation(desk.daemon.config, { works: false, applicationName: 'svc test' })
  await purgeComments.run(booted.installation, null)
  await booted.close()
}

const scopes: readonly (readonly [string, (item: Item, hub: string) => string | null])[] = [
  ['TENANT', () => null],
  ['CONTAINER', ({ container_id }) => container_id],
  ['CONTAINER', (_, hub) => hub],
  ['ITEM', ({ id }) => id],
  ['ACCOUNT', () => commenter.accountId],
]

test.each(scopes)('a hold on %s keeps the texts, hidden, until its release', async (kind, scopeOf) => {
  const item = await desk.item()
  const { parent_id: hub } = (await desk.ask(`GET /containers/${desk.collectionId}`)).json
  const comment = await written(item, 'a secret')
  const reply = await written(item, `told to <@${commenter.accountId}>`, comment.id)
  await desk.ask(`PUT /comments/${reply.id}/reactions`, { reactions: ['EYES'] })
  const release = await hold(kind, scopeOf(item, hub))

  expect([(await remove(comment)).status, (await remove(reply)).status]).toEqual([204, 204])
  expect(await shown(item)).toEqual([])
  expect((await remove(comment)).status).toBe(404)
  await purge()
  expect(await kept(item)).toEqual(['a secret', `told to <@${commenter.accountId}>`])

  await release()
  await purge()
  expect(await kept(item)).toEqual([])
})

test('a hold on an item keeps the texts of all that is below it', async () => {
  const top = await desk.item()
  const child = await desk.item({ parent_id: top.id })
  const below = await desk.item({ parent_id: child.id })
  const comment = await written(below, 'a secret')
  const release = await hold('ITEM', top.id)
  expect((await remove(comment)).status).toBe(204)
  await purge()
  expect(await kept(below)).toEqual(['a secret'])
  await release()
  await purge()
  expect(await kept(below)).toEqual([])
})

test('after the release a comment that is replied to keeps its place, and nothing else', async () => {
  const item = await desk.item()
  const comment = await written(item, `a secret of <@${commenter.accountId}>`)
  const reply = await written(item, 'a reply', comment.id)
  const release = await hold('ITEM', item.id)
  await remove(comment)
  const under = await shown(item)
  expect(under.map(({ body, mention_ids, is_deleted }) => [body, mention_ids, is_deleted])).toEqual([
    ['', [], true],
    ['a reply', [], false],
  ])
  await release()
  await purge()
  expect(await shown(item)).toEqual(under)
  expect(await kept(item)).toEqual(['', 'a reply'])
  expect(await desk.daemon.db.sql`select 1 from comment_mention where comment_id = ${comment.id}`).toHaveLength(0)
  await remove(reply)
  expect(await kept(item)).toEqual([])
})

test('a hold on something else keeps nothing', async () => {
  const [item, other] = [await desk.item(), await desk.item()]
  const releases = [await hold('ITEM', other.id), await hold('ACCOUNT', desk.people.OWNER.accountId)]
  await remove(await written(item, 'a word'))
  expect(await kept(item)).toEqual([])
  for (const release of releases) await release()
})

test('the job leaves a suspended workspace as it is', async () => {
  const item = await desk.item()
  const comment = await written(item, 'a secret')
  const release = await hold('ITEM', item.id)
  await remove(comment)
  await release()
  const { sql } = desk.daemon.db
  await sql`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${desk.tenantId}`
  await purge()
  await sql`update tenant set state = 'ACTIVE', suspended_at = null where id = ${desk.tenantId}`
  expect(await kept(item)).toEqual(['a secret'])
  await purge()
  expect(await kept(item)).toEqual([])
})

test('comments go with the row of their item', async () => {
  const item = await desk.item()
  const comment = await written(item, 'a secret')
  await written(item, 'a reply', comment.id)
  const { sql } = desk.daemon.db
  await sql`delete from item_field_key where item_id = ${item.id}`
  await sql`delete from item where id = ${item.id}`
  expect(await kept(item)).toEqual([])
})
