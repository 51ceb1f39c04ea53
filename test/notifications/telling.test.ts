/** What people are told of, once, and what they are not. Spec: people 3; decisions 0430, 0431. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { tellAdministrators } from '../../src/core/areas/mail/jobs.ts'
import { sweepNotifications } from '../../src/core/areas/notifications/jobs.ts'
import { takeTurn } from '../../src/core/areas/notifications/telling.ts'
import type { Item } from '../../src/core/contract/items/operations.ts'
import type { AccountActor } from '../../src/core/kernel/values/actor.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import { type Person, person } from '../kit/people.ts'
import { openTelling, type Telling } from './telling-kit.ts'

let desk: Desk
let telling: Telling
/** Makes the items. */
let maker: Person
/** Changes them. */
let other: Person
/** Joins them. */
let member: Person
let item: Item
beforeAll(async () => {
  desk = await openDesk()
  telling = await openTelling(desk)
  maker = desk.people.ADMIN
  other = desk.people.OWNER
  member = desk.people.MEMBER
})
beforeEach(async () => {
  await telling.clean()
  item = await desk.item({ title: 'The invitation' }, maker)
})
afterAll(async () => {
  await telling.close()
  await desk.close()
})

const sql = () => desk.daemon.db.sql
const ask = async (call: string, body: unknown, as: Person) => {
  const { status, json, text } = await desk.ask(call as 'POST /x', body, { as })
  expect([call, status < 300], text).toEqual([call, true])
  return json
}
const join = (who: Person, as: Person, on: Item = item) =>
  ask(`PUT /items/${on.id}/members/${who.accountId}`, undefined, as)
const retitle = (as: Person, title: string) => ask(`PATCH /items/${item.id}`, { title }, as)
const say = (body: string, as: Person, more: object = {}) =>
  ask(`POST /items/${item.id}/comments`, { body, ...more }, as)
const waiting = async () =>
  (await sql()`select count(*)::int as count from notification_pending`)[0]?.['count'] as number

