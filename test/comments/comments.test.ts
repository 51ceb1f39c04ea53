/** Comments: who writes, changes, deletes and reads them; replies, mentions, reactions. Spec: items 4; decision 0225. */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Comment, mostComments, mostMentions, mostReactions } from '../../src/core/contract/comments/operations.ts'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Desk, openDesk, pointers } from '../items/desk.ts'
import type { Answered } from '../kit/daemon.ts'
import type { Person } from '../kit/people.ts'

let desk: Desk
let item: Item
let viewer: Person
let commenter: Person
let member: Person
let admin: Person
beforeAll(async () => {
  desk = await openDesk()
  const { VIEWER, COMMENTER, MEMBER, ADMIN } = desk.people
  viewer = VIEWER
  commenter = COMMENTER
  member = MEMBER
  admin = ADMIN
})
beforeEach(async () => {
  item = await desk.item()
})
afterAll(() => desk.close())

const write = (body: unknown, as = commenter, on: { id: string } = item) =>
  desk.ask(`POST /items/${on.id}/comments`, body, { as })
async function written(members: object = {}, as = commenter, on: { id: string } = item): Promise<Comment> {
  const { status, json, text } = await write({ body: 'A comment', ...members }, as, on)
  expect(status, text).toBe(201)
  return json as Comment
}
const list = async (query = '', as = viewer, on: { id: string } = item) =>
  (await desk.ask(`GET /items/${on.id}/comments?${query}`, undefined, { as })).json as {
    data: Comment[]
    next_cursor: string | null
  }
const change = ({ id }: { id: string }, body: object, as = commenter) => desk.ask(`PATCH /comments/${id}`, body, { as })
const remove = ({ id }: { id: string }, as = commenter) => desk.ask(`DELETE /comments/${id}`, undefined, { as })
const react = ({ id }: { id: string }, reactions: unknown, as = commenter) =>
  desk.ask(`PUT /comments/${id}/reactions`, { reactions }, { as })
const code = ({ status, json }: Answered) => [status, (json as { code?: string } | undefined)?.code]
const rows = (sql = desk.daemon.db.sql) => sql<{ id: string; body: string }[]>`
  select id, body from comment where item_id = ${item.id} order by id`
/** The types and data of the events of this item's comments. */
const told = async (of = item.id) =>
  (
    await desk.daemon.db.sql`
      select type, body::jsonb -> 'data' as data, body::jsonb ->> 'subject' as subject from outbox_event
      where type like '%work.comment.%' and body::jsonb -> 'data' ->> 'item_id' = ${of} order by seq`
  ).map(({ type, data, subject }) => ({ type: type.slice(type.indexOf('work'), -'.v1'.length), data, subject }))

