/**
 * Many at once. T-11 and F-20: of so many writers with one ETag exactly one wins. And a crowd on one board:
 * buckets are created, renamed, reordered and deleted while items come, move and go; after every round the order is
 * a permutation, no item is lost, and each is in one bucket of the board or in none. With SVC_FAULTS=full 200
 * rounds each, of 50 writers and of 20 clients.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation, Sent } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { type HttpAnswer, request } from '../kit/callers.ts'
import { type Board, bucketsNamed, openBoard } from './board.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const rounds = isFull ? 200 : 5
const writers = isFull ? 50 : 12
const clients = 20

let board: Board
let token: string
beforeAll(async () => {
  board = await openBoard()
  token = (await board.somebody('ADMIN')).token
})
afterAll(() => board.close())

const send = (operation: Operation, sent: object): Promise<HttpAnswer> =>
  request(board.who.daemon.url, operation, sent, token)
const call = async <O extends Operation>(operation: O, sent: Sent<O>) => board.owner.call(operation, sent as never)
const codes = (answers: readonly HttpAnswer[]) =>
  answers.map(({ status, body }) => (status < 300 ? status : (body as { code: string }).code)).sort()

/** The three things with a version, and a change of each that differs from writer to writer. */
async function targets() {
  const containerId = await board.collection()
  const [bucket] = await bucketsNamed(board.owner, containerId, ['B', 'other'])
  const label = await call(operations.createLabel, { containerId, body: { name: 'L', color_token: 'red' } })
  const field = await call(operations.createCustomField, {
    body: { collection_id: containerId, key: 'f', kind: 'SELECT', options: ['a'] },
  })
  return [
    {
      what: 'bucket',
      change: (n: number): [Operation, object] =>
        n % 2 === 0
          ? [operations.updateBucket, { containerId, bucketId: bucket!.id, body: { name: `by ${n}` } }]
          : [operations.updateBucket, { containerId, bucketId: bucket!.id, body: { wip_limit: n } }],
      remove: [operations.deleteBucket, { containerId, bucketId: bucket!.id }] as [Operation, object],
      id: bucket!.id,
    },
    {
      what: 'label',
      change: (n: number): [Operation, object] => [
        operations.updateLabel,
        { containerId, labelId: label.id, body: { name: `by ${n}` } },
      ],
      remove: [operations.deleteLabel, { containerId, labelId: label.id }] as [Operation, object],
      id: label.id,
    },
    {
      what: 'field',
      change: (n: number): [Operation, object] => [
        operations.updateCustomField,
        { fieldId: field.id, body: { options: [`by ${n}`] } },
      ],
      remove: [operations.deleteCustomField, { fieldId: field.id }] as [Operation, object],
      id: field.id,
    },
  ]
}

describe('T-11, F-20: If-Match', () => {
  test(`${rounds} rounds of ${writers} writers with one ETag on a bucket, a label and a field: one wins, nothing of the others is written`, {
    timeout: 1_800_000,
  }, async () => {
    const things = await targets()
    for (let version = 1; version <= rounds; version += 1)
      for (const { change, id } of things) {
        const answers = await Promise.all(
          Array.from({ length: writers }, (_, n) => {
            const [operation, sent] = change(version * 1000 + n)
            return send(operation, { ...sent, ifMatch: `"${version}"` })
          }),
        )
        expect(codes(answers)).toEqual([200, ...Array(writers - 1).fill('precondition.failed')])
        const lost = answers.find(({ status }) => status === 412)
        expect(lost?.body).toMatchObject({ params: { current_etag: `"${version + 1}"` } })
        expect(await board.trail(id)).toHaveLength(version + 1)
      }
  })

  test('a list and * match, a weak tag never does, what is no tag is 400, and without one the change is made', async () => {
    for (const { change, remove } of await targets()) {
      let n = 0
      const under = async (ifMatch?: string) => {
        n += 1
        const [operation, sent] = change(n)
        return send(operation, { ...sent, ...(ifMatch === undefined ? {} : { ifMatch }) })
      }
      expect((await under('"7", "1"')).status).toBe(200)
      expect((await under('*')).status).toBe(200)
      expect((await under()).status).toBe(200)
      expect((await under('W/"4"')).status).toBe(412)
      expect((await under('"1"')).status).toBe(412)
      for (const tag of ['4', 'etag', '"4', '']) expect((await under(tag)).status).toBe(400)
      const [operation, sent] = remove
      expect((await send(operation, { ...sent, ifMatch: '"3"' })).status).toBe(412)
      expect((await send(operation, { ...sent, ifMatch: '"4"' })).status).toBeLessThan(300)
      expect((await under('"4"')).status).toBe(404)
      expect((await send(operation, { ...sent, ifMatch: '*' })).status).toBe(404)
    }
  })

  test(`${rounds} rounds of ${writers} who delete one thing: one does, the others find nothing`, {
    timeout: 1_800_000,
  }, async () => {
    for (let round = 0; round < rounds; round += 1)
      for (const { remove, id } of await targets()) {
        const [operation, sent] = remove
        const answers = await Promise.all(Array.from({ length: writers }, () => send(operation, sent)))
        expect(codes(answers)).toEqual([operation.success.status, ...Array(writers - 1).fill('not_found')])
        expect(await board.trail(id)).toHaveLength(2)
      }
  })
})

