/** Each rule of the buckets. Spec: Structure: buckets; Resources, Bucket; decisions 3. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { request } from '../kit/callers.ts'
import type { SentArgs } from '../kit/installation.ts'
import { type Board, bucketNames, bucketsNamed, openBoard, refusalOf } from './board.ts'

const { listBuckets, createBucket, updateBucket, deleteBucket, reorderBucket } = operations

let board: Board
let containerId: string
beforeAll(async () => {
  board = await openBoard()
})
afterAll(() => board.close())

const fresh = async (...names: string[]) => {
  containerId = await board.collection()
  return bucketsNamed(board.owner, containerId, names)
}
const call: Board['owner']['call'] = (operation, ...sent) => board.owner.call(operation, ...sent)
const refused = <O extends Operation>(operation: O, ...sent: SentArgs<O>) => refusalOf(board.owner, operation, ...sent)

describe('creating', () => {
  test('answers 201 with the whole bucket, its ETag and where it is', async () => {
    await fresh()
    const { token } = await board.somebody('MEMBER')
    const answer = await request(
      board.who.daemon.url,
      createBucket,
      { containerId, body: { name: 'Doing', wip_limit: 3, is_done_bucket: true, color_token: 'red' } },
      token,
    )
    expect(answer.status).toBe(201)
    const made = answer.body as { id: string }
    expect(made).toMatchObject({
      container_id: containerId,
      name: 'Doing',
      position: 0,
      wip_limit: 3,
      over_limit: false,
      is_done_bucket: true,
      color_token: 'red',
      item_count: 0,
      version: 1,
    })
    expect(answer.headers.get('etag')).toBe('"1"')
    expect(answer.headers.get('location')).toBe(`/api/v1/containers/${containerId}/buckets/${made.id}`)
  })

  test('what is left out is false or null, and the place is the right-hand end', async () => {
    await fresh('A')
    const made = await call(createBucket, { containerId, body: { name: 'B' } })
    expect(made).toMatchObject({ is_done_bucket: false, wip_limit: null, color_token: null, position: 1 })
  })

  test('it is placed to the left of the neighbour', async () => {
    const [a, b] = await fresh('A', 'B')
    const made = await call(createBucket, { containerId, body: { name: 'between', before_bucket_id: b!.id } })
    expect(made.position).toBe(1)
    await call(createBucket, { containerId, body: { name: 'first', before_bucket_id: a!.id } })
    expect(await bucketNames(board.owner, containerId)).toEqual(['first', 'A', 'between', 'B'])
  })

  test('a neighbour of another container, one that is deleted and one that nobody has are 422 at the pointer', async () => {
    const [elsewhere] = await fresh('elsewhere')
    const [gone] = await fresh('gone', 'stays')
    await call(deleteBucket, { containerId, bucketId: gone!.id })
    const [foreign] = (await board.foreign.owner.call(listBuckets, { containerId: board.foreign.containerId })).data
    for (const before_bucket_id of [elsewhere!.id, gone!.id, foreign!.id, randomUUID()])
      expect(await refused(createBucket, { containerId, body: { name: 'New', before_bucket_id } })).toEqual({
        code: 'request.invalid',
        status: 422,
        errors: ['/before_bucket_id reference.unknown'],
      })
    expect(await bucketNames(board.owner, containerId)).toEqual(['stays'])
  })

  test('the thousandth is the last, also when several come at once', async () => {
    await fresh()
    await board.own.oracle`
      insert into bucket (tenant_id, id, container_id, name, name_fold, rank)
      select ${board.tenantId}, gen_random_uuid(), ${containerId}, 'b' || n, 'b' || n, 'c' || lpad(n::text, 3, '0') from generate_series(0, 997) n`
    const answers = await board.meeting(
      containerId,
      [...'acdefghijklm'].map((name) => () => refused(createBucket, { containerId, body: { name } })),
    )
    expect(answers.filter((answer) => 'answered' in answer)).toHaveLength(2)
    expect(answers.filter((answer) => 'code' in answer)).toEqual(
      Array(10).fill({ code: 'structure.full', status: 409, params: { limit: 1000 } }),
    )
  })
})

describe('names are unique within the container, without regard to case, accents or Unicode form', () => {
  const pairs = [
    ['Done', 'dONE'],
    ['Crème', 'creme'],
    ['caf\u00e9', 'cafe\u0301'],
    ['Straße', 'STRASSE'],
    ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
    ['ﬁne', 'FINE'],
    ['Ｗｉｄｅ', 'wide'],
  ] as const

  test.each(pairs)('%s is %s', async (first, second) => {
    const [, other] = await fresh(first, 'another')
    const taken = { code: 'bucket.name_taken', status: 409 }
    expect(await refused(createBucket, { containerId, body: { name: second } })).toEqual(taken)
    expect(await refused(updateBucket, { containerId, bucketId: other!.id, body: { name: second } })).toEqual(taken)
    expect(await bucketNames(board.owner, containerId)).toEqual([first, 'another'])
  })

  test('a bucket may take another spelling of its own name, and another container the same name', async () => {
    const [done] = await fresh('Done')
    expect(await call(updateBucket, { containerId, bucketId: done!.id, body: { name: 'DÖNE' } })).toMatchObject({
      name: 'DÖNE',
      version: 2,
    })
    await fresh('done')
  })

  test('the name of a deleted bucket is free', async () => {
    const [gone] = await fresh('Twice', 'other')
    await call(deleteBucket, { containerId, bucketId: gone!.id })
    expect(await call(createBucket, { containerId, body: { name: 'twice' } })).toMatchObject({ position: 1 })
  })

  test('of twenty that come at once one gets the name', async () => {
    await fresh()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        refused(createBucket, { containerId, body: { name: n % 2 ? 'Race' : 'RÁCE' } }),
      ),
    )
    expect(answers.filter((answer) => 'answered' in answer)).toHaveLength(1)
    expect(new Set(answers.flatMap((answer) => ('code' in answer ? [answer.code] : [])))).toEqual(
      new Set(['bucket.name_taken']),
    )
  })

  test('120 characters that fold to 2,160 are a name like any other', async () => {
    const name = 'ﷺ'.repeat(60) + Array.from({ length: 60 }, (_, n) => String.fromCodePoint(0x3300 + n)).join('')
    await fresh()
    expect((await call(createBucket, { containerId, body: { name } })).name).toBe(name)
    expect(await refused(createBucket, { containerId, body: { name } })).toMatchObject({ code: 'bucket.name_taken' })
  })
})

describe('a length is counted as people count: in code points, 1 to 120', () => {
  test.each([
    ['', 'text.too_short'],
    ['x'.repeat(121), 'text.too_long'],
    ['😀'.repeat(121), 'text.too_long'],
    ['a\u0000b', 'text.nul'],
  ])('%j is 422 at /name', async (name, rule) => {
    const [bucket] = await fresh('There')
    const invalid = { code: 'request.invalid', status: 422, errors: [`/name ${rule}`] }
    expect(await refused(createBucket, { containerId, body: { name } })).toEqual(invalid)
    expect(await refused(updateBucket, { containerId, bucketId: bucket!.id, body: { name } })).toEqual(invalid)
  })

  test.each(['x', '😀', '😀'.repeat(120), 'y'.repeat(120)])('%s fits', async (name) => {
    await fresh()
    expect((await call(createBucket, { containerId, body: { name } })).name).toBe(name)
  })
})

describe('PATCH changes the own fields of a bucket only', () => {
  test('what is not sent is left alone; null clears what may be cleared', async () => {
    await fresh()
    const { id: bucketId } = await call(createBucket, {
      containerId,
      body: { name: 'All', wip_limit: 4, is_done_bucket: true, color_token: 'blue' },
    })
    const patched = await call(updateBucket, { containerId, bucketId, body: { color_token: null } })
    expect(patched).toMatchObject({ name: 'All', wip_limit: 4, is_done_bucket: true, color_token: null, version: 2 })
    expect(await call(updateBucket, { containerId, bucketId, body: { wip_limit: null } })).toMatchObject({
      wip_limit: null,
      version: 3,
    })
  })

  test('wip_limit 0 is stored as null, at creation and in a change', async () => {
    await fresh()
    const made = await call(createBucket, { containerId, body: { name: 'Zero', wip_limit: 0 } })
    expect(made.wip_limit).toBe(null)
    await call(updateBucket, { containerId, bucketId: made.id, body: { wip_limit: 2 } })
    expect(await call(updateBucket, { containerId, bucketId: made.id, body: { wip_limit: 0 } })).toMatchObject({
      wip_limit: null,
      version: 3,
    })
  })

  test('one that changes nothing keeps the version and writes neither trail nor event', async () => {
    const [bucket] = await fresh('Same')
    for (const body of [
      {},
      { name: 'Same' },
      { wip_limit: 0 },
      { wip_limit: null, color_token: null, is_done_bucket: false },
    ])
      expect(await call(updateBucket, { containerId, bucketId: bucket!.id, body })).toEqual(bucket)
    expect(await board.trail(bucket!.id)).toHaveLength(1)
    expect(await board.events(`/containers/${containerId}/buckets/${bucket!.id}`)).toHaveLength(1)
  })

  test('null where nothing can be cleared, a wrong type and an unknown member are 422 at their pointers', async () => {
    const [bucket] = await fresh('Fixed')
    const wrong: readonly (readonly [object, string])[] = [
      [{ name: null }, '/name value.type'],
      [{ is_done_bucket: null }, '/is_done_bucket value.type'],
      [{ is_done_bucket: 'true' }, '/is_done_bucket value.type'],
      [{ wip_limit: -1 }, '/wip_limit value.minimum'],
      [{ wip_limit: 1.5 }, '/wip_limit value.type'],
      [{ wip_limit: 2 ** 31 }, '/wip_limit value.maximum'],
      [{ position: 0 }, '/position member.unknown'],
      [{ before_bucket_id: null }, '/before_bucket_id member.unknown'],
      [{ id: bucket!.id }, '/id member.unknown'],
    ]
    for (const [body, error] of wrong)
      expect(await refused(updateBucket, { containerId, bucketId: bucket!.id, body } as never)).toEqual({
        code: 'request.invalid',
        status: 422,
        errors: [error],
      })
    expect((await call(listBuckets, { containerId })).data).toEqual([bucket])
  })

  test('the limit is advisory: with more items than it says, the bucket says so and takes more', async () => {
    const [bucket] = await fresh('Tight')
    await board.plantItems(containerId, bucket!.id, 2)
    const patched = await call(updateBucket, { containerId, bucketId: bucket!.id, body: { wip_limit: 2 } })
    expect(patched).toMatchObject({ item_count: 2, over_limit: false })
    expect(await call(updateBucket, { containerId, bucketId: bucket!.id, body: { wip_limit: 1 } })).toMatchObject({
      item_count: 2,
      over_limit: true,
    })
    expect((await call(listBuckets, { containerId })).data).toMatchObject([{ item_count: 2, over_limit: true }])
  })
})

describe(':reorder', () => {
  test('moves the bucket to the left of before_bucket_id; absent or null, to the right-hand end', async () => {
    const [a, b, c] = await fresh('A', 'B', 'C')
    const to = (bucketId: string, body: { before_bucket_id?: string | null }) =>
      call(reorderBucket, { containerId, bucketId, body })
    expect(await to(c!.id, { before_bucket_id: a!.id })).toMatchObject({ position: 0, version: 2 })
    expect(await bucketNames(board.owner, containerId)).toEqual(['C', 'A', 'B'])
    expect(await to(c!.id, {})).toMatchObject({ position: 2, version: 3 })
    expect(await to(a!.id, { before_bucket_id: null })).toMatchObject({ position: 2 })
    expect(await to(a!.id, { before_bucket_id: b!.id })).toMatchObject({ position: 0 })
    expect(await bucketNames(board.owner, containerId)).toEqual(['A', 'B', 'C'])
  })

  test('writes the row of the one that moves, and no other', async () => {
    const [a, b, c] = await fresh('A', 'B', 'C')
    const rows = () =>
      board.own.oracle<{ id: string; xmin: string }[]>`
        select id, xmin::text from bucket where container_id = ${containerId} order by id`
    const before = new Map((await rows()).map(({ id, xmin }) => [id, xmin]))
    await call(reorderBucket, { containerId, bucketId: c!.id, body: { before_bucket_id: b!.id } })
    const written = (await rows()).filter(({ id, xmin }) => before.get(id) !== xmin)
    expect(written.map(({ id }) => id)).toEqual([c!.id])
    expect((await call(listBuckets, { containerId })).data.map(({ id, version }) => [id, version])).toEqual([
      [a!.id, 1],
      [c!.id, 2],
      [b!.id, 1],
    ])
  })

  test('to where it stands is no change', async () => {
    const [a, b] = await fresh('A', 'B')
    expect(await call(reorderBucket, { containerId, bucketId: a!.id, body: { before_bucket_id: b!.id } })).toEqual({
      ...a,
      position: 0,
    })
    expect(await call(reorderBucket, { containerId, bucketId: b!.id, body: {} })).toEqual(b)
    expect(await board.trail(b!.id)).toHaveLength(1)
  })

  test('before itself, before one elsewhere, before one that is gone: 422 at the pointer, and nothing moves', async () => {
    const [elsewhere] = await fresh('elsewhere')
    const [a, b, gone] = await fresh('A', 'B', 'gone')
    await call(deleteBucket, { containerId, bucketId: gone!.id })
    const errors = await Promise.all(
      [a!.id, elsewhere!.id, gone!.id, randomUUID()].map(async (before_bucket_id) => {
        const refusal = await refused(reorderBucket, { containerId, bucketId: a!.id, body: { before_bucket_id } })
        return 'errors' in refusal ? [refusal.status, ...(refusal.errors ?? [])] : refusal
      }),
    )
    expect(errors).toEqual([
      [422, '/before_bucket_id reference.itself'],
      ...Array(3).fill([422, '/before_bucket_id reference.unknown']),
    ])
    expect((await call(listBuckets, { containerId })).data).toEqual([a, b])
  })

  test('two hundred times into the same gap, and the order still holds', async () => {
    const [left, x, y] = await fresh('left', 'x', 'y', 'right')
    for (let round = 0; round < 200; round += 1) {
      const [moving, before] = round % 2 === 0 ? [y!, x!] : [x!, y!]
      await call(reorderBucket, { containerId, bucketId: moving.id, body: { before_bucket_id: before.id } })
    }
    expect(await bucketNames(board.owner, containerId)).toEqual(['left', 'x', 'y', 'right'])
    expect(left).toBeDefined()
  })
})

test('renaming and rearranging are two operations with two entries in the trail, and two events', async () => {
  const [a, b] = await fresh('A', 'B')
  await call(updateBucket, { containerId, bucketId: b!.id, body: { name: 'Renamed', wip_limit: 5 } })
  const last = await call(reorderBucket, { containerId, bucketId: b!.id, body: { before_bucket_id: a!.id } })
  expect(await board.trail(b!.id)).toEqual([
    { action: 'bucket.created', params: { container_id: containerId } },
    { action: 'bucket.changed', params: { container_id: containerId, members: ['name', 'wip_limit'] } },
    { action: 'bucket.reordered', params: { container_id: containerId, before_bucket_id: a!.id } },
  ])
  const events = await board.events(`/containers/${containerId}/buckets/${b!.id}`)
  expect(events.map(({ type }) => type)).toEqual([
    'svc.work.bucket.created.v1',
    'svc.work.bucket.changed.v1',
    'svc.work.bucket.reordered.v1',
  ])
  expect(events[2]!.data).toEqual(last)
})

describe('DELETE', () => {
  const entriesOf = (bucketId: string | null) =>
    board.own.oracle<{ id: string }[]>`
      select id from item where container_id = ${containerId} and bucket_id is not distinct from ${bucketId} and deleted_at is null order by rank`
  const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

  test('moves the entries to the leftmost bucket that is left, behind its own and in their order, and says so', async () => {
    const [a, b, c] = await fresh('A', 'B', 'C')
    const first = await board.plantItems(containerId, a!.id, 3)
    const second = await board.plantItems(containerId, c!.id, 4)
    expect(await call(deleteBucket, { containerId, bucketId: c!.id })).toEqual({
      deleted_bucket_id: c!.id,
      moved_item_count: 4,
      moved_to_bucket_id: a!.id,
    })
    expect(ids(await entriesOf(a!.id))).toEqual([...first, ...second])
    // The leftmost itself: they go to the one that is leftmost then.
    expect(await call(deleteBucket, { containerId, bucketId: a!.id })).toEqual({
      deleted_bucket_id: a!.id,
      moved_item_count: 7,
      moved_to_bucket_id: b!.id,
    })
    expect(ids(await entriesOf(b!.id))).toEqual([...first, ...second])
    const versions = await board.own.oracle<{ version: number }[]>`
      select distinct version from item where id in ${board.own.oracle(second)}`
    expect(versions).toEqual([{ version: 3 }])
  })

  test('of the last bucket puts the entries out of any bucket', async () => {
    const [only] = await fresh('Only')
    const loose = await board.plantItems(containerId, null, 2)
    const held = await board.plantItems(containerId, only!.id, 2)
    expect(await call(deleteBucket, { containerId, bucketId: only!.id })).toEqual({
      deleted_bucket_id: only!.id,
      moved_item_count: 2,
      moved_to_bucket_id: null,
    })
    expect(ids(await entriesOf(null))).toEqual([...loose, ...held])
    expect(await call(listBuckets, { containerId })).toEqual({ data: [] })
  })

  test('entries that were deleted before are not counted, and come back where the others went', async () => {
    const [a, b] = await fresh('A', 'B')
    const [gone] = await board.plantItems(containerId, b!.id, 2)
    await board.own.oracle`update item set deleted_at = now() where id = ${gone!}`
    expect(await call(deleteBucket, { containerId, bucketId: b!.id })).toMatchObject({ moved_item_count: 1 })
    expect(await board.own.oracle`select bucket_id from item where id = ${gone!}`).toEqual([{ bucket_id: a!.id }])
    expect((await call(listBuckets, { containerId })).data).toMatchObject([{ id: a!.id, item_count: 1 }])
  })

  test('of a bucket with more than a portion moves all of them in portions, each with its entry in the trail', async () => {
    const [a, big] = await fresh('A', 'Big')
    const entries = await board.plantItems(containerId, big!.id, 2_345)
    expect(await call(deleteBucket, { containerId, bucketId: big!.id })).toEqual({
      deleted_bucket_id: big!.id,
      moved_item_count: 2_345,
      moved_to_bucket_id: a!.id,
    })
    expect(ids(await entriesOf(a!.id))).toEqual(entries)
    expect((await board.trail(big!.id)).map(({ action, params }) => [action, params['moved_item_count']])).toEqual([
      ['bucket.created', undefined],
      ['bucket.emptied', 1_000],
      ['bucket.emptied', 1_000],
      ['bucket.deleted', 2_345],
    ])
    const written = await board.own.oracle<{ entries: number }[]>`
      select count(*)::int as entries from item where container_id = ${containerId} group by xmin order by 1`
    expect(written.map((row) => row.entries)).toEqual([345, 1_000, 1_000])
  })

  test('that is cut off between two portions loses nothing, and goes on when it is asked for again', async () => {
    const [a, big] = await fresh('A', 'Big')
    const entries = await board.plantItems(containerId, big!.id, 1_500)
    await board.own.oracle.begin(async (tx) => {
      await tx`select 1 from item where id = ${entries[1_234]!} for update`
      // The second portion waits for that entry, longer than a statement may.
      expect(await refused(deleteBucket, { containerId, bucketId: big!.id })).toEqual({
        code: 'service.unavailable',
        status: 503,
      })
    })
    expect(ids(await entriesOf(a!.id))).toEqual(entries.slice(0, 1_000))
    expect(ids(await entriesOf(big!.id))).toEqual(entries.slice(1_000))
    expect(await call(deleteBucket, { containerId, bucketId: big!.id })).toMatchObject({ moved_item_count: 500 })
    expect(ids(await entriesOf(a!.id))).toEqual(entries)
  })

  test('under a stale tag moves nothing, however large the bucket', async () => {
    const [, big] = await fresh('A', 'Big')
    await board.plantItems(containerId, big!.id, 1_500)
    expect(await refused(deleteBucket, { containerId, bucketId: big!.id, ifMatch: '"7"' })).toEqual({
      code: 'precondition.failed',
      status: 412,
      params: { current_etag: '"1"' },
    })
    expect(await entriesOf(big!.id)).toHaveLength(1_500)
  })

  test('leaves its entry in the trail and its event, with what became of the entries', async () => {
    const [a, b] = await fresh('A', 'B')
    await call(deleteBucket, { containerId, bucketId: b!.id })
    const became = { moved_item_count: 0, moved_to_bucket_id: a!.id }
    expect((await board.trail(b!.id)).at(-1)).toEqual({
      action: 'bucket.deleted',
      params: { container_id: containerId, ...became },
    })
    const [event] = (await board.events(`/containers/${containerId}/buckets/${b!.id}`)).slice(-1)
    expect(event).toMatchObject({ type: 'svc.work.bucket.deleted.v1', data: { ...b, ...became } })
  })

  test('a second time, a bucket of another container and one that nobody has are not_found', async () => {
    const [elsewhere] = await fresh('elsewhere')
    const [gone] = await fresh('gone', 'kept')
    await call(deleteBucket, { containerId, bucketId: gone!.id })
    for (const bucketId of [gone!.id, elsewhere!.id, randomUUID()])
      for (const [operation, more] of [
        [deleteBucket, {}],
        [updateBucket, { body: { name: 'x' } }],
        [reorderBucket, { body: {} }],
      ] as const)
        expect(await refused(operation, { containerId, bucketId, ...more } as never)).toEqual({
          code: 'not_found',
          status: 404,
        })
  })
})

describe('who may change buckets', () => {
  test('a MEMBER may, a COMMENTER may read', async () => {
    const [bucket] = await fresh('There')
    const member = await board.somebody('MEMBER')
    const commenter = await board.somebody('COMMENTER')
    expect(await bucketNames(commenter, containerId)).toEqual(['There'])
    await member.call(updateBucket, { containerId, bucketId: bucket!.id, body: { name: 'Here' } })
    for (const [operation, more] of [
      [createBucket, { body: { name: 'x' } }],
      [updateBucket, { bucketId: bucket!.id, body: { name: 'x' } }],
      [reorderBucket, { bucketId: bucket!.id, body: {} }],
      [deleteBucket, { bucketId: bucket!.id }],
    ] as const)
      expect(await refusalOf(commenter, operation, { containerId, ...more } as never)).toEqual({
        code: 'auth.role_required',
        status: 403,
        params: { role: 'MEMBER' },
      })
  })

  test('in an archived container nobody may; in a deleted one there is nothing', async () => {
    const [a, b] = await fresh('A', 'B')
    const writes = [
      [createBucket, { body: { name: 'x' } }],
      [updateBucket, { bucketId: a!.id, body: { name: 'x' } }],
      [reorderBucket, { bucketId: a!.id, body: {} }],
      [deleteBucket, { bucketId: b!.id }],
    ] as const
    for (const [column, answer] of [
      ['archived_at', { code: 'container.archived', status: 409 }],
      ['deleted_at', { code: 'not_found', status: 404 }],
    ] as const) {
      await board.own.oracle`update container set ${board.own.oracle(column)} = now() where id = ${containerId}`
      for (const [operation, more] of writes)
        expect(await refused(operation, { containerId, ...more } as never)).toEqual(answer)
    }
  })
})
