/** Policies: where they come from, and that they are obeyed. Spec: items 1, N25; decision 0205. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Container } from '../../src/core/contract/containers/operations.ts'
import type { TrashRow } from '../../src/core/contract/items/trash.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import type { Person } from '../kit/people.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

const set = (id: string, policies: object, more: object = {}) =>
  desk.ask(`PUT /containers/${id}/policies`, policies, more)
async function decided(id: string, policies: object): Promise<Container> {
  const { status, json, text } = await set(id, policies)
  if (status !== 200) throw new Error(text)
  return json
}
const read = async (id: string): Promise<Container> => (await desk.ask(`GET /containers/${id}`)).json
const home = async () => {
  const hub = await desk.hub()
  return { hub: hub.id, inside: (await desk.collection(hub)).id }
}
const none = {
  trash_days: null,
  archive_done_after_days: null,
  delete_role: null,
  comment_role: null,
  complete_needs_children: null,
  complete_children: null,
  auto_assign_group_id: null,
}
const product = {
  trash_days: 30,
  archive_done_after_days: 0,
  delete_role: 'MEMBER',
  comment_role: 'COMMENTER',
  complete_needs_children: false,
  complete_children: false,
  auto_assign_group_id: null,
}

test('a collection inherits each policy from its hub, and the hub from the product; null inherits again', async () => {
  const { hub, inside } = await home()
  expect(await read(inside)).toMatchObject({ policies: none, effective_policies: product })
  const first = await decided(hub, { trash_days: 90, delete_role: 'ADMIN' })
  expect(first).toMatchObject({ version: 2, policies: { trash_days: 90, delete_role: 'ADMIN' } })
  expect(first).toEqual(await read(hub))
  expect((await read(inside)).effective_policies).toEqual({ ...product, trash_days: 90, delete_role: 'ADMIN' })
  expect(await decided(inside, { trash_days: 7 })).toMatchObject({
    policies: { trash_days: 7, delete_role: null },
    effective_policies: { trash_days: 7, delete_role: 'ADMIN' },
  })
  expect(await decided(hub, {})).toMatchObject({ policies: none, effective_policies: product })
  expect((await read(inside)).effective_policies).toEqual({ ...product, trash_days: 7 })
  expect((await decided(inside, { trash_days: null })).policies).toEqual(none)
})

test('a change is told with the container, and says which; the same once more changes nothing', async () => {
  const { inside } = await home()
  const changed = await decided(inside, { trash_days: 0 })
  const { sql } = desk.daemon.db
  const evidence = () => sql`
    select e.params, o.body::jsonb -> 'data' as data from audit_entry e
    join outbox_event o on o.tenant_id = e.tenant_id and o.body::jsonb -> 'data' ->> 'id' = e.subject_id::text and o.type like '%policies_changed%'
    where e.subject_id = ${inside} and e.action = 'container.policies_changed'`
  const [told, ...others] = await evidence()
  expect(others).toEqual([])
  expect(told).toEqual({ params: { members: ['trash_days'] }, data: changed })
  expect(await decided(inside, { trash_days: 0, delete_role: null })).toEqual(changed)
  expect(await evidence()).toHaveLength(1)
})

test('takes an ADMIN, the right tag, a container that is not archived, and values that something obeys', async () => {
  const { hub, inside } = await home()
  const refused = async (policies: object, more: object = {}) => {
    const { status, json } = await set(inside, policies, more)
    return [
      status,
      json.code,
      json.errors?.map(({ pointer, code }: { pointer: string; code: string }) => [pointer, code]),
    ]
  }
  expect(await refused({}, { as: desk.people.MEMBER })).toEqual([403, 'auth.role_required', undefined])
  expect(await refused({ trash_days: 1 }, { headers: { 'if-match': '"7"' } })).toEqual([
    412,
    'precondition.failed',
    undefined,
  ])
  expect(await refused({ trash_days: 3651 })).toMatchObject([
    422,
    'request.invalid',
    [['/trash_days', expect.any(String)]],
  ])
  expect(await refused({ trash_days: -1 })).toMatchObject([
    422,
    'request.invalid',
    [['/trash_days', expect.any(String)]],
  ])
  expect(await refused({ delete_role: 'VIEWER' })).toMatchObject([
    422,
    'request.invalid',
    [['/delete_role', expect.any(String)]],
  ])
  expect(await refused({ calendar_feeds: false })).toMatchObject([
    422,
    'request.invalid',
    [['/calendar_feeds', 'member.unknown']],
  ])
  await desk.ask(`POST /containers/${hub}:archive`)
  expect(await refused({ trash_days: 1 })).toEqual([409, 'container.archived', undefined])
})

test('`delete_role` says who deletes an item, by itself and in bulk, from the next request on', async () => {
  const { hub, inside } = await home()
  const { MEMBER, ADMIN, OWNER } = desk.people
  const remove = async (as: Person) => {
    const { id } = await desk.item({ container_id: inside, bucket_id: null })
    const bulk = await desk.ask('POST /items:bulk', { items: [{ id }], actions: [{ action: 'delete' }] }, { as })
    const [result] = bulk.json.results
    if (result.status === 200) await desk.ask(`POST /items/${id}:restore`)
    const { status, json } = await desk.ask(`DELETE /items/${id}`, undefined, { as })
    expect([result.status === 200 ? 204 : result.status, result.params.role]).toEqual([status, json?.params.role])
    return status === 204 ? 'done' : json.params.role
  }
  expect(await remove(MEMBER)).toBe('done')
  await decided(hub, { delete_role: 'ADMIN' })
  expect([await remove(MEMBER), await remove(ADMIN)]).toEqual(['ADMIN', 'done'])
  await decided(inside, { delete_role: 'OWNER' })
  expect([await remove(ADMIN), await remove(OWNER)]).toEqual(['OWNER', 'done'])
})

test('`trash_days` moves the end of what is in the trash; 0 takes it away', async () => {
  const { hub, inside } = await home()
  const { id } = await desk.item({ container_id: inside, bucket_id: null })
  await desk.ask(`DELETE /items/${id}`)
  const days = async () => {
    const row: TrashRow = (await desk.ask(`GET /trash?container_id=${inside}`)).json.data[0]
    return row.purge_after && (Date.parse(row.purge_after) - Date.parse(row.deleted_at)) / 86_400_000
  }
  expect(await days()).toBe(30)
  await decided(hub, { trash_days: 90 })
  expect(await days()).toBe(90)
  await decided(inside, { trash_days: 1 })
  expect(await days()).toBe(1)
  await decided(inside, { trash_days: 0 })
  expect(await days()).toBeNull()
})
