/** Each rule of the custom fields. Spec: Structure: custom fields; Resources, Custom field definition; decisions 2 and 3. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation, Sent } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { request } from '../kit/callers.ts'
import type { SentArgs } from '../kit/installation.ts'
import { type Board, openBoard, refusalOf } from './board.ts'

const { listCustomFields, createCustomField, updateCustomField, deleteCustomField } = operations
const { createItem, getItem, setItemField } = operations

let board: Board
let containerId: string
let keys = 0
beforeAll(async () => {
  board = await openBoard()
  containerId = await board.collection()
})
afterAll(() => board.close())

const call: Board['owner']['call'] = (operation, ...sent) => board.owner.call(operation, ...sent)
const refused = <O extends Operation>(operation: O, ...sent: SentArgs<O>) => refusalOf(board.owner, operation, ...sent)
const freshKey = () => {
  keys += 1
  return `field_${keys}`
}
type Body = Sent<typeof createCustomField>['body']
const field = (more: Partial<Body> = {}) =>
  call(createCustomField, { body: { collection_id: containerId, key: freshKey(), kind: 'TEXT', ...more } })
const select = (options: string[], more: Partial<Body> = {}) => field({ kind: 'SELECT', options, ...more })
const invalid = (...errors: string[]) => ({ code: 'request.invalid', status: 422, errors })
const unknown = { code: 'not_found', status: 404 }

describe('creating', () => {
  test('answers 201 with the whole definition, its ETag and where it is; applies_to omitted means TASK alone', async () => {
    const { token } = await board.somebody('ADMIN')
    const body = { key: freshKey(), kind: 'NUMBER' } as const
    const answer = await request(board.who.daemon.url, createCustomField, { body }, token)
    expect(answer.status).toBe(201)
    const made = answer.body as { id: string }
    expect(made).toMatchObject({
      ...body,
      collection_id: null,
      options: null,
      is_required: false,
      applies_to: ['TASK'],
      version: 1,
    })
    expect(answer.headers.get('etag')).toBe('"1"')
    expect(answer.headers.get('location')).toBe(`/api/v1/custom-fields/${made.id}`)
  })

  test.each(['TEXT', 'NUMBER', 'DATE', 'BOOL', 'USER', 'URL'] as const)('%s takes no options', async (kind) => {
    expect(await field({ kind })).toMatchObject({ kind, options: null })
    expect(await refused(createCustomField, { body: { key: freshKey(), kind, options: ['a'] } })).toEqual(
      invalid('/options value.not_taken'),
    )
  })

  test.each(['SELECT', 'MULTI_SELECT'] as const)('%s needs options: some, and each of them once', async (kind) => {
    expect(await field({ kind, options: ['b', 'a', 'A', 'ä'] })).toMatchObject({ kind, options: ['b', 'a', 'A', 'ä'] })
    for (const [options, error] of [
      [undefined, '/options member.required'],
      [[], '/options list.minimum'],
      [['a', 'b', 'a'], '/options list.unique'],
      [['a', ''], '/options/1 text.too_short'],
      [['a', 'x'.repeat(201)], '/options/1 text.too_long'],
      [null, '/options value.type'],
      [Array.from({ length: 201 }, String), '/options list.maximum'],
    ] as const)
      expect(
        await refused(createCustomField, {
          body: { key: freshKey(), kind, ...(options === undefined ? {} : { options }) },
        } as never),
      ).toEqual(invalid(error))
  })

  test.each(['', 'A', '1a', '_a', 'a-b', 'é', 'a'.repeat(51), 'a\n'])('the key %j is no key', async (key) => {
    expect(await refused(createCustomField, { body: { key, kind: 'TEXT' } })).toEqual(invalid('/key value.pattern'))
  })

  test('a key of 50 characters is one; an unknown kind is none', async () => {
    const key = `k${'9_'.repeat(24)}z`
    expect((await field({ key })).key).toBe(key)
    expect(await refused(createCustomField, { body: { key: freshKey(), kind: 'COLOUR' } } as never)).toEqual(
      invalid('/kind value.one_of'),
    )
  })

  test('a collection that is unknown, another workspace’s, deleted, or a hub is 422 at its pointer', async () => {
    const deleted = await board.collection()
    await board.own.oracle`update container set deleted_at = now() where id = ${deleted}`
    for (const collection_id of [randomUUID(), board.foreign.containerId, deleted, board.hubId])
      expect(await refused(createCustomField, { body: { key: freshKey(), kind: 'TEXT', collection_id } })).toEqual(
        invalid('/collection_id reference.unknown'),
      )
  })
})

describe('applies_to is bounded by the capability CUSTOM_FIELDS', () => {
  test('tasks, events and notes have it', async () => {
    expect((await field({ applies_to: ['NOTE', 'TASK', 'EVENT'] })).applies_to).toEqual(['NOTE', 'TASK', 'EVENT'])
  })

  test('an activity has not, and naming it is refused, at creation and in a change', async () => {
    const made = await field()
    const refusal = {
      code: 'custom_field.type_not_supported',
      status: 422,
      params: { type: 'ACTIVITY' },
      errors: ['/applies_to/1 value.not_taken'],
    }
    const applies_to = ['TASK', 'ACTIVITY'] as ('TASK' | 'ACTIVITY')[]
    expect(await refused(createCustomField, { body: { key: freshKey(), kind: 'TEXT', applies_to } })).toEqual(refusal)
    expect(await refused(updateCustomField, { fieldId: made.id, body: { applies_to } })).toEqual(refusal)
  })

  test('no type, one twice and one that nobody knows are 422', async () => {
    for (const [applies_to, error] of [
      [[], '/applies_to list.minimum'],
      [['TASK', 'TASK'], '/applies_to list.unique'],
      [['MILESTONE'], '/applies_to/0 value.one_of'],
    ] as const)
      expect(
        await refused(createCustomField, { body: { key: freshKey(), kind: 'TEXT', applies_to } } as never),
      ).toEqual(invalid(error))
  })
})

describe('a key must be free in its scope', () => {
  const taken = { code: 'custom_field.key_taken', status: 409 }

  test('keys of a collection are independent of other collections’ and of the workspace’s', async () => {
    const key = freshKey()
    const other = await board.collection()
    for (const collection_id of [containerId, other, null]) {
      await field({ key, collection_id })
      expect(await refused(createCustomField, { body: { key, kind: 'TEXT', collection_id } })).toEqual(taken)
    }
  })

  test('of twenty that come at once one gets it, in the workspace’s scope as in a collection’s', async () => {
    for (const collection_id of [null, containerId]) {
      const key = freshKey()
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => refused(createCustomField, { body: { key, kind: 'TEXT', collection_id } })),
      )
      expect(answers.filter((answer) => 'answered' in answer)).toHaveLength(1)
      expect(answers.filter((answer) => 'code' in answer)).toEqual(Array(19).fill(taken))
    }
  })
})

describe('GET answers the definitions in force, by key', () => {
  test('with collection_id the collection’s own plus the workspace-wide ones, without it the workspace-wide ones alone; never deleted ones', async () => {
    const { owner } = board.foreign
    const define = async (key: string, collection_id: string | null) =>
      owner.call(createCustomField, { body: { key, kind: 'TEXT', collection_id } })
    const { containerId: collection_id } = board.foreign
    await define('b', null)
    await define('c', collection_id)
    await define('a', collection_id)
    await define('b', collection_id)
    await owner.call(deleteCustomField, { fieldId: (await define('deleted', null)).id })
    await owner.call(deleteCustomField, { fieldId: (await define('gone', collection_id)).id })
    const list = async (query: object) =>
      (await owner.call(listCustomFields, query)).data.map(({ key, collection_id: scope }) => [key, scope])
    expect(await list({})).toEqual([['b', null]])
    expect(await list({ collection_id })).toEqual([
      ['a', collection_id],
      ['b', null],
      ['b', collection_id],
      ['c', collection_id],
    ])
  })

  test('of a collection that the caller does not see, not_found', async () => {
    for (const collection_id of [randomUUID(), board.foreign.containerId, board.hubId])
      expect(await refused(listCustomFields, { collection_id })).toEqual(unknown)
  })
})

describe('PATCH', () => {
  test('changes options, is_required and applies_to; what is not sent is left alone', async () => {
    const made = await select(['a', 'b'])
    expect(await call(updateCustomField, { fieldId: made.id, body: { is_required: true } })).toMatchObject({
      options: ['a', 'b'],
      is_required: true,
      version: 2,
    })
    expect(
      await call(updateCustomField, { fieldId: made.id, body: { options: ['b', 'a'], applies_to: ['NOTE'] } }),
    ).toMatchObject({ options: ['b', 'a'], is_required: true, applies_to: ['NOTE'], version: 3 })
    expect((await board.trail(made.id)).map(({ action, params }) => [action, params['members']])).toEqual([
      ['custom_field.created', undefined],
      ['custom_field.changed', ['is_required']],
      ['custom_field.changed', ['options', 'applies_to']],
    ])
  })

  test('key and kind are immutable, and null clears nothing', async () => {
    const made = await select(['a'])
    for (const [body, error] of [
      [{ key: 'other' }, '/key member.unknown'],
      [{ kind: 'TEXT' }, '/kind member.unknown'],
      [{ collection_id: null }, '/collection_id member.unknown'],
      [{ options: null }, '/options value.type'],
      [{ is_required: null }, '/is_required value.type'],
      [{ applies_to: null }, '/applies_to value.type'],
      [{ options: [] }, '/options list.minimum'],
      [{ options: ['a', 'a'] }, '/options list.unique'],
    ] as const)
      expect(await refused(updateCustomField, { fieldId: made.id, body } as never)).toEqual(invalid(error))
    expect(await refused(updateCustomField, { fieldId: (await field()).id, body: { options: ['a'] } })).toEqual(
      invalid('/options value.not_taken'),
    )
    expect((await call(listCustomFields, { collection_id: containerId })).data).toContainEqual(made)
  })

  test('that changes nothing keeps the version and writes neither trail nor event', async () => {
    const made = await select(['a', 'b'])
    for (const body of [{}, { options: ['a', 'b'] }, { applies_to: ['TASK' as const], is_required: false }])
      expect(await call(updateCustomField, { fieldId: made.id, body })).toEqual(made)
    expect(await board.trail(made.id)).toHaveLength(1)
    expect(await board.events(`/custom-fields/${made.id}`)).toHaveLength(1)
  })
})

describe('values', () => {
  const item = (custom_fields: Record<string, never> = {}) =>
    call(createItem, { body: { container_id: containerId, title: 'An item', custom_fields } })
  const values = async (itemId: string) => (await call(getItem, { itemId })).custom_fields
  const put = (itemId: string, key: string, value: unknown) =>
    call(setItemField, { itemId, key, body: { value } } as never)

  test('stay in the entries when the field is deleted, and stop being visible; made anew under the same key it shows none of them', async () => {
    const made = await field()
    const { id } = await item()
    await put(id, made.key, 'old')
    await call(deleteCustomField, { fieldId: made.id })
    expect(await values(id)).not.toHaveProperty(made.key)
    expect(await board.own.oracle`select value from item_field_value where item_id = ${id}`).toEqual([{ value: 'old' }])
    const anew = await field({ key: made.key, kind: 'NUMBER' })
    expect(anew.id).not.toBe(made.id)
    expect(await values(id)).not.toHaveProperty(made.key)
    await put(id, made.key, 7)
    expect(await values(id)).toHaveProperty(made.key, 7)
  })

  test('that a SELECT no longer offers stay until the field is set again', async () => {
    const made = await select(['old', 'new'])
    const { id } = await item()
    await put(id, made.key, 'old')
    const before = (await call(getItem, { itemId: id })).version
    await call(updateCustomField, { fieldId: made.id, body: { options: ['new'] } })
    expect(await call(getItem, { itemId: id })).toMatchObject({ version: before, custom_fields: { [made.key]: 'old' } })
    expect(await refused(setItemField, { itemId: id, key: made.key, body: { value: 'old' } })).toMatchObject({
      code: 'request.invalid',
      errors: ['/value value.one_of'],
    })
    await put(id, made.key, 'new')
    expect(await values(id)).toHaveProperty(made.key, 'new')
  })

  test('a field that becomes required leaves items without it as they are', async () => {
    const made = await field()
    const { id, version } = await item()
    await call(updateCustomField, { fieldId: made.id, body: { is_required: true } })
    expect(await call(getItem, { itemId: id })).toMatchObject({ version })
    await call(deleteCustomField, { fieldId: made.id })
  })
})

test('deleting twice is not_found, and so are a change of a deleted field and another workspace’s field', async () => {
  const gone = await field()
  await call(deleteCustomField, { fieldId: gone.id })
  const foreign = await board.foreign.owner.call(createCustomField, { body: { key: 'theirs', kind: 'TEXT' } })
  for (const fieldId of [gone.id, foreign.id, randomUUID()]) {
    expect(await refused(deleteCustomField, { fieldId })).toEqual(unknown)
    expect(await refused(updateCustomField, { fieldId, body: { is_required: true } })).toEqual(unknown)
  }
  expect((await board.events(`/custom-fields/${gone.id}`)).map(({ type }) => type)).toEqual([
    'svc.work.custom_field.created.v1',
    'svc.work.custom_field.deleted.v1',
  ])
})

test('under an Idempotency-Key the same request answers the same definition, and another one is refused', async () => {
  const idempotencyKey = randomUUID()
  const body = { key: freshKey(), kind: 'TEXT' } as const
  const { token } = await board.somebody('ADMIN')
  const send = (what: object) => request(board.who.daemon.url, createCustomField, { body: what, idempotencyKey }, token)
  const first = await send(body)
  const second = await send(body)
  expect([first.status, second.status]).toEqual([201, 201])
  expect(second.body).toEqual(first.body)
  expect(second.headers.get('idempotency-replayed')).toBe('true')
  expect(await send({ ...body, is_required: true })).toMatchObject({
    status: 422,
    body: { code: 'idempotency.key_reused' },
  })
  const { data } = await call(listCustomFields, {})
  expect(data.filter(({ key }) => key === body.key)).toHaveLength(1)
})

describe('who may define fields', () => {
  const required = { code: 'auth.role_required', status: 403, params: { role: 'ADMIN' } }

  test('an ADMIN of the workspace may; a MEMBER may read', async () => {
    const member = await board.somebody('MEMBER')
    const made = await field()
    expect((await member.call(listCustomFields, { collection_id: containerId })).data).toContainEqual(made)
    for (const collection_id of [null, containerId])
      expect(
        await refusalOf(member, createCustomField, { body: { key: freshKey(), kind: 'TEXT', collection_id } }),
      ).toEqual(required)
    expect(await refusalOf(member, updateCustomField, { fieldId: made.id, body: {} })).toEqual(required)
    expect(await refusalOf(member, deleteCustomField, { fieldId: made.id })).toEqual(required)
  })

  test('an ADMIN of one collection may there, and not for the workspace', async () => {
    const member = await board.somebody('MEMBER')
    await call(operations.grantMembership, {
      body: { account_id: member.accountId, role: 'ADMIN', container_id: containerId },
    })
    const body = { key: freshKey(), kind: 'TEXT' } as const
    expect(await member.call(createCustomField, { body: { ...body, collection_id: containerId } })).toMatchObject(body)
    expect(await refusalOf(member, createCustomField, { body })).toEqual(required)
    const wide = await field({ collection_id: null })
    expect(await refusalOf(member, deleteCustomField, { fieldId: wide.id })).toEqual(required)
  })

  test('in an archived collection nobody may', async () => {
    const archived = await board.collection()
    const made = await field({ collection_id: archived })
    await board.own.oracle`update container set archived_at = now() where id = ${archived}`
    const refusal = { code: 'container.archived', status: 409 }
    expect(
      await refused(createCustomField, { body: { key: freshKey(), kind: 'TEXT', collection_id: archived } }),
    ).toEqual(refusal)
    expect(await refused(updateCustomField, { fieldId: made.id, body: { is_required: true } })).toEqual(refusal)
    expect(await refused(deleteCustomField, { fieldId: made.id })).toEqual(refusal)
  })
})

test('the five hundredth field of a scope is the last', async () => {
  const collection_id = await board.collection()
  await board.own.oracle`
    insert into custom_field (tenant_id, id, collection_id, key, kind, is_required, applies_to)
    select ${board.tenantId}, gen_random_uuid(), ${collection_id}, 'f' || n, 'TEXT', false, '["TASK"]' from generate_series(1, 499) n`
  const answers = await board.meeting(
    collection_id,
    [...'abcdefghijkl'].map((key) => () => refused(createCustomField, { body: { key, kind: 'TEXT', collection_id } })),
  )
  expect(answers.filter((answer) => 'answered' in answer)).toHaveLength(1)
  expect(answers.filter((answer) => 'code' in answer)).toEqual(
    Array(11).fill({ code: 'structure.full', status: 409, params: { limit: 500 } }),
  )
})