describe('a comment', () => {
  test('is answered as it is listed, found where its Location says, and leaves the item as it was', async () => {
    const { status, headers, json } = await write({ body: 'Ship it?' })
    expect(status).toBe(201)
    expect(headers['etag']).toBe('"1"')
    const at = String(headers['location']).replace('/api/v1', '')
    expect((await desk.ask(`GET ${at}` as 'GET /x')).json.data).toEqual([json])
    expect(json).toMatchObject({ item_id: item.id, reply_to_id: null, created_by: commenter.accountId, version: 1 })
    expect(await desk.read(item)).toEqual(item)
    expect(await told()).toEqual([
      {
        type: 'work.comment.created',
        subject: `/comments/${json.id}`,
        data: { ...json, container_id: desk.collectionId },
      },
    ])
  })

  test('holds its text exactly as it was sent: markup, escapes, composed and decomposed', async () => {
    const body =
      '<script>alert(1)</script> \u001b[31mred\u001b[0m \u202e e\u0301 \u{1f9d1}‍\u{1f680}\r\n<@not-an-id> <@>'
    const made = await written({ body })
    expect([made.body, made.mention_ids]).toEqual([body, []])
    expect((await list()).data[0]?.body).toBe(body)
    expect((await rows())[0]?.body).toBe(body)
  })

  test('is changed by its author alone, whatever the others’ role', async () => {
    const comment = await written()
    for (const as of [member, admin, desk.people.OWNER])
      expect(code(await change(comment, { body: 'x' }, as))).toEqual([403, 'comment.not_author'])
    const { status, json } = await change(comment, { body: 'Better' })
    expect([status, json.version, json.body]).toEqual([200, 2, 'Better'])
    expect(json.edited_at).not.toBeNull()
    expect((await list()).data).toEqual([json])
    expect((await told()).at(-1)).toMatchObject({ type: 'work.comment.changed', data: { body: 'Better', version: 2 } })
  })

  test('that a change leaves as it is keeps its version, and nobody is told', async () => {
    const comment = await written()
    const before = await told()
    for (const body of [{}, { body: comment.body }]) expect((await change(comment, body)).json).toEqual(comment)
    expect(await told()).toEqual(before)
    expect((await desk.ask(`PATCH /comments/${comment.id}`, { body: null }, { as: commenter })).status).toBe(422)
  })

  test('says nothing of its text in the trail', async () => {
    const comment = await written({ body: 'a very private word' })
    await change(comment, { body: 'a very private sentence' })
    await remove(comment)
    const entries = await desk.daemon.db.sql`
      select action, params from audit_entry where subject_kind = 'comment' and subject_id = ${comment.id} order by id`
    expect(entries.map(({ action, params }) => [action, params])).toEqual([
      ['comment.created', { item_id: item.id }],
      ['comment.changed', { item_id: item.id }],
      ['comment.deleted', { item_id: item.id }],
    ])
    const last = (await told()).at(-1)
    expect(last).toMatchObject({ type: 'work.comment.deleted', data: { id: comment.id, is_deleted: true, version: 3 } })
    expect(last?.data).not.toHaveProperty('body')
  })
})

describe('who may', () => {
  test('a VIEWER reads; from COMMENTER upwards one writes', async () => {
    const comment = await written()
    expect((await list()).data).toEqual([comment])
    const answers = [await write({ body: 'x' }, viewer), await react(comment, ['EYES'], viewer)]
    answers.push(await change(comment, { body: 'x' }, viewer), await remove(comment, viewer))
    // The gate lets somebody pass who writes elsewhere; the role that counts is the one in the item's container.
    const guest = await desk.guest()
    await desk.grant({ id: desk.collectionId }, guest, 'VIEWER')
    await desk.grant(await desk.collection(await desk.hub()), guest, 'MEMBER')
    answers.push(await write({ body: 'x' }, guest), await react(comment, ['EYES'], guest))
    for (const answer of answers) expect(code(answer)).toEqual([403, 'auth.role_required'])
  })

  test('an author, or an ADMIN of the container, deletes', async () => {
    const [own, other, third] = [await written(), await written(), await written()]
    expect(code(await remove(own, member))).toEqual([403, 'comment.not_author'])
    expect((await remove(own)).status).toBe(204)
    expect((await remove(other, admin)).status).toBe(204)
    const guest = await desk.guest()
    await desk.grant({ id: desk.collectionId }, guest, 'ADMIN')
    expect((await remove(third, guest)).status).toBe(204)
    expect(code(await remove(own))).toEqual([404, 'not_found'])
    expect(await rows()).toEqual([])
  })

  test('in a private container, and on a deleted item, a comment is as one that is not there', async () => {
    const { id: container_id } = await desk.collection(await desk.hub(), { is_private: true })
    const hidden = await desk.item({ container_id })
    const comment = await written({}, desk.people.OWNER, hidden)
    const gone = await written()
    expect((await desk.ask(`DELETE /items/${item.id}`)).status).toBe(204)
    const calls = (on: { id: string }, of: { id: string }) => [
      write({ body: 'x' }, admin, on),
      desk.ask(`GET /items/${on.id}/comments`, undefined, { as: admin }),
      change(of, { body: 'x' }, admin),
      remove(of, admin),
      react(of, ['EYES'], admin),
    ]
    for (const [on, of] of [
      [hidden, comment],
      [item, gone],
      [{ id: randomUUID() }, { id: randomUUID() }],
    ] as const)
      for (const answer of await Promise.all(calls(on, of))) expect(code(answer)).toEqual([404, 'not_found'])
  })

  test('an archived item, and an archived container, are read and not commented on', async () => {
    const comment = await written()
    await desk.act(item, 'archive')
    const calls = (of: Comment, on: { id: string }) => [
      write({ body: 'x' }, commenter, on),
      change(of, { body: 'x' }),
      remove(of),
      react(of, ['EYES']),
    ]
    for (const answer of await Promise.all(calls(comment, item))) expect(code(answer)).toEqual([409, 'item.archived'])
    expect((await list()).data).toEqual([comment])

    const { id } = await desk.collection(await desk.hub())
    const other = await desk.item({ container_id: id })
    const there = await written({}, commenter, other)
    expect((await desk.ask(`POST /containers/${id}:archive`)).status).toBe(200)
    for (const answer of await Promise.all(calls(there, other)))
      expect(code(answer)).toEqual([409, 'container.archived'])
    expect((await list('', viewer, other)).data).toEqual([there])
  })

  test('a stale tag changes and deletes nothing', async () => {
    const comment = await written()
    for (const method of ['PATCH', 'DELETE'] as const)
      expect(
        code(
          await desk.ask(`${method} /comments/${comment.id}`, method === 'PATCH' ? { body: 'x' } : undefined, {
            as: commenter,
            headers: { 'if-match': '"7"' },
          }),
        ),
      ).toEqual([412, 'precondition.failed'])
    expect((await list()).data).toEqual([comment])
  })
})