describe('who is told', () => {
  test('who made the item of what others change, and nobody of the own acts', async () => {
    await retitle(maker, 'Mine')
    expect(await waiting(), 'what concerns its actor alone costs no row').toBe(0)
    await retitle(other, 'Theirs')
    expect(await telling.brief(maker)).toEqual(['CHANGED work.item.changed 1'])
    const { data, unread_count } = await telling.shown(maker)
    expect(data).toEqual([
      {
        ...{ id: expect.any(String), category: 'CHANGED', at: expect.any(String), count: 1 },
        ...{ event_type: 'svc.work.item.changed.v1', actor_id: other.accountId, subject: `/items/${item.id}` },
        ...{ container_id: desk.collectionId, text: null, read_at: null },
      },
    ])
    expect(unread_count).toBe(1)
    expect(await telling.brief(other)).toEqual([])
    expect(await telling.brief(member)).toEqual([])
  })

  test('nobody of the own comment on the own item, the own answer to it, and the own act on a group of one', async () => {
    await join(member, other)
    const group = await ask('POST /groups', { name: `G ${randomUUIDv7()}`, member_ids: [other.accountId] }, other)
    await telling.clean()
    const { id } = await say('First', maker)
    await say('Second', maker, { reply_to_id: id })
    await ask('POST /memberships', { group_id: group.id, container_id: desk.collectionId, role: 'ADMIN' }, other)
    expect(await telling.brief(member)).toEqual(['COMMENTED work.comment.created 2'])
    expect([await telling.brief(maker), await telling.brief(other)]).toEqual([[], []])
  })

  test('whom an assignment names by it alone, in one category', async () => {
    await ask(`POST /items/${item.id}:assign`, { account_id: member.accountId }, other)
    expect(await telling.brief(member)).toEqual(['ASSIGNED work.item.assigned 1'])
    expect(await telling.brief(maker)).toEqual(['CHANGED work.item.assigned 1'])
    await ask(`POST /items/${item.id}:unassign`, {}, other)
    expect(await telling.brief(member)).toEqual(['CHANGED work.item.unassigned 1', 'ASSIGNED work.item.assigned 1'])
  })

  test('whoever is taken off the members, too', async () => {
    await join(member, other)
    await ask(`DELETE /items/${item.id}/members/${member.accountId}`, undefined, other)
    expect(await telling.brief(member)).toEqual(['CHANGED work.item.member_removed 2'])
  })

  test('nobody of a place among others', async () => {
    const second = await desk.item({}, maker)
    await ask(`POST /items/${second.id}:reorder`, { before_item_id: item.id }, other)
    expect(await telling.brief(maker)).toEqual([])
  })

  test('of comments: who is mentioned by that alone, the people of the item, and who is replied to', async () => {
    const { COMMENTER, VIEWER } = desk.people
    await join(member, maker)
    const comment = await say(`Ready, <@${VIEWER.accountId}>, <@${member.accountId}>?`, COMMENTER)
    await say('Yes', other, { reply_to_id: comment.id })
    expect(await telling.brief(VIEWER)).toEqual(['MENTIONED work.comment.created 1'])
    expect(await telling.brief(member)).toEqual([
      'COMMENTED work.comment.created 1',
      'MENTIONED work.comment.created 1',
      'CHANGED work.item.member_added 1',
    ])
    expect(await telling.brief(maker)).toEqual(['COMMENTED work.comment.created 2'])
    expect(await telling.brief(COMMENTER)).toEqual(['COMMENTED work.comment.created 1'])
    expect((await telling.shown(VIEWER)).data[0]?.subject, 'of the item, not of the comment').toBe(`/items/${item.id}`)
  })

  test('of a comment that mentions a group: who of it sees the item, a hundred at most', async () => {
    const { COMMENTER, VIEWER } = desk.people
    const blind = await desk.guest()
    const ids = [VIEWER, blind, COMMENTER, member].map(({ accountId }) => accountId)
    const group = await ask('POST /groups', { name: `G ${randomUUIDv7()}`, member_ids: ids }, other)
    await telling.clean()
    await say(`All of <@${group.id}>, and <@${member.accountId}>`, COMMENTER)
    expect(await telling.brief(VIEWER)).toEqual(['MENTIONED work.comment.created 1'])
    expect(await telling.brief(member)).toEqual(['MENTIONED work.comment.created 1'])
    expect(await telling.brief(COMMENTER)).toEqual([])
    expect(await sql()`select 1 from notification where account_id = ${blind.accountId}`).toHaveLength(0)
    await sql()`
      with made as (
        insert into account (tenant_id, id, kind, state, email, email_fold, display_name)
        select ${desk.tenantId}, gen_random_uuid(), 'PERSON', 'ACTIVE', n || '@many.example', n || '@many.example', 'One of many'
        from generate_series(1, 200) n returning id),
      held as (
        insert into membership (tenant_id, id, account_id, container_id, role)
        select ${desk.tenantId}, gen_random_uuid(), id, null, 'VIEWER' from made)
      insert into group_member (tenant_id, group_id, account_id) select ${desk.tenantId}, ${group.id}, id from made`
    await telling.clean()
    await say(`Once more <@${group.id}>`, COMMENTER)
    await telling.brief(VIEWER)
    const [told] = await sql()`select count(*)::int as count from notification where category = 'MENTIONED'`
    expect(told?.['count']).toBeLessThanOrEqual(100)
    expect(told?.['count']).toBeGreaterThan(70)
  })

  test('of an edited comment whom the edit mentions newly', async () => {
    const { COMMENTER, VIEWER } = desk.people
    const comment = await say(`<@${VIEWER.accountId}>`, COMMENTER)
    await telling.clean()
    await ask(`PATCH /comments/${comment.id}`, { body: `<@${VIEWER.accountId}> <@${member.accountId}>` }, COMMENTER)
    expect(await telling.brief(VIEWER)).toEqual([])
    expect(await telling.brief(member)).toEqual(['MENTIONED work.comment.changed 1'])
  })

  test('of a role: the account, and the members of a group', async () => {
    const someone = await person(desk.daemon, desk.tenantId, { role: 'VIEWER' })
    await sql()`update account set created_at = now() - interval '1 day' where id = ${someone.accountId}`
    const group = await ask('POST /groups', { name: `G ${randomUUIDv7()}` }, other)
    await ask(`PUT /groups/${group.id}/members/${someone.accountId}`, undefined, other)
    await ask(
      'POST /memberships',
      { account_id: someone.accountId, container_id: desk.collectionId, role: 'MEMBER' },
      other,
    )
    await ask('POST /memberships', { group_id: group.id, container_id: desk.collectionId, role: 'ADMIN' }, other)
    expect((await telling.brief(someone)).toSorted()).toEqual([
      'ACCESS identity.group.member_added 1',
      'ACCESS identity.membership.granted 1',
      'ACCESS identity.membership.granted 1',
    ])
  })

  test('of the role with which an account comes nobody', async () => {
    const someone = await person(desk.daemon, desk.tenantId, { role: 'VIEWER' })
    await ask('POST /memberships', { account_id: someone.accountId, role: 'MEMBER' }, other)
    expect(await telling.brief(someone)).toEqual([])
  })

  test('administrators of each mail that they get, by no further mail', async () => {
    const at = new Date().toISOString()
    const notice = { tenantId: desk.tenantId, noticeId: randomUUIDv7(), name: 'provider_ended', at } as const
    await tellAdministrators.run(telling.installation, notice)
    await tellAdministrators.run(telling.installation, notice)
    const { data } = await telling.shown(maker)
    expect(data).toMatchObject([
      {
        ...{ category: 'ADMINISTRATION', event_type: 'provider_ended', actor_id: null, count: 1 },
        ...{ subject: `/tenants/${desk.tenantId}`, container_id: null },
      },
    ])
    expect(await telling.brief(member)).toEqual([])
    expect([...(await sql()`select distinct mail_form from notification`)]).toEqual([{ mail_form: null }])
  })

  test('of the own ways in, where somebody else changed them', async () => {
    const someone = await person(desk.daemon, desk.tenantId, { role: 'VIEWER' })
    await sql()`update account set created_at = now() - interval '1 day' where id = ${someone.accountId}`
    await record('identity.second_factor.removed', someone, { account_id: someone.accountId })
    await record('identity.second_factor.removed', other, { account_id: someone.accountId })
    expect(await telling.brief(someone)).toEqual(['SECURITY identity.second_factor.removed 1'])
  })

  test('of the restriction of the own account, and of its end', async () => {
    const someone = await person(desk.daemon, desk.tenantId, { role: 'VIEWER' })
    await sql()`update account set created_at = now() - interval '1 day' where id = ${someone.accountId}`
    for (const restricted of [true, false])
      await ask(
        `POST /accounts/${someone.accountId}:restrict`,
        restricted ? { restricted, ground: 'CLAIMS' } : { restricted },
        other,
      )
    expect(await telling.brief(someone)).toEqual(['SECURITY identity.account.unrestricted 2'])
  })
})

