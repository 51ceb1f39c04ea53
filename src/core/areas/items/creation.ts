/** Creating items. Spec: Index, Items; Quota semantics; decisions 3. */

import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { newId } from '../../kernel/values/id.ts'
import { referencedContainer } from '../access/access.ts'
import { recount } from '../structure/buckets/tally.ts'
import { dueOf, undated } from './dates.ts'
import { type CheckedValue, checkNewValues } from './field-values.ts'
import { keysOfNewItem } from './filter/keying.ts'
import { countItem } from './item-count.ts'
import { placeAt } from './position.ts'
import { findParent, placeUnder } from './tree/parent.ts'
import { holdTrees } from './tree/reading.ts'
import { atRoot, single, type TreePlace } from './tree/shape.ts'

/** Refuses request.invalid, auth.role_required, container.archived, item.archived, item.tree_full, order.exhausted, quota.exceeded. */
export async function createItem(ctx: Ctx, { body }: Received<typeof ops.createItem>): Promise<Item> {
  const containerId = body.container_id
  const parentId = body.parent_id ?? undefined
  // The trees are held before anything else is locked; that the container is seen is said first.
  const parent = parentId === undefined ? undefined : parentIn(ctx, containerId, parentId)
  const [, found, , values, { bucketId, rank }, now] = await together(
    collectionFor(ctx, containerId),
    parent,
    refuseUnknownLabels(ctx, containerId, body.label_ids),
    checkNewValues(ctx, containerId, body.type, body.custom_fields),
    placeAt(ctx, ctx.tx.part`${containerId}::uuid`, { bucketId: body.bucket_id, before: body.before_item_id }),
    ctx.now(),
  )
  const { root_id, ...place } = parentId === undefined ? atRoot : placeUnder(found, single)
  const item: Item = {
    id: newId(),
    container_id: containerId,
    bucket_id: bucketId,
    type: body.type,
    title: body.title,
    description: body.description ?? null,
    state: 'OPEN',
    position: rank,
    ...place,
    label_ids: [...body.label_ids].sort(),
    member_ids: [],
    assignee_id: null,
    custom_fields: Object.fromEntries(values.map(({ key, value }) => [key, value])),
    ...(body.due_at ? dueOf(undated, body.due_at) : undated),
    cover: null,
    completed_at: null,
    archived_at: null,
    created_at: now,
    created_by: ctx.account.accountId,
    updated_at: now,
    version: 1,
  }

  writeItem(ctx, { ...item, root_id }, values)

  await ctx.record('work.item.created', item, { container_id: containerId, type: body.type })
  recount(ctx, { bucketId, by: 1 })
  countItem(ctx)
  return item
}

/** What may become the parent of an item of the container, whose trees are held from now on. */
export function parentIn(ctx: Ctx, containerId: string, parentId: string): ReturnType<typeof findParent> {
  void holdTrees(ctx, containerId)
  return findParent(ctx, ctx.tx.part`${containerId}::uuid`, parentId)
}

/**
 * The collection that an item goes to. Refuses request.invalid at /container_id, auth.role_required,
 * container.archived.
 */
export async function collectionFor(ctx: Ctx, containerId: string): Promise<void> {
  const { kind } = await referencedContainer(ctx, containerId, 'MEMBER', '/container_id')
  if (kind === 'HUB') refuseMember('/container_id', 'container.is_hub')
}

function writeItem(ctx: Ctx, item: Item & Pick<TreePlace, 'root_id'>, values: readonly CheckedValue[]): void {
  const { tenantId } = ctx.account
  const { tx } = ctx
  const { id } = item
  const labels = item.label_ids.map((labelId) => ({ tenant_id: tenantId, item_id: id, label_id: labelId }))
  const fields = values.map(({ fieldId, value }) => ({
    tenant_id: tenantId,
    item_id: id,
    field_id: fieldId,
    value: tx.json(value),
  }))
  // One statement with its first keys: each costs a new item about 60 µs.
  const [keys = [], ...others] = keysOfNewItem(ctx, item, values)
  void tx`
    with made as (
    insert into item (tenant_id, id, container_id, bucket_id, type, title, description, rank, due_at, created_by,
                      parent_id, root_id, sibling_rank, without_labels, without_members, without_values, without_keys)
    values (${tenantId}, ${id}, ${item.container_id}, ${item.bucket_id}, ${item.type}, ${item.title}, ${item.description}, ${item.position},
            ${item.due_at}, ${item.created_by}, ${item.parent_id}, ${item.root_id}, ${item.sibling_position}, ${labels.length === 0}, true, ${fields.length === 0}, false))
    insert into item_field_key ${tx.rows(keys, 'tenant_id', 'item_id', 'field_id', 'key', 'whole')}`
  if (labels.length > 0) void tx`insert into item_label ${tx.rows(labels, 'tenant_id', 'item_id', 'label_id')}`
  if (fields.length > 0)
    void tx`insert into item_field_value ${tx.rows(fields, 'tenant_id', 'item_id', 'field_id', 'value')}`
  for (const more of others)
    void tx`insert into item_field_key ${tx.rows(more, 'tenant_id', 'item_id', 'field_id', 'key', 'whole')}`
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
