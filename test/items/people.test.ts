/** Who is responsible for an item, and who takes part. Spec: items 1, People; decision 0201. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Person, person } from '../kit/people.ts'
import { type Desk, expectUntouched, isRead, openDesk, pointers } from './desk.ts'

let desk: Desk
let member: Person
let viewer: Person
beforeAll(async () => {
  desk = await openDesk()
  member = desk.people.MEMBER
  viewer = desk.people.VIEWER
})
afterAll(() => desk.close())

const leavesAlone = <T>(call: () => Promise<T>) => expectUntouched(desk, call)
const assign = ({ id }: Item, { accountId }: Pick<Person, 'accountId'>, more = {}) =>
  desk.ask(`POST /items/${id}:assign`, { account_id: accountId }, more)
const add = ({ id }: Item, { accountId }: Pick<Person, 'accountId'>, more = {}) =>
  desk.ask(`PUT /items/${id}/members/${accountId}`, undefined, more)
const remove = ({ id }: Item, { accountId }: Pick<Person, 'accountId'>, more = {}) =>
  desk.ask(`DELETE /items/${id}/members/${accountId}`, undefined, more)
async function assigned(who: Person): Promise<Item> {
  const { status, json } = await assign(await desk.item(), who)
  expect(status).toBe(200)
  return json as Item
}
const newestEntry = async ({ id }: Item) => (await desk.ask(`GET /items/${id}/activity`)).json.data[0]

describe('the assignee', () => {
  test('is a member, and the one before stays one', async () => {
    const item = await assigned(member)
    const { accountId } = member
    expect(item).toMatchObject({ assignee_id: accountId, member_ids: [accountId], version: 2 })
    await isRead(desk, item)
    const admin = desk.people.ADMIN.accountId
    const { json } = await assign(item, desk.people.ADMIN)
    expect(json).toMatchObject({ assignee_id: admin, member_ids: [accountId, admin].sort(), version: 3 })
    await isRead(desk, json)
    expect(await newestEntry(item)).toMatchObject({
      action: 'item.assigned',
      params: { account_id: admin, before: accountId },
    })
    expect((await leavesAlone(() => assign(item, desk.people.ADMIN))).json).toEqual(json)
  })

  test('who was a member before is one once', async () => {
    const item = await desk.item()
    await add(item, member)
    expect((await assign(item, member)).json.member_ids).toEqual([member.accountId])
  })

  test('is taken off and stays a member; another one who is named changes nothing', async () => {
    const item = await assigned(member)
    const unassign = (body: object) => desk.ask(`POST /items/${item.id}:unassign`, body)
    const other = await leavesAlone(() => unassign({ account_id: desk.people.ADMIN.accountId }))
    expect([other.status, other.json]).toEqual([200, item])
    const { json } = await unassign({ account_id: member.accountId })
    expect(json).toMatchObject({ assignee_id: null, member_ids: [member.accountId] })
    await isRead(desk, json)
    expect((await leavesAlone(() => unassign({}))).json).toEqual(json)
    await assign(item, desk.people.ADMIN)
    expect((await unassign({})).json.assignee_id).toBe(null)
    expect(await newestEntry(item)).toMatchObject({ params: { account_id: desk.people.ADMIN.accountId } })
  })

  test('an account that nobody has is refused at its member', async () => {
    const item = await desk.item()
    const account_id = randomUUID()
    for (const act of ['assign', 'unassign']) {
      const answer = await leavesAlone(() => desk.ask(`POST /items/${item.id}:${act}`, { account_id }))
      expect([act, answer.status, pointers(answer)]).toEqual([act, 422, [['/account_id', 'reference.unknown']]])
    }
  })
})

describe('members', () => {
  test('are added and taken off, once each', async () => {
    const item = await desk.item()
    const { status, headers, json } = await add(item, viewer)
    expect([status, headers.etag, json.member_ids]).toEqual([200, '"2"', [viewer.accountId]])
    await isRead(desk, json)
    expect((await leavesAlone(() => add(item, viewer))).json).toEqual(json)
    expect((await remove(item, viewer)).status).toBe(204)
    const after = await desk.read(item)
    expect(after).toMatchObject({ member_ids: [], version: 3 })
    expect(await desk.told(item)).toEqual(after)
    expect((await leavesAlone(() => remove(item, viewer))).status).toBe(204)
  })

  test('taking the assignee off leaves nobody responsible', async () => {
    const item = await assigned(member)
    await add(item, viewer)
    expect((await remove(item, member)).status).toBe(204)
    const after = await desk.read(item)
    expect(after).toMatchObject({ member_ids: [viewer.accountId], assignee_id: null })
    expect(await desk.told(item)).toEqual(after)
    await assign(item, member)
    await remove(item, viewer)
    expect(await desk.read(item)).toMatchObject({ member_ids: [member.accountId], assignee_id: member.accountId })
  })

  test('are a hundred at most, the assignee one of them', async () => {
    const item = await desk.item()
    const { sql } = desk.daemon.db
    const crowd = Array.from({ length: 99 }, () => ({
      tenant_id: desk.tenantId,
      id: randomUUID(),
      kind: 'SERVICE',
      state: 'ACTIVE',
    }))
    await sql`insert into account ${sql(crowd)}`
    await sql`insert into item_member ${sql(crowd.map(({ tenant_id, id }) => ({ tenant_id, item_id: item.id, account_id: id })))}`
    await sql`update item set without_members = false where id = ${item.id}`
    expect((await add(item, viewer)).status).toBe(200)
    for (const full of [await leavesAlone(() => add(item, member)), await leavesAlone(() => assign(item, member))])
      expect([full.status, full.json.code, full.json.params]).toEqual([409, 'structure.full', { limit: 100 }])
    const [first] = crowd
    await desk.grant(null, { ...member, accountId: first!.id }, 'MEMBER')
    expect((await assign(item, { accountId: first!.id })).json.member_ids).toHaveLength(100)
  })

  test('an account that nobody has is not found', async () => {
    const item = await desk.item()
    for (const call of [add, remove]) {
      const { status, json } = await leavesAlone(() => call(item, { accountId: randomUUID() }))
      expect([status, json.code]).toEqual([404, 'not_found'])
    }
  })

  test('readers add and take off themselves and nobody else; nobody needs more for it', async () => {
    const item = await desk.item()
    expect((await add(item, viewer, { as: viewer })).status).toBe(200)
    expect((await remove(item, viewer, { as: viewer })).status).toBe(204)
    for (const call of [add, remove]) {
      const { status, json } = await leavesAlone(() => call(item, member, { as: viewer }))
      expect([status, json.code, json.params]).toEqual([403, 'auth.role_required', { role: 'MEMBER' }])
    }
    const { json } = await leavesAlone(() => assign(item, member, { as: desk.people.COMMENTER }))
    expect(json.code).toBe('auth.role_required')
  })
})

describe('an account without access', () => {
  async function refusal(call: typeof add, item: Item, who: Person): Promise<unknown> {
    const { status, json } = await leavesAlone(() => call(item, who))
    expect([status, json.code]).toEqual([409, 'item.account_no_access'])
    return json.params
  }
  const made = (credential: object) => person(desk.daemon, desk.tenantId, credential)

  test('is refused with the role that it lacks', async () => {
    const item = await desk.item()
    expect(await refusal(assign, item, desk.people.COMMENTER)).toEqual({ role: 'MEMBER' })
    const guest = await desk.guest()
    expect(await refusal(assign, item, guest)).toEqual({ role: 'MEMBER' })
    expect(await refusal(add, item, guest)).toEqual({ role: 'VIEWER' })
    await desk.grant({ id: desk.collectionId }, guest, 'VIEWER')
    expect((await add(item, guest)).status).toBe(200)
    expect(await refusal(assign, item, guest)).toEqual({ role: 'MEMBER' })
    await desk.grant({ id: desk.collectionId }, guest, 'MEMBER')
    expect((await assign(item, guest)).status).toBe(200)
  })

  test('a disabled one is refused, an invited one is not', async () => {
    const item = await desk.item()
    const disabled = await made({ accountState: 'DISABLED' })
    expect(await refusal(assign, item, disabled)).toEqual({ role: 'MEMBER' })
    expect(await refusal(add, item, disabled)).toEqual({ role: 'VIEWER' })
    expect((await assign(item, await made({ accountState: 'INVITED' }))).status).toBe(200)
  })

  test('in a private container: its own members and OWNERs have access, and those of a hub only if the hub is private', async () => {
    const hub = await desk.hub({ is_private: true })
    const inHub = await desk.collection(hub)
    const alone = await desk.collection(await desk.hub(), { is_private: true })
    const of = (container: { readonly id: string }) => desk.item({ container_id: container.id })
    for (const container of [inHub, alone])
      expect(await refusal(assign, await of(container), desk.people.ADMIN)).toEqual({ role: 'MEMBER' })
    const owner = await made({ role: 'OWNER' })
    expect((await assign(await of(alone), owner)).status).toBe(200)
    const guest = await desk.guest()
    await desk.grant(hub, guest, 'MEMBER')
    expect((await assign(await of(inHub), guest)).status).toBe(200)
    await desk.grant({ id: alone.parent_id! }, guest, 'MEMBER')
    expect(await refusal(add, await of(alone), guest)).toEqual({ role: 'VIEWER' })
  })

  test('that had it stays where it is, and anybody who changes items takes it off', async () => {
    const guest = await desk.guest()
    await desk.grant({ id: desk.collectionId }, guest, 'MEMBER')
    const item = await assigned(guest)
    await desk.daemon.db.sql`delete from membership where account_id = ${guest.accountId}`
    expect(await desk.read(item)).toEqual(item)
    expect((await leavesAlone(() => assign(item, guest))).json).toEqual(item)
    expect(await refusal(assign, await desk.item(), guest)).toEqual({ role: 'MEMBER' })
    expect((await remove(item, guest, { as: member })).status).toBe(204)
    expect(await desk.read(item)).toMatchObject({ member_ids: [], assignee_id: null })
  })
})

test('archived containers are read-only, a stale tag is refused, and what nobody sees is not found', async () => {
  const shelf = await desk.shelf(1)
  const item = await desk.item({ container_id: shelf.collectionId })
  const calls = [
    (id: string, more: object) => assign({ ...item, id }, member, more),
    (id: string, more: object) => desk.ask(`POST /items/${id}:unassign`, {}, more),
    (id: string, more: object) => add({ ...item, id }, member, more),
    (id: string, more: object) => remove({ ...item, id }, member, more),
  ]
  const codes = async (id: string, more: object = {}) =>
    Promise.all(calls.map(async (call) => (await call(id, more)).json.code))
  const all = (code: string) => calls.map(() => code)
  expect(await codes(item.id, { headers: { 'if-match': '"9"' } })).toEqual(all('precondition.failed'))
  expect(await codes(randomUUID())).toEqual(all('not_found'))
  expect(await codes(item.id, { as: await desk.guest() })).toEqual(all('auth.unauthenticated'))
  await desk.ask(`POST /containers/${shelf.collectionId}:archive`)
  expect(await codes(item.id)).toEqual(all('container.archived'))
})

test('two who assign at once: one after the other, and both are members', async () => {
  const item = await desk.item()
  const both = [member, desk.people.ADMIN]
  await Promise.all(both.map((who) => assign(item, who)))
  const after = await desk.read(item)
  expect(after.member_ids).toEqual(both.map(({ accountId }) => accountId).sort())
  expect([after.version, after.member_ids.includes(after.assignee_id!)]).toEqual([3, true])
})
