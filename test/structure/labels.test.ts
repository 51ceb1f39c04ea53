/** Each rule of the labels. Spec: Structure: labels; Resources, Label; decisions 3. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { request } from '../kit/callers.ts'
import type { SentArgs } from '../kit/installation.ts'
import { type Board, openBoard, refusalOf } from './board.ts'

const {
  listLabels,
  createLabel,
  updateLabel,
  deleteLabel,
  restoreLabel,
  createItem,
  getItem,
  addItemLabel,
  listItems,
} = operations

let board: Board
let containerId: string
beforeAll(async () => {
  board = await openBoard()
})
afterAll(() => board.close())

const call: Board['owner']['call'] = (operation, ...sent) => board.owner.call(operation, ...sent)
const refused = <O extends Operation>(operation: O, ...sent: SentArgs<O>) => refusalOf(board.owner, operation, ...sent)
const label = (name: string, more: object = {}) =>
  call(createLabel, { containerId, body: { name, color_token: 'red', ...more } })
const fresh = async (...names: string[]) => {
  containerId = await board.collection()
  const made = []
  for (const name of names) made.push(await label(name))
  return made
}
const names = async () => (await call(listLabels, { containerId })).data.map(({ name }) => name)
const taken = { code: 'label.name_taken', status: 409 }
const unknown = { code: 'not_found', status: 404 }

test('creating answers 201 with the whole label, its ETag and where it is', async () => {
  await fresh()
  const { token } = await board.somebody('MEMBER')
  const body = { name: 'Idea', color_token: 'green', description: 'worth a look' }
  const answer = await request(board.who.daemon.url, createLabel, { containerId, body }, token)
  expect(answer.status).toBe(201)
  const made = answer.body as { id: string }
  expect(made).toMatchObject({ ...body, container_id: containerId, version: 1 })
  expect(answer.headers.get('etag')).toBe('"1"')
  expect(answer.headers.get('location')).toBe(`/api/v1/containers/${containerId}/labels/${made.id}`)
  expect((await label('Bare')).description).toBe(null)
})

test('labels are listed by name as the workspace’s language orders them', async () => {
  await fresh('Zebra', 'Ängslig', 'apple', 'Banane')
  expect(await names()).toEqual(['Ängslig', 'apple', 'Banane', 'Zebra'])
})

describe('names are unique within the container, without regard to case, accents or Unicode form', () => {
  test.each([
    ['Idea', 'iDEA'],
    ['Élan', 'elan'],
    ['caf\u00e9', 'cafe\u0301'],
    ['Maß', 'MASS'],
  ])('%s is %s', async (first, second) => {
    const [, other] = await fresh(first, 'another')
    expect(await refused(createLabel, { containerId, body: { name: second, color_token: 'red' } })).toEqual(taken)
    expect(await refused(updateLabel, { containerId, labelId: other!.id, body: { name: second } })).toEqual(taken)
  })

  test('a label and a bucket may have the same name, and so may labels of two containers', async () => {
    await fresh('Same')
    await call(operations.createBucket, { containerId, body: { name: 'Same' } })
    await fresh('same')
  })
})

describe('what is refused, at its pointer', () => {
  test.each([
    [{ name: '' }, '/name text.too_short'],
    [{ name: 'x'.repeat(121) }, '/name text.too_long'],
    [{ name: null }, '/name value.type'],
    [{ color_token: '' }, '/color_token text.too_short'],
    [{ color_token: null }, '/color_token value.type'],
    [{ description: 7 }, '/description value.type'],
    [{ position: 1 }, '/position member.unknown'],
    [{ deleted_at: null }, '/deleted_at member.unknown'],
  ])('%j', async (body, error) => {
    const [there] = await fresh('There')
    const invalid = { code: 'request.invalid', status: 422, errors: [error] }
    expect(await refused(updateLabel, { containerId, labelId: there!.id, body } as never)).toEqual(invalid)
    const whole = { name: 'New', color_token: 'red', ...body }
    expect(await refused(createLabel, { containerId, body: whole } as never)).toEqual(invalid)
    expect((await call(listLabels, { containerId })).data).toEqual([there])
  })

  test('120 emoji are a name, and color_token is required', async () => {
    await fresh()
    expect((await label('😀'.repeat(120))).name).toBe('😀'.repeat(120))
    expect(await refused(createLabel, { containerId, body: { name: 'x' } } as never)).toMatchObject({
      errors: ['/color_token member.required'],
    })
  })
})

describe('PATCH', () => {
  test('leaves alone what is not sent; null clears the description', async () => {
    await fresh()
    const made = await label('Idea', { description: 'long' })
    const renamed = await call(updateLabel, { containerId, labelId: made.id, body: { name: 'Ideas' } })
    expect(renamed).toMatchObject({ name: 'Ideas', description: 'long', color_token: 'red', version: 2 })
    expect(await call(updateLabel, { containerId, labelId: made.id, body: { description: null } })).toMatchObject({
      description: null,
      version: 3,
    })
  })

  test('that changes nothing keeps the version and writes neither trail nor event', async () => {
    const [made] = await fresh('Idea')
    for (const body of [{}, { name: 'Idea' }, { description: null, color_token: 'red' }])
      expect(await call(updateLabel, { containerId, labelId: made!.id, body })).toEqual(made)
    expect(await board.trail(made!.id)).toHaveLength(1)
    expect(await board.events(`/containers/${containerId}/labels/${made!.id}`)).toHaveLength(1)
  })
})

describe('DELETE takes the label out of the vocabulary', () => {
  const labelled = async (labelId: string) => {
    const item = await call(createItem, { body: { container_id: containerId, title: 'An item' } })
    await call(addItemLabel, { itemId: item.id, labelId })
    return item.id
  }
  const shown = async (itemId: string) => (await call(getItem, { itemId })).label_ids
  const rows = () =>
    board.own.oracle`
      select i.xmin::text as item, l.xmin::text as carried from item i join item_label l on l.item_id = i.id
      where i.container_id = ${containerId} order by i.id`

  test('entries that carried it are not rewritten; they stop showing it', async () => {
    const [idea, kept] = await fresh('Idea', 'Kept')
    const itemId = await labelled(idea!.id)
    await call(addItemLabel, { itemId, labelId: kept!.id })
    const [before, version] = [await rows(), (await call(getItem, { itemId })).version]
    await call(deleteLabel, { containerId, labelId: idea!.id })
    expect(await names()).toEqual(['Kept'])
    expect(await shown(itemId)).toEqual([kept!.id])
    expect(await rows()).toEqual(before)
    expect((await call(getItem, { itemId })).version).toBe(version)
    expect(await refused(listItems, { label_id: idea!.id })).toEqual(unknown)
    expect(await refused(addItemLabel, { itemId, labelId: idea!.id })).toEqual(unknown)
  })

  test('which makes it undoable: put back, it is shown where it was', async () => {
    const [idea] = await fresh('Idea')
    const itemId = await labelled(idea!.id)
    await call(deleteLabel, { containerId, labelId: idea!.id })
    const back = await call(restoreLabel, { containerId, labelId: idea!.id })
    expect(back).toMatchObject({ id: idea!.id, name: 'Idea', version: 3 })
    expect(await shown(itemId)).toEqual([idea!.id])
    expect((await board.trail(idea!.id)).map(({ action }) => action)).toEqual([
      'label.created',
      'label.deleted',
      'label.restored',
    ])
  })

  test('its name is free; whoever took it stands in the way of putting it back', async () => {
    const [idea] = await fresh('Idea')
    await call(deleteLabel, { containerId, labelId: idea!.id })
    const second = await label('IDEA')
    expect(await refused(restoreLabel, { containerId, labelId: idea!.id })).toEqual(taken)
    await call(deleteLabel, { containerId, labelId: second.id })
    expect(await call(restoreLabel, { containerId, labelId: idea!.id })).toMatchObject({ name: 'Idea' })
    expect(await names()).toEqual(['Idea'])
  })

  test('a second time it is not_found, and so is a change of it; putting back what is there changes nothing', async () => {
    const [gone, there] = await fresh('gone', 'there')
    await call(deleteLabel, { containerId, labelId: gone!.id })
    expect(await refused(deleteLabel, { containerId, labelId: gone!.id })).toEqual(unknown)
    expect(await refused(updateLabel, { containerId, labelId: gone!.id, body: { name: 'x' } })).toEqual(unknown)
    expect(await call(restoreLabel, { containerId, labelId: there!.id })).toEqual(there)
    expect(await refused(restoreLabel, { containerId, labelId: randomUUID() })).toEqual(unknown)
  })

  test('a label of another container is not_found under this one', async () => {
    const [elsewhere] = await fresh('elsewhere')
    await fresh('here')
    for (const [operation, more] of [
      [updateLabel, { body: { name: 'x' } }],
      [deleteLabel, {}],
      [restoreLabel, {}],
    ] as const)
      expect(await refused(operation, { containerId, labelId: elsewhere!.id, ...more } as never)).toEqual(unknown)
  })
})

test('every change leaves its entry in the trail and its event, in that order', async () => {
  const [made] = await fresh('Idea')
  await call(updateLabel, { containerId, labelId: made!.id, body: { name: 'Ideas', color_token: 'blue' } })
  await call(deleteLabel, { containerId, labelId: made!.id })
  expect(await board.trail(made!.id)).toEqual([
    { action: 'label.created', params: { container_id: containerId } },
    { action: 'label.changed', params: { container_id: containerId, members: ['name', 'color_token'] } },
    { action: 'label.deleted', params: { container_id: containerId } },
  ])
  const events = await board.events(`/containers/${containerId}/labels/${made!.id}`)
  expect(events.map(({ type, data }) => [type, data['name'], data['version']])).toEqual([
    ['svc.work.label.created.v1', 'Idea', 1],
    ['svc.work.label.changed.v1', 'Ideas', 2],
    ['svc.work.label.deleted.v1', 'Ideas', 3],
  ])
})

test('the thousandth label is the last, also for one that comes back', async () => {
  const [gone] = await fresh('gone')
  await call(deleteLabel, { containerId, labelId: gone!.id })
  await board.own.oracle`
    insert into label (tenant_id, id, container_id, name, name_fold, color_token)
    select ${board.tenantId}, gen_random_uuid(), ${containerId}, 'l' || n, 'l' || n, 'red' from generate_series(1, 999) n`
  const answers = await board.meeting(
    containerId,
    [...'abcdefghijkl'].map((name) => () => refused(createLabel, { containerId, body: { name, color_token: 'red' } })),
  )
  const full = { code: 'structure.full', status: 409, params: { limit: 1000 } }
  expect(answers.filter((answer) => 'answered' in answer)).toHaveLength(1)
  expect(answers.filter((answer) => 'code' in answer)).toEqual(Array(11).fill(full))
  expect(await refused(restoreLabel, { containerId, labelId: gone!.id })).toEqual(full)
})

test('a MEMBER may change labels, a COMMENTER may read them; in an archived container nobody may', async () => {
  const [there] = await fresh('There')
  const commenter = await board.somebody('COMMENTER')
  const member = await board.somebody('MEMBER')
  const writes = [
    [createLabel, { body: { name: 'x', color_token: 'red' } }],
    [updateLabel, { labelId: there!.id, body: { name: 'x' } }],
    [restoreLabel, { labelId: there!.id }],
    [deleteLabel, { labelId: there!.id }],
  ] as const
  expect((await commenter.call(listLabels, { containerId })).data).toHaveLength(1)
  for (const [operation, more] of writes)
    expect(await refusalOf(commenter, operation, { containerId, ...more } as never)).toMatchObject({
      code: 'auth.role_required',
      params: { role: 'MEMBER' },
    })
  await member.call(updateLabel, { containerId, labelId: there!.id, body: { name: 'Here' } })
  await board.own.oracle`update container set archived_at = now() where id = ${containerId}`
  for (const [operation, more] of writes)
    expect(await refused(operation, { containerId, ...more } as never)).toEqual({
      code: 'container.archived',
      status: 409,
    })
})
