/** An id is the same in capitals, wherever it is sent, and is answered in lower case. Spec: decisions 7, Ids; RFC 9562, 4. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp, workspace } from '../kit/people.ts'

let daemon: TestDaemon
let owner: Person
let collectionId: string
beforeAll(async () => {
  daemon = await testDaemon()
  const home = await setUp(daemon)
  owner = await person(daemon, home.tenantId, { operator: true })
  const { json: hub } = await call('POST', '/containers', { kind: 'HUB', name: 'Hub' })
  const { json } = await call('POST', '/containers', {
    kind: 'COLLECTION',
    parent_id: hub.id.toUpperCase(),
    name: 'Board',
  })
  expect(json.parent_id).toBe(hub.id)
  collectionId = json.id
})
afterAll(() => daemon.close())

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  daemon.call(method, `/api/v1${path}`, { token: owner.token, ...(body === undefined ? {} : { body }), headers })

test('in a path, a query and a body, also in a list of ids', async () => {
  const { json: label } = await call('POST', `/containers/${collectionId.toUpperCase()}/labels`, {
    name: 'Red',
    color_token: 'red',
  })
  expect([label.container_id, label.container_id.toLowerCase()]).toEqual([collectionId, collectionId])
  const made = await call('POST', '/items', {
    container_id: collectionId.toUpperCase(),
    title: 'Item',
    label_ids: [label.id.toUpperCase()],
  })
  expect([made.status, made.json.container_id, made.json.label_ids]).toEqual([201, collectionId, [label.id]])
  const one = await call('GET', `/items/${made.json.id.toUpperCase()}`)
  expect([one.status, one.json.id]).toEqual([200, made.json.id])
  const listed = await call('GET', `/items?container_id=${collectionId.toUpperCase()}`)
  expect(listed.json.data.map(({ id }: { id: string }) => id)).toEqual([made.json.id])
})

test('in a cursor, which is good for either spelling of its filter', async () => {
  for (const title of ['one', 'two']) await call('POST', '/items', { container_id: collectionId, title })
  const first = await call('GET', `/items?size=1&container_id=${collectionId.toUpperCase()}`)
  const next = await call('GET', `/items?size=1&container_id=${collectionId}&cursor=${first.json.next_cursor}`)
  expect(next.status).toBe(200)
})

test('in the value of a field that names an account', async () => {
  const field = await call('POST', '/custom-fields', {
    collection_id: collectionId.toUpperCase(),
    key: 'who',
    kind: 'USER',
  })
  expect(field.json.collection_id).toBe(collectionId)
  const { json: item } = await call('POST', '/items', {
    container_id: collectionId,
    title: 'Item',
    custom_fields: { who: owner.accountId.toUpperCase() },
  })
  expect(item.custom_fields).toEqual({ who: owner.accountId })
})

test('of a repeated request, which is the same request', async () => {
  const key = randomUUIDv7()
  const send = (id: string) => call('POST', '/items', { container_id: id, title: 'Once' }, { 'idempotency-key': key })
  const first = await send(collectionId)
  const again = await send(collectionId.toUpperCase())
  expect([again.status, again.json.id, again.headers['idempotency-replayed']]).toEqual([201, first.json.id, 'true'])
})

test('of the target that a step-up is bound to, in the proof and in the call', async () => {
  const spend = async (bound: string, called: string) => {
    const id = await workspace(daemon, `leaving-${bound[0]}${called[0]}`)
    const spelled = (spelling: string) => (spelling === 'upper' ? id.toUpperCase() : id)
    const asked = await call('POST', '/auth/step-up', {
      password: 'wrong',
      operation: 'deleteTenant',
      target_id: spelled(bound),
    })
    expect(asked.status).toBe(401) // no password is known of the account, but its shape is right
    const { token, hash } = mintToken('stepUp')
    await daemon.db.sql`
      insert into step_up (tenant_id, id, account_id, bearer_id, hash, operation, target_id, expires_at)
      values (${owner.tenantId}, ${randomUUIDv7()}, ${owner.accountId}, ${owner.credentialId}, ${hash}, 'deleteTenant', ${spelled(bound)}, now() + interval '5 minutes')`
    const display_name = `leaving-${bound[0]}${called[0]}`
    return call(
      'POST',
      `/admin/tenants/${spelled(called)}:delete`,
      { confirmation: display_name },
      {
        'x-service-step-up': token,
      },
    )
  }
  expect((await spend('lower', 'upper')).json.state).toBe('PENDING_DELETION')
  expect((await spend('upper', 'lower')).json.state).toBe('PENDING_DELETION')
})

test.each(['urn:uuid:ID', '{ID}', 'IDx', 'I-D'])('%s is no id', async (form) => {
  const bare = collectionId.replaceAll('-', '')
  const sent = form === 'I-D' ? bare : form.replace('ID', collectionId)
  const { status, json } = await call('POST', '/items', { container_id: sent, title: 'Item' })
  expect([status, json.errors]).toEqual([
    422,
    [{ pointer: '/container_id', code: 'value.format', params: { format: 'uuid' } }],
  ])
})

test('the document takes either case on the way in, and promises lower case on the way out', async () => {
  const { json } = await daemon.call('GET', '/api/v1/openapi.json')
  const get = json.paths['/api/v1/items/{itemId}'].get
  const pattern = (hex: string) => `^${[8, 4, 4, 4, 12].map((digits) => `${hex}{${digits}}`).join('-')}$`
  expect(get.parameters[0].schema.pattern).toBe(pattern('[0-9a-fA-F]'))
  expect(json.components.schemas.Item.properties.id.pattern).toBe(pattern('[0-9a-f]'))
})