/** Records an event as an account's act. */
async function record(name: 'identity.second_factor.removed', as: Person, data: { account_id: string }): Promise<void> {
  const actor = {
    ...{ kind: 'ACCOUNT', tenantId: as.tenantId, accountId: as.accountId, credentialId: as.credentialId },
    ...{ bearerId: as.credentialId, sessionId: null, scopes: [], role: 'OWNER', isOperator: false },
  } as AccountActor
  await telling.installation.transaction(actor, { tenantId: as.tenantId }, (ctx) => ctx.record(name, data))
}

describe('who is not told', () => {
  test('who is disabled, a service account, and who sees the container no more', async () => {
    const service = await person(desk.daemon, desk.tenantId, { role: 'MEMBER', kind: 'SERVICE' })
    const gone = await person(desk.daemon, desk.tenantId, { role: 'MEMBER' })
    const guest = await person(desk.daemon, desk.tenantId, { role: 'MEMBER' })
    for (const who of [service, gone, guest]) await join(who, maker)
    await telling.clean()
    await retitle(other, 'Changed')
    await sql()`update account set state = 'DISABLED' where id = ${gone.accountId}`
    await sql()`delete from membership where account_id = ${guest.accountId}`
    await telling.tell()
    const told = await sql()`select account_id from notification`
    expect(told.map(({ account_id }) => account_id)).toEqual([maker.accountId])
  })

  test('of a private container whoever was let in by nothing', async () => {
    await join(member, maker)
    await telling.clean()
    await retitle(other, 'Hidden')
    await sql()`update container set is_private = true where id = ${desk.collectionId}`
    await telling.tell()
    await sql()`update container set is_private = false where id = ${desk.collectionId}`
    expect(await telling.brief(member)).toEqual([])
    expect(await telling.brief(maker)).toEqual([])
  })

  test('nobody of a workspace that is suspended meanwhile, not even later', async () => {
    await retitle(other, 'Late')
    await sql()`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${desk.tenantId}`
    await expect(takeTurn(telling.installation, desk.tenantId)).rejects.toMatchObject({ code: 'tenant_suspended' })
    await telling.tell()
    await sql()`update tenant set state = 'ACTIVE', suspended_at = null where id = ${desk.tenantId}`
    expect([await waiting(), await telling.brief(maker)]).toEqual([0, []])
  })

  test('nobody of an event that a restore wrote', async () => {
    await retitle(other, 'Restored')
    await sql()`update outbox_event set is_restored = true where id in (select event_id from notification_pending)`
    expect(await telling.brief(maker)).toEqual([])
    expect(await waiting()).toBe(0)
  })
})

