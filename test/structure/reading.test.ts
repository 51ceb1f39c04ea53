/** Reading what provisioning made. Spec: Index, Containers and Structure; decisions 3. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { caseFold } from '../../src/core/kernel/values/case-fold.ts'
import { newId } from '../../src/core/kernel/values/id.ts'
import { type Callers, callers, plantAccount, plantToken, redeem } from '../kit/accounts.ts'
import type { Caller } from '../kit/callers.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

const { listContainers, listBuckets, listLabels } = operations

let own: TestInstallation
let who: Callers
let person: Caller
let made: Awaited<ReturnType<TestInstallation['provision']>>
let foreign: typeof made
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
  made = await own.provision(undefined, { default_locale: 'sv', default_time_zone: 'Europe/Stockholm' })
  foreign = await own.provision()
  person = who.as((await redeem(own, made)).access_token)
})
afterAll(async () => {
  await who.close()
  await own.close()
})

const unnamed = { description: null, is_private: false, archived_at: null, deleted_at: null, position: 0, version: 1 }

test('the owner finds the hub and the collection in it, and nobody else’s', async () => {
  const { data, next_cursor } = await person.call(listContainers)
  expect(data).toMatchObject([
    { ...unnamed, id: made.hub_id, kind: 'HUB', parent_id: null, name: 'Start' },
    { ...unnamed, id: made.collection_id, kind: 'COLLECTION', parent_id: made.hub_id, name: 'Exempelprojekt' },
  ])
  expect(next_cursor).toBe(null)
})

test('containers come in pages that join to the whole', async () => {
  const first = await person.call(listContainers, { size: 1 })
  const second = await person.call(listContainers, { size: 1, cursor: first.next_cursor! })
  expect([...first.data, ...second.data].map(({ id }) => id)).toEqual([made.hub_id, made.collection_id])
  expect(second.next_cursor).toBe(null)
})

test('a cursor of one workspace is invalid in another', async () => {
  const { next_cursor } = await person.call(listContainers, { size: 1 })
  const other = who.as((await redeem(own, foreign)).access_token)
  await expect(other.call(listContainers, { cursor: next_cursor! })).rejects.toMatchObject({
    code: 'cursor.invalid',
    status: 400,
  })
  await expect(who.api.call(listContainers, { cursor: next_cursor! })).rejects.toMatchObject({ code: 'cursor.invalid' })
})

test('buckets come from the left, the last one done, numbered from 0', async () => {
  const { data } = await person.call(listBuckets, { containerId: made.collection_id })
  expect(
    data.map(({ name, position, is_done_bucket, wip_limit, item_count }) => [
      name,
      position,
      is_done_bucket,
      wip_limit,
      item_count,
    ]),
  ).toEqual([
    ['Att göra', 0, false, null, 0],
    ['Pågår', 1, false, null, 0],
    ['Klart', 2, true, null, 0],
  ])
  expect(data.every(({ container_id }) => container_id === made.collection_id)).toBe(true)
})

test('labels are ordered as the workspace’s language orders them', async () => {
  for (const name of ['Ängslig', 'Zebra', 'åtgärd', 'Ordna'])
    await own.oracle`
      insert into label (tenant_id, id, container_id, name, name_fold, color_token)
      values (${made.tenant.id}, ${newId()}, ${made.collection_id}, ${name}, ${caseFold(name)}, 'red')`
  const names = async () =>
    (await person.call(listLabels, { containerId: made.collection_id })).data.map(({ name }) => name)
  expect(await names()).toEqual(['Brådskande', 'Fråga', 'Idé', 'Ordna', 'Väntar', 'Zebra', 'åtgärd', 'Ängslig'])
  await own.oracle`update tenant set default_locale = 'de' where id = ${made.tenant.id}`
  expect(await names()).toEqual(['Ängslig', 'åtgärd', 'Brådskande', 'Fråga', 'Idé', 'Ordna', 'Väntar', 'Zebra'])
})

test('a container without buckets or labels has none; it is not missing', async () => {
  expect(await person.call(listBuckets, { containerId: made.hub_id })).toEqual({ data: [] })
  expect(await person.call(listLabels, { containerId: made.hub_id })).toEqual({ data: [] })
})

test('another workspace’s container, a deleted one and one that nobody has answer alike', async () => {
  const deleted = newId()
  await own.oracle`
    insert into container (tenant_id, id, kind, name, rank, deleted_at) values (${made.tenant.id}, ${deleted}, 'HUB', 'Gone', 'b0', now())`
  const answers = new Set<string>()
  for (const operation of [listBuckets, listLabels])
    for (const containerId of [foreign.collection_id, foreign.hub_id, deleted, randomUUID()])
      answers.add(
        JSON.stringify(
          await person.call(operation, { containerId }).catch(({ code, status, params }) => ({ code, status, params })),
        ),
      )
  expect([...answers]).toEqual([JSON.stringify({ code: 'not_found', status: 404, params: {} })])
})

describe('who may read', () => {
  test('a VIEWER with workspace:read', async () => {
    const viewer = await plantAccount(own, made.tenant.id, 'VIEWER')
    const { token } = await plantToken(own, viewer, { scopes: ['workspace:read'] })
    expect((await who.as(token).call(listContainers)).data).toHaveLength(2)
    const { token: writing } = await plantToken(own, viewer, { scopes: ['workspace:write'] })
    await expect(who.as(writing).call(listContainers)).rejects.toMatchObject({
      code: 'auth.scope_required',
      params: { scope: 'workspace:read' },
    })
  })

  test('an operator sees his own workspace’s content and no other', async () => {
    const { data } = await who.api.call(listContainers)
    expect(data).toHaveLength(2)
    expect(data.map(({ id }) => id)).not.toContain(made.hub_id)
    await expect(who.api.call(listBuckets, { containerId: made.collection_id })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})