describe('a reply', () => {
  test('is to a comment of the same item, and nobody replies to it', async () => {
    const comment = await written()
    const reply = await written({ reply_to_id: comment.id })
    expect(reply.reply_to_id).toBe(comment.id)
    expect(pointers(await write({ body: 'x', reply_to_id: reply.id }))).toEqual([['/reply_to_id', 'comment.is_reply']])
    const elsewhere = await written({}, commenter, await desk.item())
    const removed = await written()
    await remove(removed)
    for (const { id } of [elsewhere, removed, { id: randomUUID() }])
      expect(pointers(await write({ body: 'x', reply_to_id: id }))).toEqual([['/reply_to_id', 'reference.unknown']])
  })

  test('keeps a deleted comment listed, empty, until it goes itself', async () => {
    const comment = await written({ body: `<@${member.accountId}>` })
    await react(comment, ['HEART'], member)
    const [first, second] = [await written({ reply_to_id: comment.id }), await written({ reply_to_id: comment.id })]
    expect((await remove(comment)).status).toBe(204)
    const { created_by, created_at } = comment
    expect((await list()).data[0]).toEqual({
      id: comment.id,
      item_id: item.id,
      reply_to_id: null,
      body: '',
      mention_ids: [],
      media_ids: [],
      reactions: [],
      created_by,
      created_at,
      edited_at: null,
      is_deleted: true,
      version: 2,
    })
    const { sql } = desk.daemon.db
    const [left] = await sql`
      select (select count(*)::int from comment_mention where comment_id = ${comment.id}) as mentions,
             (select count(*)::int from comment_reaction where comment_id = ${comment.id}) as reactions,
             (select body from comment where id = ${comment.id}) as body`
    expect(left).toEqual({ mentions: 0, reactions: 0, body: '' })
    for (const answer of [await change(comment, { body: 'x' }), await remove(comment), await react(comment, ['EYES'])])
      expect(code(answer)).toEqual([404, 'not_found'])

    await remove(first)
    expect((await list()).data.map(({ id }) => id)).toEqual([comment.id, second.id])
    await remove(second)
    expect((await list()).data).toEqual([])
    expect(await rows()).toEqual([])
  })

  test('that comes while its comment goes is seen by the one that waits, and the other way round', async () => {
    const comment = await written()
    const reply = randomUUIDv7()
    let waiting: Promise<Answered> | undefined
    await desk.daemon.db.sql.begin(async (sql) => {
      await sql`select 1 from item where id = ${item.id} for no key update`
      waiting = remove(comment)
      await desk.untilWaiting(1)
      await sql`
        insert into comment (tenant_id, id, item_id, reply_to_id, body, created_by)
        values (${desk.tenantId}, ${reply}, ${item.id}, ${comment.id}, 'just in time', ${member.accountId})`
    })
    expect((await waiting)?.status).toBe(204)
    expect((await list()).data.map(({ id, is_deleted }) => [id, is_deleted])).toEqual([
      [comment.id, true],
      [reply, false],
    ])

    const other = await written()
    await desk.daemon.db.sql.begin(async (sql) => {
      await sql`select 1 from item where id = ${item.id} for no key update`
      waiting = write({ body: 'too late', reply_to_id: other.id })
      await desk.untilWaiting(1)
      await sql`delete from comment where id = ${other.id}`
    })
    expect(pointers((await waiting) as Answered)).toEqual([['/reply_to_id', 'reference.unknown']])
  })
})