describe('once', () => {
  test('what was told and waits again is told once', async () => {
    await retitle(other, 'Twice')
    const rows = await sql()`select * from notification_pending`
    await telling.tell()
    await sql()`insert into notification_pending select * from jsonb_populate_recordset(null::notification_pending, ${sql().json(rows as never)})`
    expect(await telling.brief(maker)).toEqual(['CHANGED work.item.changed 1'])
  })

  test('an unread one takes in what comes of its subject within an hour of its first event; a read one does not', async () => {
    await retitle(other, 'One')
    await telling.tell()
    await retitle(other, 'Two')
    await telling.tell()
    await retitle(other, 'Three')
    expect(await telling.brief(maker)).toEqual(['CHANGED work.item.changed 3'])
    await sql()`update notification set began_at = began_at - interval '61 minutes'`
    await retitle(other, 'Four')
    expect(await telling.brief(maker)).toEqual(['CHANGED work.item.changed 1', 'CHANGED work.item.changed 3'])
    const { data } = await telling.shown(maker)
    await ask('POST /accounts/me/notifications:mark-read', { ids: [data[0]?.id] }, maker)
    await retitle(other, 'Five')
    expect(await telling.brief(maker)).toEqual([
      'CHANGED work.item.changed 1',
      'CHANGED work.item.changed 1',
      'CHANGED work.item.changed 3',
    ])
  })

  test('two daemons at it tell each once', async () => {
    for (let n = 0; n < 30; n += 1) {
      const one = await desk.item({}, maker)
      await ask(`PATCH /items/${one.id}`, { title: `New ${n}` }, other)
    }
    const second = await openTelling(desk)
    await Promise.all([telling.tell(), second.tell(), telling.tell()])
    await telling.tell()
    await second.close()
    const told = await sql()`select count(*)::int as rows, sum(count)::int as events from notification`
    expect([...told]).toEqual([{ rows: 30, events: 30 }])
  })

  test('what is older than 90 days is swept', async () => {
    await retitle(other, 'Old')
    await telling.tell()
    await sql()`update notification set at = now() - interval '89 days'`
    await sweepNotifications.run(telling.installation, {})
    expect((await telling.shown(maker)).unread_count).toBe(1)
    await sql()`update notification set at = now() - interval '91 days'`
    await sweepNotifications.run(telling.installation, {})
    expect((await telling.shown(maker)).unread_count).toBe(0)
  })

  test('a thousand are kept of an account, the newest', async () => {
    await sql()`
      insert into notification (tenant_id, account_id, event_id, category, id, event_type, subject, began_at, at, is_listed)
      select ${desk.tenantId}, ${maker.accountId}, gen_random_uuid(), 'CHANGED', gen_random_uuid(), 'svc.work.item.changed.v1',
             '/items/' || gen_random_uuid(), now() - n * interval '1 minute', now() - n * interval '1 minute', true
      from generate_series(1, 1000) n`
    await retitle(other, 'One more')
    const { unread_count, data } = await telling.shown(maker, 'size=1')
    expect([unread_count, data[0]?.subject]).toEqual([1000, `/items/${item.id}`])
    const [row] =
      await sql()`select count(*)::int as count, min(at) > now() - interval '1000 minutes' as is_newest from notification`
    expect(row).toEqual({ count: 1000, is_newest: true })
  })
})

describe('a category that nothing produces yet', () => {
  test.each(['DUE', 'AUTOMATION'])('%s is told as the others', async (category) => {
    await sql()`
      insert into notification_pending (tenant_id, id, event_id, event_type, at, subject, item_id, container_id, text, told)
      values (${desk.tenantId}, ${randomUUIDv7()}, ${randomUUIDv7()}, 'svc.work.item.due.v1', now(), ${`/items/${item.id}`}, ${item.id},
              ${desk.collectionId}, ${category === 'AUTOMATION' ? 'Look at this' : null}, ${sql().json([{ category, accounts: [maker.accountId] }])})`
    const { data } = await telling.shown(maker)
    expect(data).toMatchObject([{ category, actor_id: null, text: category === 'AUTOMATION' ? 'Look at this' : null }])
  })
})
