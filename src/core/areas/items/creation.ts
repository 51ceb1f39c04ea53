/** Creating items. Spec: Index, Items; Quota semantics; decisions 3. */

import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { newId } from '../../kernel/values/id.ts'
import { referencedContainer } from '../access/access.ts'
import { recount } from '../structure/buckets/tally.ts'
import { type CheckedValue, checkNewValues } from './field-values.ts'
import { recorded } from './item.ts'
import { countItem } from './item-count.ts'
import { placeAt } from './position.ts'

type New = Received<typeof ops.createItem>['body']

/** Refuses request.invalid, auth.role_required, container.archived, order.exhausted, quota.exceeded. */
export async function createItem(ctx: Ctx, { body }: Received<typeof ops.createItem>): Promise<Item> {
  const containerId = body.container_id
  const [, , values, place] = await together(
    collectionFor(ctx, containerId),
    refuseUnknownLabels(ctx, containerId, body.label_ids),
    checkNewValues(ctx, containerId, body.type, body.custom_fields),
    placeAt(ctx, { containerId, bucketId: body.bucket_id, before: body.before_item_id }),
  )
  const id = newId()

  writeItem(ctx, { ...body, ...place, id, containerId, values })

  const item = await recorded(ctx, id, 'work.item.created', { container_id: containerId, type: body.type })
  recount(ctx, { bucketId: place.bucketId, by: 1 })
  countItem(ctx)
  return item
}

/**
 * The collection that an item goes to. Refuses request.invalid at /container_id, auth.role_required,
 * container.archived.
 */
export async function collectionFor(ctx: Ctx, containerId: string): Promise<void> {
  const { kind } = await referencedContainer(ctx, containerId, 'MEMBER', '/container_id')
  if (kind === 'HUB') refuseMember('/container_id', 'container.is_hub')
}

interface NewItem extends New {
  readonly id: string
  readonly containerId: string
  readonly bucketId: string | null
  readonly rank: string
  readonly values: readonly CheckedValue[]
}

function writeItem(ctx: Ctx, item: NewItem): void {
  const { tenantId, accountId } = ctx.account
  const { tx } = ctx
  const { id, containerId, bucketId, rank, values, description = null, due_at = null } = item
  const labels = item.label_ids.map((labelId) => ({ tenant_id: tenantId, item_id: id, label_id: labelId }))
  const fields = values.map(({ fieldId, value }) => ({
    tenant_id: tenantId,
    item_id: id,
    field_id: fieldId,
    value: tx.json(value),
  }))
  void tx`
    insert into item (tenant_id, id, container_id, bucket_id, type, title, description, rank, due_at, created_by)
    values (${tenantId}, ${id}, ${containerId}, ${bucketId}, ${item.type}, ${item.title}, ${description}, ${rank}, ${due_at}, ${accountId})`
  if (labels.length > 0) void tx`insert into item_label ${tx.rows(labels, 'tenant_id', 'item_id', 'label_id')}`
  if (fields.length > 0)
    void tx`insert into item_field_value ${tx.rows(fields, 'tenant_id', 'item_id', 'field_id', 'value')}`
}

/** Refuses request.invalid at the label that is given twice, or that the container's vocabulary does not have. */
async function refuseUnknownLabels(ctx: Ctx, containerId: string, labelIds: readonly string[]): Promise<void> {
  if (labelIds.length === 0) return
  if (new Set(labelIds).size < labelIds.length) refuseMember('/label_ids', 'list.unique')
  const known = await ctx.tx<{ id: string }[]>`
    select id from label where tenant_id = ${ctx.account.tenantId} and container_id = ${containerId}
      and id in ${ctx.tx.list(labelIds)} and deleted_at is null for key share`
  const ids = new Set(known.map(({ id }) => id))
  const unknown = labelIds.find((labelId) => !ids.has(labelId))
  if (unknown !== undefined) refuseMember(`/label_ids/${labelIds.indexOf(unknown)}`, 'reference.unknown')
}
