/**
 * F-19: a board's buckets and the items in them against a model, by random sequences of all that can be done to
 * them: the model is a list of buckets and, for each, a list of items. 2,000 sequences with SVC_FAULTS=full.
 * Spec: Structure: buckets, every rule; Index, Items.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { performForAnswer } from '../../src/core/app/perform.ts'
import type { Operation, Sent } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { Problem } from '../../src/core/contract/problem.ts'
import type { AccountActor } from '../../src/core/kernel/values/actor.ts'
import { caseFold } from '../../src/core/kernel/values/case-fold.ts'
import { type Board, openBoard } from './board.ts'

const sequences = process.env['SVC_FAULTS'] === 'full' ? 2_000 : 30

let board: Board
let actor: AccountActor
beforeAll(async () => {
  board = await openBoard()
  actor = {
    kind: 'ACCOUNT',
    accountId: board.ownerId,
    tenantId: board.tenantId,
    credentialId: board.ownerId,
    bearerId: board.ownerId,
    sessionId: null,
    scopes: ['workspace:read', 'workspace:write'],
    role: 'OWNER',
    isOperator: false,
  }
})
afterAll(() => board.close())

const call = <O extends Operation>(operation: O, sent: Sent<O>) =>
  performForAnswer(board.own.installation, operation, actor, sent)

interface BucketModel {
  readonly id: string
  name: string
  limit: number | null
  version: number
  items: string[]
}

/** What the specification says is so. */
interface Model {
  buckets: BucketModel[]
  /** Items in no bucket. */
  loose: string[]
  /** Ids of buckets that were deleted. */
  readonly gone: string[]
}

interface Real {
  readonly containerId: string
}

const seen = new Map<string, number>()

const outcomeOf = (work: Promise<unknown>): Promise<{ answer?: unknown; code: string }> =>
  work.then(
    (answer) => ({ answer, code: 'done' }),
    (error: Problem) => (error.code ? { code: error.code } : Promise.reject(error)),
  )

async function compare(model: Model, { containerId }: Real): Promise<void> {
  const { data } = await call(operations.listBuckets, { containerId })
  expect(
    data.map(({ id, name, position, wip_limit, over_limit, item_count, version }) => ({
      id,
      name,
      position,
      wip_limit,
      over_limit,
      item_count,
      version,
    })),
  ).toEqual(
    model.buckets.map(({ id, name, limit, items, version }, position) => ({
      id,
      name,
      position,
      wip_limit: limit,
      over_limit: limit !== null && items.length > limit,
      item_count: items.length,
      version,
    })),
  )
  const rows = await board.own.oracle<{ bucket_id: string | null; ids: string[] }[]>`
    select bucket_id, array_agg(id order by rank) as ids from item where container_id = ${containerId} group by bucket_id`
  const held = new Map(rows.map(({ bucket_id, ids }) => [bucket_id, ids]))
  expect(held.get(null) ?? []).toEqual(model.loose)
  for (const { id, items } of model.buckets) expect(held.get(id) ?? []).toEqual(items)
}

/** Which bucket a step means: one of those that are there, one that was deleted, or one that never was. */
type Pick = { readonly of: 'present' | 'gone'; readonly at: number }
const nobody = '0190c9d2-7a3b-7cde-8f01-23456789abcd'
const idOf = (model: Model, { of, at }: Pick): string =>
  of === 'gone'
    ? (model.gone[at % Math.max(1, model.gone.length)] ?? nobody)
    : (model.buckets[at % Math.max(1, model.buckets.length)]?.id ?? nobody)
const find = (model: Model, id: string | null) => model.buckets.find((one) => one.id === id)
const isTaken = (model: Model, name: string, but?: string) =>
  model.buckets.some((one) => one.id !== but && caseFold(one.name) === caseFold(name))

type Act = (model: Model, real: Real) => Promise<void>

