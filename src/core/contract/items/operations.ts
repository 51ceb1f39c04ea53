/** Items: the entries of a board. Spec: Index, Items; decisions 2 (item types) and 3. */
import { z } from 'zod'
import { AuditEntry } from '../audit/operations.ts'
import { Container } from '../containers/operations.ts'
import { itemType } from '../item-types.ts'
import { defineOperations } from '../operation.ts'
import { Bucket } from '../structure/operations.ts'
import { count, day, moment, pageOf, paging, text, uuid, version } from '../vocabulary.ts'
import { ItemQuery, itemQueryAnswer, shelf } from './query.ts'

const state = z.enum(['OPEN', 'DONE'])
const archived = shelf.describe('whether archived items are in the list')
const title = text(1, 500)
const description = text(0, 20_000)

/** What a value may be before its field's kind is asked (structure/custom-fields/value.ts). */
const fieldValue = z.union([text(0, 10_000), z.number(), z.boolean(), z.array(text(0, 10_000)).max(1000)])

/** Values by the key of their field, as they were taken: an answer is not checked a second time. */
const customFields = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
const setCustomFields = z.record(z.string().regex(/^[a-z][a-z0-9_]{0,49}$/), fieldValue.nullable())

export const Item = z
  .object({
    id: uuid,
    container_id: uuid,
    bucket_id: uuid.nullable().describe('null: in no bucket'),
    type: itemType,
    title: z.string(),
    description: z.string().nullable(),
    state,
    position: z.string().describe('orders the items of one bucket: compare as text, by code unit'),
    parent_id: uuid.nullable().describe('the item that it is a part of, in the same container; null: a root'),
    sibling_position: z.string().nullable().describe('orders the children of one parent, as `position` does a bucket'),
    label_ids: z.array(uuid).describe("of the container's vocabulary as it is now"),
    member_ids: z.array(uuid).describe('who takes part'),
    assignee_id: uuid.nullable().describe('who is responsible; one of the members'),
    custom_fields: customFields.describe('by key; what was never set is not there'),
    start_at: moment.nullable(),
    due_at: moment.nullable(),
    start_on: day.nullable().describe('a day, which is the same for every reader; `start_at` is its first millisecond'),
    due_on: day.nullable().describe('a day; `due_at` is its last millisecond'),
    time_zone: z.string().nullable().describe('of the dates: where its days begin and end'),
    cover: z
      .union([z.object({ media_id: uuid }), z.object({ color_token: z.string() })])
      .nullable()
      .describe('a picture that the item carries, or a colour'),
    completed_at: moment.nullable(),
    archived_at: moment.nullable().describe('since then it is read only, and in lists only on request'),
    created_at: moment,
    created_by: uuid,
    updated_at: moment,
    version,
  })
  .meta({ id: 'Item' })
export type Item = z.output<typeof Item>

const ItemCreate = z
  .strictObject({
    container_id: uuid.describe('a collection'),
    title,
    type: itemType.default('TASK'),
    description: description.nullish(),
    bucket_id: uuid.nullish().describe('absent: the leftmost; null: none'),
    before_item_id: uuid.nullish().describe('of that bucket; none: at the end'),
    parent_id: uuid.nullish().describe('an item of the container; the new one is the last of its children'),
    label_ids: z.array(uuid).max(100).default([]),
    custom_fields: setCustomFields.default({}),
    due_at: moment.nullish(),
  })
  .meta({ id: 'ItemCreate' })

export const ItemUpdate = z
  .strictObject({
    title: title.optional(),
    description: description.nullable().optional(),
    due_at: moment.nullable().optional(),
  })
  .meta({ id: 'ItemUpdate' })

export const ItemMove = z
  .strictObject({
    container_id: uuid.optional().describe('absent: where it is'),
    bucket_id: uuid.nullish().describe('absent: the bucket it is in, or the leftmost of another container; null: none'),
    before_item_id: uuid.nullish().describe('of that bucket; none: at the end'),
    parent_id: uuid
      .nullish()
      .describe(
        'an item of the container that it goes to, as the last of its children; null: a root; absent: as it is',
      ),
  })
  .meta({ id: 'ItemMove' })

export const FieldValueSet = z
  .strictObject({ value: fieldValue.nullable().describe('of the kind of its field; null clears it') })
  .meta({ id: 'FieldValueSet' })

