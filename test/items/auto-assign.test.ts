/** Assignment to whoever has least to do. Spec: items 1, N9; 9: 50 at once among five are ten each; decision 0342. */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { person } from '../kit/people.ts'
import { type Desk, expectUntouched, isRead, openDesk, pointers } from './desk.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

const sql = () => desk.daemon.db.sql
const assign = ({ id }: Item, body: object = {}) => desk.ask(`POST /items/${id}:auto-assign`, body)
/** People who are MEMBERs of the workspace, in the order of their ids. */
async function people(count: number): Promise<string[]> {
  const made: string[] = []
  for (let at = 0; at < count; at += 1)
    made.push((await person(desk.daemon, desk.tenantId, { role: 'MEMBER' })).accountId)
  return made.sort()
}
async function group(members: readonly string[]): Promise<string> {
  const id = randomUUIDv7()
  await sql()`insert into account_group (tenant_id, id, name, name_fold) values (${desk.tenantId}, ${id}, ${id}, ${id})`
  for (const one of members)
    await sql()`insert into group_member (tenant_id, group_id, account_id) values (${desk.tenantId}, ${id}, ${one})`
  return id
}

test('50 at once among five are ten each', { timeout: 60_000 }, async () => {
  const account_ids = await people(5)
  const items: Item[] = []
  for (let at = 0; at < 50; at += 1) items.push(await desk.item())
  // They go one behind the other. Whoever has waited for too long, on a busy machine, asks again, as any caller does.
  const assigned = async (item: Item): ReturnType<typeof assign> => {
    const answer = await assign(item, { account_ids })
    return answer.status === 503 ? assigned(item) : answer
  }
  const answers = await Promise.all(items.map(assigned))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const counts = Map.groupBy(answers, ({ json }) => json.assignee_id)
  expect([...counts.keys()].sort()).toEqual(account_ids)
  expect([...counts.values()].map((some) => some.length)).toEqual([10, 10, 10, 10, 10])
})

test('the fewest open items, then whoever was not picked for longest, then the least id', async () => {
  const [a, b] = (await people(2)) as [string, string]
  const account_ids = [b, a]
  const first = (await assign(await desk.item(), { account_ids })).json
  expect(first).toMatchObject({ assignee_id: a, member_ids: [a], version: 2 })
  await isRead(desk, first)
  expect(await desk.moved(first)).toEqual({ assignee_id: null, member_ids: [] })
  const second = (await assign(await desk.item(), { account_ids })).json
  expect(second.assignee_id).toBe(b)
  // Done and archived ones are no work: b has none left.
  await desk.act(second, 'complete')
  expect((await assign(await desk.item(), { account_ids })).json.assignee_id).toBe(b)
  // One each: a was not picked for longer.
  expect((await assign(await desk.item(), { account_ids })).json.assignee_id).toBe(a)
})

test('one who is responsible stays, unless it is asked for', async () => {
  const [a, b] = (await people(2)) as [string, string]
  const item = (await assign(await desk.item(), { account_ids: [a] })).json
  expect((await expectUntouched(desk, () => assign(item, { account_ids: [b] }))).json).toEqual(item)
  expect((await assign(item, { account_ids: [b], reassign: true })).json).toMatchObject({
    assignee_id: b,
    member_ids: [a, b],
  })
  expect((await expectUntouched(desk, () => assign(item, { account_ids: [b], reassign: true }))).status).toBe(200)
})

test('from a group, from that of the policy, from those with a role of the container', async () => {
  const [a, b, c] = (await people(3)) as [string, string, string]
  const shelf = await desk.shelf(1)
  const item = () => desk.item({ container_id: shelf.collectionId })
  expect(await assign(await item())).toMatchObject({ status: 409, json: { code: 'item.no_candidate' } })
  const role = (account: string, name: string) =>
    sql()`insert into membership (tenant_id, id, account_id, container_id, role) values (${desk.tenantId}, ${randomUUIDv7()}, ${account}, ${shelf.collectionId}, ${name})`
  await role(a, 'MEMBER')
  await role(b, 'VIEWER')
  expect((await assign(await item())).json.assignee_id).toBe(a)
  expect((await assign(await item())).json.assignee_id).toBe(a)
  const id = await group([c])
  expect((await desk.ask(`PUT /containers/${shelf.collectionId}/policies`, { auto_assign_group_id: id })).status).toBe(
    200,
  )
  expect((await assign(await item())).json.assignee_id).toBe(c)
  expect((await assign(await item(), { group_id: await group([b]) })).json.assignee_id).toBe(b)
})

test('never somebody who is disabled, invited, a service, or without access', async () => {
  const [active, disabled, invited, service, outside] = (await people(5)) as [string, string, string, string, string]
  await sql()`update account set state = 'DISABLED' where id = ${disabled}`
  await sql()`update account set state = 'INVITED' where id = ${invited}`
  await sql()`update account set kind = 'SERVICE', email = null, email_fold = null where id = ${service}`
  await sql()`update membership set role = 'COMMENTER' where account_id = ${outside}`
  const passed = [disabled, invited, service, outside]
  const item = await desk.item()
  const refused = await expectUntouched(desk, () => assign(item, { account_ids: passed }))
  expect(refused).toMatchObject({ status: 409, json: { code: 'item.no_candidate' } })
  expect((await assign(item, { account_ids: [...passed, active] })).json.assignee_id).toBe(active)
})

test('what is named and is not there is 422', async () => {
  const [a] = (await people(1)) as [string]
  const item = await desk.item()
  expect(pointers(await assign(item, { account_ids: [a, randomUUID()] }))).toEqual([
    ['/account_ids/1', 'reference.unknown'],
  ])
  expect(pointers(await assign(item, { account_ids: [a, a] }))).toEqual([['/account_ids', 'list.unique']])
  expect(pointers(await assign(item, { group_id: randomUUID() }))).toEqual([['/group_id', 'reference.unknown']])
  expect(pointers(await assign(item, { group_id: randomUUID(), account_ids: [a] }))).toEqual([
    ['/group_id', 'member.conflicts'],
  ])
  const policy = await desk.ask(`PUT /containers/${desk.collectionId}/policies`, { auto_assign_group_id: randomUUID() })
  expect(pointers(policy)).toEqual([['/auto_assign_group_id', 'reference.unknown']])
})