/** A step: what is expected is told from the model before, and the model changes only if it was done. */
class Step implements fc.AsyncCommand<Model, Real> {
  private readonly name: string
  private readonly act: Act
  constructor(name: string, act: Act) {
    this.name = name
    this.act = act
  }
  check = () => true
  toString = () => this.name
  async run(model: Model, real: Real): Promise<void> {
    await this.act(model, real)
    await compare(model, real)
  }
}

const expectOutcome = async (name: string, expected: string, work: Promise<unknown>) => {
  const outcome = await outcomeOf(work)
  expect([name, outcome.code]).toEqual([name, expected])
  seen.set(`${name}: ${expected}`, (seen.get(`${name}: ${expected}`) ?? 0) + 1)
  return outcome.answer as never
}

const create = (name: string, before: Pick | null) =>
  new Step(`create ${name} before ${JSON.stringify(before)}`, async (model, { containerId }) => {
    const neighbour = before && idOf(model, before)
    const at = neighbour ? model.buckets.findIndex(({ id }) => id === neighbour) : model.buckets.length
    const expected = at < 0 ? 'request.invalid' : isTaken(model, name) ? 'bucket.name_taken' : 'done'
    const body = { name, before_bucket_id: neighbour }
    const made: { id: string } = await expectOutcome(
      'create',
      expected,
      call(operations.createBucket, { containerId, body }),
    )
    if (expected === 'done') model.buckets.splice(at, 0, { id: made.id, name, limit: null, version: 1, items: [] })
  })

const update = (which: Pick, name: string | undefined, limit: number | null | undefined, tag: number) =>
  new Step(`update ${JSON.stringify({ which, name, limit, tag })}`, async (model, { containerId }) => {
    const bucketId = idOf(model, which)
    const bucket = find(model, bucketId)
    const ifMatch = tag === 0 ? undefined : `"${(bucket?.version ?? 1) + tag - 1}"`
    const expected = !bucket
      ? 'not_found'
      : tag > 1
        ? 'precondition.failed'
        : name !== undefined && isTaken(model, name, bucketId)
          ? 'bucket.name_taken'
          : 'done'
    const body = { ...(name === undefined ? {} : { name }), ...(limit === undefined ? {} : { wip_limit: limit }) }
    await expectOutcome('update', expected, call(operations.updateBucket, { containerId, bucketId, body, ifMatch }))
    if (expected !== 'done' || !bucket) return
    const next = { name: name ?? bucket.name, limit: limit === undefined ? bucket.limit : limit || null }
    if (next.name !== bucket.name || next.limit !== bucket.limit) bucket.version += 1
    Object.assign(bucket, next)
  })

const reorder = (which: Pick, before: Pick | null) =>
  new Step(`reorder ${JSON.stringify({ which, before })}`, async (model, { containerId }) => {
    const bucketId = idOf(model, which)
    const neighbour = before && idOf(model, before)
    const bucket = find(model, bucketId)
    const others = model.buckets.filter(({ id }) => id !== bucketId)
    const at = neighbour ? others.findIndex(({ id }) => id === neighbour) : others.length
    const expected = !bucket ? 'not_found' : at < 0 ? 'request.invalid' : 'done'
    const body = { before_bucket_id: neighbour }
    await expectOutcome('reorder', expected, call(operations.reorderBucket, { containerId, bucketId, body }))
    if (expected !== 'done' || !bucket) return
    if (model.buckets.indexOf(bucket) !== at) bucket.version += 1
    others.splice(at, 0, bucket)
    model.buckets = others
  })

const remove = (which: Pick) =>
  new Step(`delete ${JSON.stringify(which)}`, async (model, { containerId }) => {
    const bucketId = idOf(model, which)
    const bucket = find(model, bucketId)
    const expected = bucket ? 'done' : 'not_found'
    const answer = await expectOutcome('delete', expected, call(operations.deleteBucket, { containerId, bucketId }))
    if (!bucket) return
    model.buckets = model.buckets.filter((one) => one !== bucket)
    const [heir] = model.buckets
    ;(heir?.items ?? model.loose).push(...bucket.items)
    model.gone.push(bucketId)
    expect(answer).toEqual({
      deleted_bucket_id: bucketId,
      moved_item_count: bucket.items.length,
      moved_to_bucket_id: heir?.id ?? null,
    })
  })