describe('a mention', () => {
  const at = (...ids: string[]) => ({ body: ids.map((id) => `<@${id}>`).join(' and ') })

  test('is of an account that sees the item, whatever the case of its id, and once', async () => {
    const guest = await desk.guest()
    await desk.grant({ id: desk.collectionId }, guest, 'VIEWER')
    const ids = [viewer.accountId, guest.accountId]
    const made = await written(at(ids[0]!.toUpperCase(), ids[1]!, ids[0]!))
    expect(made.mention_ids).toEqual([...ids].sort())
    expect((await list()).data[0]).toEqual(made)
  })

  test('of somebody who does not see the item is refused', async () => {
    const guest = await desk.guest()
    const gone = await desk.guest()
    await desk.grant(null, gone, 'MEMBER')
    await desk.daemon.db.sql`update account set state = 'DISABLED' where id = ${gone.accountId}`
    for (const { accountId } of [guest, gone]) {
      const answer = await write(at(member.accountId, accountId))
      expect(code(answer)).toEqual([422, 'mention.no_access'])
      expect(answer.json.params).toEqual({ account_id: accountId })
      expect(pointers(answer)).toEqual([['/body', 'mention.no_access']])
    }
    const { id: container_id } = await desk.collection(await desk.hub(), { is_private: true })
    const hidden = await desk.item({ container_id })
    expect(code(await write(at(member.accountId), desk.people.OWNER, hidden))).toEqual([422, 'mention.no_access'])
    expect(await rows()).toEqual([])
  })

  test('of another workspace’s account is refused as one of an id that was never given out', async () => {
    const { sql } = desk.daemon.db
    const [tenant, stranger] = [randomUUIDv7(), randomUUIDv7()]
    await sql`insert into tenant (id, slug, display_name, default_locale, default_time_zone) values (${tenant}, 'elsewhere', 'E', 'en', 'UTC')`
    await sql`
      insert into account (tenant_id, id, kind, state, email, email_fold)
      values (${tenant}, ${stranger}, 'PERSON', 'ACTIVE', 'a@e.example', 'a@e.example')`
    const never = randomUUIDv7()
    const [foreign, unknown] = [await write(at(stranger)), await write(at(never))]
    const bare = ({ json }: Answered, id: string) => JSON.stringify({ ...json, instance: '' }).replaceAll(id, 'the id')
    expect(pointers(unknown)).toEqual([['/body', 'reference.unknown']])
    expect([foreign.status, bare(foreign, stranger)]).toEqual([unknown.status, bare(unknown, never)])
  })

  test('stays after an edit, also of an account that has lost its access; a new one is asked for', async () => {
    const guest = await desk.guest()
    await desk.grant({ id: desk.collectionId }, guest, 'VIEWER')
    const comment = await written(at(guest.accountId))
    await desk.daemon.db.sql`delete from membership where account_id = ${guest.accountId}`
    const kept = await change(comment, { body: `still <@${guest.accountId}>, and <@${member.accountId}>` })
    expect([kept.status, kept.json.mention_ids]).toEqual([200, [guest.accountId, member.accountId].sort()])
    expect((await change(comment, { body: 'nobody' })).json.mention_ids).toEqual([])
    expect(code(await change(comment, at(guest.accountId)))).toEqual([422, 'mention.no_access'])
    expect((await list()).data[0]).toMatchObject({ body: 'nobody', mention_ids: [], version: 3 })
  })

  test('of a group needs no sight of its members, and stays when the group is gone', async () => {
    const blind = await desk.guest()
    const body = { name: 'A circle', member_ids: [blind.accountId] }
    const { id: group } = (await desk.ask('POST /groups', body, { as: desk.people.OWNER })).json
    const comment = await written(at(group, viewer.accountId))
    expect(comment.mention_ids).toEqual([group, viewer.accountId].sort())
    expect((await list()).data[0]).toEqual(comment)
    const plain = await written({ body: 'nobody' })
    expect((await change(plain, at(group))).json.mention_ids).toEqual([group])
    expect((await list()).data[1]).toMatchObject({ mention_ids: [group] })
    await desk.ask(`DELETE /groups/${group}`, undefined, { as: desk.people.OWNER })
    const changed = await change(comment, { body: `still <@${group}>, and <@${member.accountId}>` })
    expect([changed.status, changed.json.mention_ids]).toEqual([200, [group, member.accountId].sort()])
    expect((await change(comment, { body: 'nobody' })).json.mention_ids).toEqual([])
    expect(pointers(await write(at(group)))).toEqual([['/body', 'reference.unknown']])
  })

  test(`there are at most ${mostMentions} in a comment`, async () => {
    const people = await Promise.all(Array.from({ length: mostMentions }, () => desk.guest()))
    for (const one of people) await desk.grant({ id: desk.collectionId }, one, 'VIEWER')
    const ids = people.map(({ accountId }) => accountId)
    expect((await written(at(...ids))).mention_ids).toEqual([...ids].sort())
    expect(pointers(await write(at(...ids, member.accountId)))).toEqual([['/body', 'list.maximum']])
  })
})