let seed = 20261120
const lot = (below: number) => {
  seed = (seed * 48271) % 2147483647
  return seed % below
}
const oneOf = <T>(list: readonly T[]): T => list[lot(list.length)] as T

test(`${rounds} rounds of ${clients} clients who reorder, rename, create and delete buckets of one board and move its items`, {
  timeout: 1_800_000,
}, async () => {
  const containerId = await board.collection()
  const buckets = (await bucketsNamed(board.owner, containerId, ['a', 'b', 'c', 'd', 'e', 'f'])).map(({ id }) => id)
  const items = (await Promise.all(buckets.map((id) => board.plantItems(containerId, id, 5)))).flat()
  const all = new Set(items)

  /** One thing that a client does; what it names is drawn before anybody begins, so that clients meet. */
  const drawn = (): [Operation, object] => {
    const [bucketId, before, itemId, beside] = [oneOf(buckets), oneOf(buckets), oneOf(items), oneOf(items)]
    const before_bucket_id = lot(3) === 0 ? null : before
    const acts: readonly [Operation, object][] = [
      [operations.reorderBucket, { containerId, bucketId, body: { before_bucket_id } }],
      [operations.reorderBucket, { containerId, bucketId, body: { before_bucket_id } }],
      [operations.createBucket, { containerId, body: { name: `n${lot(40)}`, before_bucket_id } }],
      [operations.createBucket, { containerId, body: { name: `n${lot(40)}` } }],
      [operations.updateBucket, { containerId, bucketId, body: { name: `n${lot(40)}` } }],
      [operations.updateBucket, { containerId, bucketId, body: { is_done_bucket: lot(2) === 0 } }],
      [operations.deleteBucket, { containerId, bucketId }],
      [operations.deleteBucket, { containerId, bucketId }],
      [operations.moveItem, { itemId, body: { bucket_id: before } }],
      [operations.moveItem, { itemId, body: { bucket_id: lot(4) === 0 ? null : before, before_item_id: beside } }],
      [operations.moveItem, { itemId, body: { before_item_id: beside } }],
      [operations.completeItem, { itemId }],
      [operations.reopenItem, { itemId }],
      [operations.createItem, { body: { container_id: containerId, title: 'new', bucket_id: before } }],
    ]
    return oneOf(acts)
  }

  const made = new Map<string, number>()
  for (let round = 0; round < rounds; round += 1) {
    const acts = Array.from({ length: clients }, drawn)
    const answers = await Promise.all(acts.map(([operation, sent]) => send(operation, sent)))
    for (const [at, { status, body }] of answers.entries()) {
      const [{ id }] = acts[at]!
      expect([id, body, status < 500]).toEqual([id, body, true])
      if (status < 300) made.set(id, (made.get(id) ?? 0) + 1)
      if (status === 201) (id === 'createItem' ? items : buckets).push((body as { id: string }).id)
      if (status === 201 && id === 'createItem') all.add((body as { id: string }).id)
    }
    await expectSound(containerId, all)
    buckets.splice(0, Infinity, ...(await call(operations.listBuckets, { containerId })).data.map(({ id }) => id))
    if (buckets.length < 3)
      buckets.push(...(await bucketsNamed(board.owner, containerId, ['x', 'y'])).map(({ id }) => id))
  }
  for (const operation of ['reorderBucket', 'createBucket', 'deleteBucket', 'moveItem'])
    expect([operation, (made.get(operation) ?? 0) >= rounds]).toEqual([operation, true])
})

/** What has to hold after every round, by the rows and by what the operations answer. */
async function expectSound(containerId: string, all: ReadonlySet<string>): Promise<void> {
  const { oracle } = board.own
  const { data } = await call(operations.listBuckets, { containerId })
  expect(data.map(({ position }) => position)).toEqual(data.map((_, at) => at))
  const rows = await oracle<
    { id: string; rank: string }[]
  >`select id, rank from bucket where container_id = ${containerId}`
  expect(new Set(rows.map(({ rank }) => rank)).size).toBe(rows.length)
  expect(rows.map(({ id }) => id).sort()).toEqual(data.map(({ id }) => id).sort())

  const held = await oracle<{ id: string; bucket_id: string | null; rank: string }[]>`
    select id, bucket_id, rank from item where container_id = ${containerId} and deleted_at is null`
  expect(held.map(({ id }) => id).sort()).toEqual([...all].sort())
  const known = new Set<string | null>([null, ...data.map(({ id }) => id)])
  expect(held.filter(({ bucket_id }) => !known.has(bucket_id))).toEqual([])
  expect(new Set(held.map(({ bucket_id, rank }) => `${bucket_id} ${rank}`)).size).toBe(held.length)
  const counted = data.reduce((sum, { item_count }) => sum + item_count, 0)
  expect(counted).toBe(held.filter(({ bucket_id }) => bucket_id !== null).length)
}
