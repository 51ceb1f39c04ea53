/** Actions on many items in one call. Spec: items 1, N6. */
import { z } from 'zod'
import { JobRef } from '../jobs/operations.ts'
import { defineOperations } from '../operation.ts'
import { text, uuid, version } from '../vocabulary.ts'
import { DueSet } from './dates.ts'
import { Filter } from './filter.ts'
import { FieldValueSet, ItemMove, ItemUpdate, recovery, writing } from './operations.ts'
import { ItemAssign, ItemUnassign } from './people.ts'

/** Steps of one call: items times actions. */
export const mostSteps = 500
/** Refusals that the result of a job lists. */
export const mostRefusals = 100
/** Steps that count as one request. */
const stepsOfARequest = 20

const action = <Name extends string, Shape extends z.ZodRawShape>(name: Name, shape: Shape) =>
  z.strictObject({ action: z.enum([name]), ...shape })
const account = { account_id: uuid }
const label = { label_id: uuid }

/** Each with the body of its own operation, beside the `action`. */
const BulkAction = z
  .discriminatedUnion('action', [
    action('update', ItemUpdate.shape),
    action('move', ItemMove.shape),
    action('complete', {}),
    action('reopen', {}),
    action('assign', ItemAssign.shape),
    action('unassign', ItemUnassign.shape),
    action('add_member', account),
    action('remove_member', account),
    action('add_label', label),
    action('remove_label', label),
    action('set_field', { key: text(1, 50), ...FieldValueSet.shape }),
    action('set_due', DueSet.shape),
    action('clear_due', {}),
    action('archive', {}),
    action('unarchive', {}),
    action('delete', {}),
    action('restore', {}),
  ])
  .meta({ id: 'BulkAction' })
export type BulkAction = z.output<typeof BulkAction>

const ItemBulk = z
  .strictObject({
    items: z
      .array(z.strictObject({ id: uuid, version: version.optional().describe('as If-Match of a single call') }))
      .min(1)
      .max(200)
      .optional()
      .describe(`each of them once; items times actions at most ${mostSteps}`),
    filter: Filter.optional().describe('instead of `items`: all on the boards that it finds, by a job'),
    actions: z.array(BulkAction).min(1).max(10).describe('done on each item, in this order'),
    mode: z
      .enum(['EACH', 'ATOMIC'])
      .default('EACH')
      .describe('EACH: an item that refuses an action stays as it was; ATOMIC: the first refusal refuses all'),
  })
  .meta({ id: 'ItemBulk' })

const BulkResult = z
  .object({
    id: uuid,
    status: z.int().describe('200, or that of the refusal'),
    code: z.string().nullable(),
    params: z.record(z.string(), z.unknown()),
    errors: z.array(z.object({ pointer: z.string(), code: z.string(), params: z.record(z.string(), z.unknown()) })),
    version: version.nullable().describe('after the actions; null: refused, or deleted'),
  })
  .meta({ id: 'BulkResult' })
export type BulkResult = z.output<typeof BulkResult>

const lengthOf = (list: unknown) => (Array.isArray(list) ? list.length : 1)

export const itemBulkOperations = defineOperations('items', {
  bulkItems: {
    method: 'POST',
    path: '/items:bulk',
    summary: 'Do up to ten things to each of up to 200 items, or to all that a filter finds',
    spec: 'items 1, N6',
    body: ItemBulk,
    counts(body) {
      const { items, filter, actions } = (body ?? {}) as Readonly<Record<string, unknown>>
      if (filter !== undefined) return mostSteps / stepsOfARequest
      return Math.min(
        Math.ceil((lengthOf(items) * lengthOf(actions)) / stepsOfARequest) || 1,
        mostSteps / stepsOfARequest,
      )
    },
    success: {
      status: 200,
      answer: z.object({ results: z.array(BulkResult).describe('in the order that the items were sent in') }).meta({
        id: 'BulkResults',
      }),
      queued: JobRef,
    },
    needs: writing,
    idempotent: true,
    refuses: ['bulk.refused', 'query.too_broad'],
    recovery,
    assumed: [
      'with `filter` 202 and a job, EACH in portions: the items are those of the moment of the call, and each portion has the rights of its own moment',
      '`filter` finds what is on the boards: neither archived items nor those in the trash',
      'a call with `filter` counts as the largest one without',
      'one transaction; each step writes its own event and entry',
      'the pointers of a refusal lead to the action, `/actions/0/account_id`; of `bulk.refused` to the item',
      'a label or a key that the item does not have is 422 at the action: not_found is the item',
    ],
  },
})