describe('reactions', () => {
  test('are set whole, each account its own, and leave the version', async () => {
    const comment = await written()
    await react(comment, ['HEART', 'EYES'])
    const both = await react(comment, ['HEART'], member)
    expect(both.json).toEqual({
      ...comment,
      reactions: [
        { reaction: 'EYES', account_ids: [commenter.accountId] },
        { reaction: 'HEART', account_ids: [commenter.accountId, member.accountId].sort() },
      ],
    })
    expect((await list()).data).toEqual([both.json])
    const after = await react(comment, ['ROCKET'])
    expect(after.json.reactions).toEqual([
      { reaction: 'HEART', account_ids: [member.accountId] },
      { reaction: 'ROCKET', account_ids: [commenter.accountId] },
    ])
    expect((await told()).at(-1)).toMatchObject({ type: 'work.comment.reacted', data: after.json })
    const before = await told()
    expect((await react(comment, ['ROCKET'])).json).toEqual(after.json)
    expect(await told()).toEqual(before)
    expect((await react(comment, [], member)).json.reactions).toHaveLength(1)
  })

  test('are of a list, each once', async () => {
    const comment = await written()
    expect(pointers(await react(comment, ['EYES', 'EYES']))).toEqual([['/reactions', 'list.unique']])
    expect(pointers(await react(comment, ['SHRUG']))).toEqual([['/reactions/0', 'value.one_of']])
  })

  test('of many at once are all there', async () => {
    const comment = await written()
    const people = [commenter, member, admin, desk.people.OWNER]
    await Promise.all(people.flatMap((as) => [react(comment, ['HEART'], as), react(comment, ['HEART', 'LAUGH'], as)]))
    await Promise.all(people.map((as) => react(comment, ['HOORAY'], as)))
    const ids = people.map(({ accountId }) => accountId).sort()
    expect((await list()).data[0]?.reactions).toEqual([{ reaction: 'HOORAY', account_ids: ids }])
  })

  test(`are at most ${mostReactions} to a comment`, async () => {
    const comment = await written()
    const { sql } = desk.daemon.db
    await sql`
      with made as (
        insert into account (tenant_id, id, kind, state, email, email_fold)
        select ${desk.tenantId}, uuidv7(), 'PERSON', 'ACTIVE', 'r' || n || '@x.example', 'r' || n || '@x.example'
        from generate_series(1, ${mostReactions}) n returning id)
      insert into comment_reaction (tenant_id, comment_id, account_id, reaction)
      select ${desk.tenantId}, ${comment.id}, id, 'EYES' from made`
    expect(code(await react(comment, ['HEART']))).toEqual([409, 'structure.full'])
    expect((await list()).data[0]?.reactions[0]?.account_ids).toHaveLength(mostReactions)
  })
})

