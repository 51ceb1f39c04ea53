/**
 * Makes many items at once, each as `createItem` makes one, in few statements.
 *
 * The caller has found their places, labels and values, and holds the container. An event and an entry tell of each. The
 * count against the ceiling is written last, because all creations of the workspace wait for its row.
 * Spec: items 7, O25; docs/decisions/0226.
 */
import type { Item } from '../../contract/items/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { newId } from '../../kernel/values/id.ts'
import { recount } from '../structure/buckets/tally.ts'
import type { CheckedValue } from './field-values.ts'
import { keysOfNewItem } from './filter/keying.ts'
import { countItems } from './item-count.ts'
import { atRoot, type TreePlace } from './tree/shape.ts'

type Given = 'title' | 'type' | 'description' | 'bucket_id' | 'position' | 'label_ids'
type Dates = 'start_at' | 'due_at' | 'start_on' | 'due_on' | 'time_zone'

export interface NewItem extends Pick<Item, Given | Dates> {
  readonly values: readonly CheckedValue[]
  /** Given where another item of the call names it as its parent. */
  readonly id?: string
  /** Absent: a root. */
  readonly place?: TreePlace
  /** Absent: nobody. Whoever names them has asked for their access. */
  readonly people?: Pick<Item, 'member_ids' | 'assignee_id'>
  /** Absent: none. A picture is carried by the item, as the caller sees to. */
  readonly cover?: Item['cover']
}

/** Rows of one statement; PostgreSQL takes 65,535 values. */
const rowsAtOnce = 2_000

/** Refuses quota.exceeded, at the commit. `now`: when the transaction began. */
export async function makeItems(
  ctx: Ctx,
  containerId: string,
  wanted: readonly NewItem[],
  now: string,
): Promise<readonly Item[]> {
  const made = wanted.map(
    ({ values, label_ids, id = newId(), place = atRoot, people = nobody, cover = null, ...given }) => ({
      values,
      rootId: place.root_id,
      item: {
        ...given,
        id,
        parent_id: place.parent_id,
        sibling_position: place.sibling_position,
        container_id: containerId,
        state: 'OPEN' as const,
        label_ids: [...label_ids].sort(),
        member_ids: [...people.member_ids].sort(),
        assignee_id: people.assignee_id,
        custom_fields: Object.fromEntries(values.map(({ key, value }) => [key, value])),
        cover,
        completed_at: null,
        archived_at: null,
        created_at: now,
        created_by: ctx.account.accountId,
        updated_at: now,
        version: 1,
      },
    }),
  )
  if (made.length === 0) return []

  writeItems(ctx, made)

  const items: Item[] = made.map(({ item }) => item)
  for (const item of items) await ctx.record('work.item.created', item, { container_id: containerId, type: item.type })
  const byBucket = Map.groupBy(items, ({ bucket_id }) => bucket_id)
  recount(ctx, ...[...byBucket].map(([bucketId, some]) => ({ bucketId, by: some.length })))
  countItems(ctx, items.length)
  return items
}

const nobody = { member_ids: [], assignee_id: null }

interface Made {
  readonly item: Item
  readonly rootId: string | null
  readonly values: readonly CheckedValue[]
}

function writeItems(ctx: Ctx, made: readonly Made[]): void {
  const { tx } = ctx
  const { tenantId: tenant_id } = ctx.account
  const rows = made.map(({ item: { position, sibling_position, ...item }, rootId, values }) => ({
    ...item,
    tenant_id,
    cover: item.cover && tx.json(item.cover),
    rank: position,
    root_id: rootId,
    sibling_rank: sibling_position,
    without_labels: item.label_ids.length === 0,
    without_members: item.member_ids.length === 0,
    without_values: values.length === 0,
    without_keys: false,
  }))
  const keys = made.flatMap(({ item, values }) => keysOfNewItem(ctx, item, values).flat())
  const labels = made.flatMap(({ item }) =>
    item.label_ids.map((label_id) => ({ tenant_id, item_id: item.id, label_id })),
  )
  const members = made.flatMap(({ item }) =>
    item.member_ids.map((account_id) => ({ tenant_id, item_id: item.id, account_id })),
  )
  const values = made.flatMap(({ item, values }) =>
    values.map(({ fieldId, value }) => ({ tenant_id, item_id: item.id, field_id: fieldId, value: tx.json(value) })),
  )
  for (const some of portionsOf(rows))
    void tx`
      insert into item ${tx.rows(some, 'tenant_id', 'id', 'container_id', 'bucket_id', 'type', 'title', 'description', 'rank', 'start_at', 'due_at', 'start_on', 'due_on', 'time_zone', 'created_by', 'parent_id', 'root_id', 'sibling_rank', 'assignee_id', 'cover', 'without_labels', 'without_members', 'without_values', 'without_keys')}`
  for (const some of portionsOf(keys))
    void tx`insert into item_field_key ${tx.rows(some, 'tenant_id', 'item_id', 'field_id', 'key', 'whole')}`
  for (const some of portionsOf(labels))
    void tx`insert into item_label ${tx.rows(some, 'tenant_id', 'item_id', 'label_id')}`
  for (const some of portionsOf(members))
    void tx`insert into item_member ${tx.rows(some, 'tenant_id', 'item_id', 'account_id')}`
  for (const some of portionsOf(values))
    void tx`insert into item_field_value ${tx.rows(some, 'tenant_id', 'item_id', 'field_id', 'value')}`
}

function portionsOf<Row>(rows: readonly Row[]): Row[][] {
  const portions: Row[][] = []
  for (let at = 0; at < rows.length; at += rowsAtOnce) portions.push(rows.slice(at, at + rowsAtOnce))
  return portions
}