const itemId = uuid
const params = z.strictObject({ itemId })
export const recovery = { refused: "content is the workspace's own; `:export` is the operator's way" } as const
/** The role is asked for in the item's container; what is not visible is `not_found`. */
const reading = { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER', within: 'container' } as const
export const writing = { caller: 'workspace', scope: 'workspace:write', role: 'MEMBER', within: 'container' } as const
const spec = 'Index, Items; decisions 3'
const one = { status: 200, answer: Item } as const
/** What every change of an item has in common. */
export const change = { spec, params, success: one, needs: writing, ifMatch: true, recovery } as const

const ofBoard = z.object({
  items: z.array(Item).describe('the first of the bucket, in its order'),
  next_cursor: z
    .string()
    .nullable()
    .describe('of `GET /items` with this `bucket_id` and the same state; in no bucket with `container_id` and `none`'),
})

const Board = z
  .object({
    container: Container,
    buckets: z.array(Bucket.extend(ofBoard.shape)).describe('from the left'),
    unbucketed: ofBoard.describe('items in no bucket'),
  })
  .meta({ id: 'Board' })
export type Board = z.output<typeof Board>

const ItemQueryAnswer = itemQueryAnswer(Item)
export type ItemQueryAnswer = z.output<typeof ItemQueryAnswer>

export const itemOperations = defineOperations('items', {
  getBoard: {
    method: 'GET',
    path: '/containers/{containerId}/board',
    summary: 'A board: the container, its buckets, and the first items of each',
    spec: 'decisions 7, the board',
    params: z.strictObject({ containerId: uuid }),
    query: z.strictObject({
      size: count(1, 50).default(20).describe('items of each bucket'),
      state: state.optional(),
      archived,
    }),
    success: { status: 200, answer: Board },
    needs: reading,
    refuses: ['not_found'],
    recovery,
    assumed: [
      'everything is of one moment',
      'an answer ends at about 1 MiB of items: a bucket then has fewer than `size`, and its cursor leads to the next, or to an empty page',
    ],
  },
  listItems: {
    method: 'GET',
    path: '/items',
    summary: 'The items that the caller sees',
    spec,
    query: z.strictObject({
      container_id: uuid.optional(),
      bucket_id: uuid.or(z.literal('none')).optional().describe('`none`: those in no bucket of `container_id`'),
      state: state.optional(),
      label_id: uuid.optional(),
      parent_id: uuid.optional().describe('the children of this item'),
      archived,
      ...paging(200, 50),
    }),
    success: { status: 200, answer: pageOf(Item) },
    needs: reading,
    refuses: ['not_found', 'cursor.invalid'],
    recovery,
    assumed: [
      'with `bucket_id` in the order of the bucket, otherwise oldest first; filters add up',
      'an archived item stands where it stood when it was archived',
      'a filter that names what the caller does not see is not_found',
      'an item that nobody moves meanwhile is on exactly one page, however many others are moved',
    ],
  },
  queryItems: {
    method: 'POST',
    path: '/items:query',
    summary: 'Ask for items by a filter: a page of them, sorted, counted, in groups',
    spec: 'Work on boards, 2, N3',
    body: ItemQuery,
    reads: true,
    success: { status: 200, answer: ItemQueryAnswer },
    needs: reading,
    refuses: ['not_found', 'cursor.invalid', 'query.too_broad'],
    recovery,
    assumed: [
      'a condition on what is gone or not seen is unknown, and so is its opposite: neither holds (decision 0210)',
      'an item whose sorted values stay is on exactly one page; a cursor holds the filter and the moment of `now`',
      'a page looks at a bounded number of items, so it may be short or empty and still have a `next_cursor`',
    ],
  },
  createItem: {
    method: 'POST',
    path: '/items',
    summary: 'Create an item in a collection',
    spec: `${spec}; Quota semantics (items)`,
    body: ItemCreate,
    success: { status: 201, answer: Item, location: (made: { id: string }) => `/items/${made.id}` },
    needs: writing,
    refuses: ['container.archived', 'item.archived', 'item.tree_full', 'order.exhausted', 'quota.exceeded'],
    idempotent: true,
    recovery,
    assumed: [
      'a parent that is archived refuses children; one of another container is 422 at `/parent_id`',
      'titles are 1..500, descriptions 0..20000',
      'a field that is required of the type has to have a value',
      'hubs hold collections, so an item is refused there',
    ],
  },
  getItem: {
    method: 'GET',
    path: '/items/{itemId}',
    summary: 'One item',
    spec,
    params,
    success: one,
    needs: reading,
    recovery,
    assumed: ['position is a key and no count: a count would change while the version stays (decision 0105)'],
  },
  updateItem: {
    ...change,
    method: 'PATCH',
    path: '/items/{itemId}',
    summary: 'Change title, description or due moment',
    body: ItemUpdate,
    patch: 'merge',
    refuses: ['container.archived', 'item.archived'],
    assumed: [
      'place, state, labels and values have operations of their own; the type stays',
      '`due_at` makes the due date a moment: days are dropped, and a start that does not fit; null drops all dates',
      'the `due_at` that the item has already changes nothing, also where it is the end of a day',
    ],
  },
  deleteItem: {
    ...change,
    method: 'DELETE',
    path: '/items/{itemId}',
    summary: 'Delete an item',
    success: { status: 204 },
    refuses: ['container.archived'],
    assumed: [
      'the items below it go with it, each with an event and an entry; the trash lists it alone',
      'a soft delete; it is in the trash from then on, and no longer counts against the ceiling (decision 0107)',
      'the container may ask for a higher role (`delete_role` of its policies)',
    ],
  },
  moveItem: {
    ...change,
    method: 'POST',
    path: '/items/{itemId}:move',
    summary: 'Move an item to another container, bucket or place',
    body: ItemMove,
    refuses: ['container.archived', 'item.archived', 'item.circular', 'item.tree_full', 'order.exhausted'],
    assumed: [
      'MEMBER in both containers',
      'to another container an item takes what is below it along, to the end of the bucket that it goes to, and leaves its parent',
      'within a container the items below it stay in their buckets; with `parent_id` alone it stays in its own place',
      'what is in the trash from below it stays where it was deleted',
      "labels and values of the old container's vocabulary stop showing and come back with the item (decision 0108)",
      'a move to where it stands changes nothing',
    ],
  },
  completeItem: {
    ...change,
    method: 'POST',
    path: '/items/{itemId}:complete',
    summary: "Complete an item; it goes to the end of the container's done bucket, if there is one",
    refuses: ['container.archived', 'item.archived', 'item.children_open'],
    assumed: [
      'the container may want all below it done first (`complete_needs_children`), or complete it, too (`complete_children`); archived items do not count',
      'of several done buckets the leftmost, unless it is in one already; completing twice changes nothing',
    ],
  },
  reopenItem: {
    ...change,
    method: 'POST',
    path: '/items/{itemId}:reopen',
    summary: 'Open an item again; out of a done bucket it goes to the end of the leftmost that is none',
    refuses: ['container.archived', 'item.archived'],
    assumed: ['where every bucket is a done bucket it stays; reopening what is open changes nothing'],
  },
  addItemLabel: {
    ...change,
    method: 'PUT',
    path: '/items/{itemId}/labels/{labelId}',
    summary: 'Put a label of the container on an item',
    params: z.strictObject({ itemId, labelId: uuid }),
    refuses: ['container.archived', 'item.archived'],
    assumed: ["a label of another container's vocabulary, or deleted, is not_found"],
  },
  removeItemLabel: {
    ...change,
    method: 'DELETE',
    path: '/items/{itemId}/labels/{labelId}',
    summary: 'Take a label off an item',
    params: z.strictObject({ itemId, labelId: uuid }),
    success: { status: 204 },
    refuses: ['container.archived', 'item.archived'],
    assumed: ['taking off what is not on changes nothing'],
  },
  setItemField: {
    ...change,
    method: 'PUT',
    path: '/items/{itemId}/custom-fields/{key}',
    summary: 'Set or clear the value of a custom field',
    params: z.strictObject({ itemId, key: text(1, 50) }),
    body: FieldValueSet,
    refuses: ['container.archived', 'item.archived'],
    assumed: [
      "a key that is not defined for the item's container and type is not_found",
      'a required field cannot be cleared',
    ],
  },
  listItemActivity: {
    method: 'GET',
    path: '/items/{itemId}/activity',
    summary: 'What became of an item, newest first',
    spec,
    params,
    query: z.strictObject(paging(200, 50)),
    success: { status: 200, answer: pageOf(AuditEntry) },
    needs: reading,
    refuses: ['cursor.invalid'],
    recovery,
    assumed: ["its entries of the workspace's trail: who did what and when, never the content (decision 0109)"],
  },
})