test('pages walk the comments both ways, each once, beside those that come meanwhile', async () => {
  const ids: string[] = []
  for (let n = 0; n < 7; n += 1) ids.push((await written({ body: `${n}` })).id)
  for (const order of ['ASC', 'DESC']) {
    const found: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Awaited<ReturnType<typeof list>> = await list(`size=2&order=${order}${cursor && `&cursor=${cursor}`}`)
      found.push(...page.data.map(({ id }) => id))
      cursor = page.next_cursor
      if (order === 'DESC') await written({ body: 'later' })
    }
    expect(found).toEqual(order === 'ASC' ? ids : ids.toReversed())
  }
  const { next_cursor } = await list('size=2')
  const other = await desk.item()
  const foreign = await desk.ask(`GET /items/${other.id}/comments?size=2&cursor=${next_cursor}`)
  expect(code(foreign)).toEqual([400, 'cursor.invalid'])
})

test('a page of the longest comments ends at about a mebibyte', async () => {
  const body = '€'.repeat(20_000)
  for (let n = 0; n < 20; n += 1) await written({ body })
  const { data, next_cursor } = await list('size=20')
  expect(data.length).toBeGreaterThan(10)
  expect(data.length).toBeLessThan(20)
  expect((await list(`size=20&cursor=${next_cursor}`)).data.length + data.length).toBe(20)
})

test(`an item has at most ${mostComments} comments, also when they come at once`, async () => {
  await desk.daemon.db.sql`
    insert into comment (tenant_id, id, item_id, body, created_by)
    select ${desk.tenantId}, uuidv7(), ${item.id}, 'one', ${member.accountId} from generate_series(1, ${mostComments - 1})`
  const answers = await Promise.all(Array.from({ length: 5 }, () => write({ body: 'x' })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
  expect(answers.find(({ status }) => status === 409)?.json).toMatchObject({
    code: 'structure.full',
    params: { limit: mostComments },
  })
  const made = answers.find(({ status }) => status === 201)
  expect((await remove(made!.json)).status).toBe(204)
  expect((await write({ body: 'x' })).status).toBe(201)
})

test('a query counts the comments of what it answers, and of nothing else', async () => {
  const { collectionId } = await desk.shelf(1)
  const [none, two] = [await desk.item({ container_id: collectionId }), await desk.item({ container_id: collectionId })]
  const [kept, gone] = [await written({}, commenter, two), await written({}, commenter, two)]
  await written({ reply_to_id: kept.id }, commenter, two)
  await remove(gone)
  const replied = await written({}, commenter, two)
  await written({ reply_to_id: replied.id }, commenter, two)
  await remove(replied)
  const ask = async (body: object) =>
    (await desk.ask('POST /items:query', { container_id: collectionId, ...body }, { as: viewer })).json
  const counts = { [none.id]: { comments: 0 }, [two.id]: { comments: 3 } }
  expect((await ask({ include: ['COMMENTS'] })).extras).toEqual(counts)
  expect((await ask({ include: ['COMMENTS'], group_by: { by: 'state' } })).extras).toEqual(counts)
  const filter = { field: 'id', op: 'is', value: two.id }
  expect((await ask({ include: ['COMMENTS'], filter })).extras).toEqual({ [two.id]: { comments: 3 } })
  expect(await ask({})).not.toHaveProperty('extras')
})