const addItem = (to: Pick | null) =>
  new Step(`item into ${JSON.stringify(to)}`, async (model, { containerId }) => {
    const bucket_id = to && idOf(model, to)
    const expected = bucket_id && !find(model, bucket_id) ? 'request.invalid' : 'done'
    const body = { container_id: containerId, title: 'An item', bucket_id }
    const made: { id: string } = await expectOutcome('add item', expected, call(operations.createItem, { body }))
    if (expected === 'done') (find(model, bucket_id)?.items ?? model.loose).push(made.id)
  })

const moveItem = (which: number, to: Pick | null) =>
  new Step(`move item ${which} to ${JSON.stringify(to)}`, async (model) => {
    const all = [...model.loose, ...model.buckets.flatMap(({ items }) => items)]
    const itemId = all[which % Math.max(1, all.length)]
    if (itemId === undefined) return
    const bucket_id = to && idOf(model, to)
    const expected = bucket_id && !find(model, bucket_id) ? 'request.invalid' : 'done'
    await expectOutcome('move item', expected, call(operations.moveItem, { itemId, body: { bucket_id } }))
    if (expected !== 'done') return
    model.loose = model.loose.filter((id) => id !== itemId)
    for (const bucket of model.buckets) bucket.items = bucket.items.filter((id) => id !== itemId)
    ;(find(model, bucket_id)?.items ?? model.loose).push(itemId)
  })

const pick: fc.Arbitrary<Pick> = fc.record({
  of: fc.constantFrom('present', 'present', 'present', 'present', 'gone'),
  at: fc.nat(9),
})
const name = fc.constantFrom('Todo', 'tödo', 'Doing', 'DOING', 'Done', 'Later', 'Straße', 'STRASSE', 'Idea', 'More')
const neighbour = fc.option(pick, { freq: 2 })
const steps = [
  fc.tuple(name, neighbour).map(([text, before]) => create(text, before)),
  fc.tuple(name, neighbour).map(([text, before]) => create(text, before)),
  fc
    .tuple(pick, fc.option(name, { nil: undefined }), fc.constantFrom(undefined, null, 0, 1, 2), fc.nat(2))
    .map(([which, text, limit, tag]) => update(which, text, limit, tag)),
  fc.tuple(pick, name).map(([which, text]) => update(which, text, undefined, 0)),
  fc.tuple(pick, neighbour).map(([which, before]) => reorder(which, before)),
  pick.map(remove),
  neighbour.map(addItem),
  neighbour.map(addItem),
  fc.tuple(fc.nat(30), neighbour).map(([which, to]) => moveItem(which, to)),
]

/** Three buckets with two items each: on an empty board most steps find nothing. */
async function startOf(containerId: string): Promise<Model> {
  const model: Model = { buckets: [], loose: [], gone: [] }
  for (const text of ['Todo', 'Doing', 'Done'])
    for (const step of [create(text, null), addItem({ of: 'present', at: model.buckets.length }), addItem(null)])
      await step.run(model, { containerId })
  return model
}

test(`${sequences} sequences of up to 30 steps, 0 divergences`, { timeout: 1_800_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands: 30, size: 'max' }), async (commands) => {
      const containerId = await board.collection()
      const model = await startOf(containerId)
      await fc.asyncModelRun(() => ({ model, real: { containerId } }), commands)
    }),
    { numRuns: sequences },
  )
  const outcomes = ['create: done', 'create: request.invalid', 'create: bucket.name_taken', 'update: done']
  const more = ['update: not_found', 'update: precondition.failed', 'update: bucket.name_taken', 'reorder: done']
  const rest = [
    'reorder: not_found',
    'reorder: request.invalid',
    'delete: done',
    'delete: not_found',
    'move item: done',
  ]
  for (const outcome of [...outcomes, ...more, ...rest])
    expect([outcome, (seen.get(outcome) ?? 0) > sequences / 60], 'the sequences come to it').toEqual([outcome, true])
})
