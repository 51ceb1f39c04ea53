/**
 * An item: how it is read, how it is locked for a change, and what every change records.
 *
 * An item is more than its row: labels, people and values are rows of their own. Rows that no
 * longer apply stay in the database but are not shown: a label that was deleted or that belongs to
 * a container which the item has left, and a value whose definition was deleted, does not apply to
 * the type, or is of another container. So deleting a label and moving an item rewrite nothing, and
 * both can be undone.
 *
 * Spec: Structure: labels, custom fields (rules 2 and 3); decisions 3; docs/decisions/0108.
 */

import { isDeepStrictEqual } from 'node:util'
import type { EffectivePolicies } from '../../contract/containers/policies.ts'
import type { Item } from '../../contract/items/operations.ts'
import { refuse } from '../../contract/problem.ts'
import type { Role } from '../../contract/vocabulary.ts'
import type { Part } from '../../kernel/database/statement.ts'
import { hasWaited } from '../../kernel/database/waited.ts'
import type { EventName } from '../../kernel/outbox/event-row.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import {
  type ContainerRow,
  containerOfTrashed,
  type DecidedRole,
  effectivePolicies,
  holdsContainers,
  isSeen,
  writableContainer,
  writableContainerOf,
} from '../access/access.ts'

/** An item that a rule has locked: as it is before the change, and what the rule needs beside it. */
export interface LockedItem {
  readonly item: Item
  readonly isInDoneBucket: boolean
  /** When the transaction began: `now()` in all its statements. */
  readonly now: string
  /** What its container decides. */
  readonly policies: EffectivePolicies
}

/**
 * The columns of an answer, of the item `i`. Every list has few rows, so each is a subquery of its own. Most items have
 * none, which their row says (docs/decisions/0187).
 */
export const representation = ({ tx }: Ctx): Part => tx.part`
  i.id, i.container_id, i.bucket_id, i.type, i.title, i.description, i.state, i.rank as position, i.parent_id, i.sibling_rank as sibling_position,
  case when i.without_labels then '[]'::jsonb else coalesce((
    select jsonb_agg(l.label_id order by l.label_id) from item_label l
    join label v on v.tenant_id = l.tenant_id and v.id = l.label_id
    where l.tenant_id = i.tenant_id and l.item_id = i.id and v.container_id = i.container_id and v.deleted_at is null
  ), '[]'::jsonb) end as label_ids,
  case when i.without_members then '[]'::jsonb else coalesce((
    select jsonb_agg(m.account_id order by m.account_id) from item_member m
    where m.tenant_id = i.tenant_id and m.item_id = i.id
  ), '[]'::jsonb) end as member_ids, i.assignee_id,
  case when i.without_values then '{}'::jsonb else coalesce((
    select jsonb_object_agg(f.key, w.value) from item_field_value w
    join custom_field f on f.tenant_id = w.tenant_id and f.id = w.field_id
    where w.tenant_id = i.tenant_id and w.item_id = i.id and f.deleted_at is null and f.applies_to ? i.type
      and (f.collection_id = i.container_id or f.collection_id is null and not exists (
        select from custom_field s
        where s.tenant_id = f.tenant_id and s.collection_id = i.container_id and s.key = f.key and s.deleted_at is null))
  ), '{}'::jsonb) end as custom_fields,
  i.start_at, i.due_at, i.start_on, i.due_on, i.time_zone,
  case when i.cover is null then null when i.cover ? 'color_token' or exists (
    select from media_reference r
    where r.tenant_id = i.tenant_id and r.item_id = i.id and r.media_id = (i.cover ->> 'media_id')::uuid
  ) then i.cover end as cover, i.completed_at, i.archived_at, i.created_at, i.created_by, i.updated_at, i.version`

/** The item, when the caller sees it. Refuses not_found. */
export async function visibleItem(ctx: Ctx, itemId: string): Promise<Item> {
  const [item] = await ctx.tx<Item[]>`select ${representation(ctx)} ${fromSeen(ctx, itemId)}`
  return item ?? refuse('not_found')
}

/** The one item that the caller sees, with its container `c` and the hub `h`. */
export const fromSeen = (ctx: Ctx, itemId: string): Part => ctx.tx.part`
  from item i
  join container c on c.tenant_id = i.tenant_id and c.id = i.container_id
  left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
  where i.tenant_id = ${ctx.account.tenantId} and i.id = ${itemId} and i.deleted_at is null
    and c.deleted_at is null and h.deleted_at is null and ${isSeen(ctx)}`

/** The item as it is now, in a transaction that has just written it. */
export async function readItem(ctx: Ctx, itemId: string): Promise<Item> {
  const { tenantId } = ctx.account
  const [item] = await ctx.tx<Item[]>`
    select ${representation(ctx)} from item i where i.tenant_id = ${tenantId} and i.id = ${itemId}`
  return item ?? refuse('not_found')
}

export interface Locking {
  /** The role that the change needs in the container, or the policy that decides it; MEMBER, if none is named. */
  readonly role?: Role | DecidedRole
  /** Archived items are read only, except for the changes that take them. */
  readonly takes?: 'archived'
}

/**
 * The item, for a change: it and its container stay as they are until the commit. Locks are taken in
 * this order everywhere: item, container, bucket, places. Refuses not_found, auth.role_required,
 * container.archived, precondition.failed, item.archived.
 */
export async function lockItem(
  ctx: Ctx,
  itemId: string,
  { role = 'MEMBER', takes }: Locking = {},
): Promise<LockedItem> {
  const [found, container] = holdsContainers(ctx)
    ? await lockedInHeld(ctx, itemId, role)
    : await together(lockedRow(ctx, itemId), writableContainerOf(ctx, containerOf(ctx, itemId), role))
  const row = found.is_old || container.has_waited ? await lockedRow(ctx, itemId) : found
  const locked = lockedOf(row, container)
  ctx.unchanged(locked.item.version)
  if (locked.item.archived_at !== null && takes === undefined) refuse('item.archived')
  return locked
}

/** In a call about many items the container is known, unless an action before this one moved the item. */
async function lockedInHeld(ctx: Ctx, itemId: string, role: Role | DecidedRole): Promise<[LockedRow, ContainerRow]> {
  const found = takeAhead(ctx, itemId) ?? (await lockedRow(ctx, itemId))
  return [found, await writableContainer(ctx, found.container_id, role)]
}

/** Items that a call about many has locked and read. Each is taken once: the first change makes it old. */
const aheadOf = new WeakMap<Ctx, Map<string, LockedRow>>()

/**
 * Reads items that the call has locked, in containers that it holds, so that `lockItem` asks for none of them by itself. For
 * changes of which none changes another item. Call it with as many as may be in memory at once.
 */
export async function readAhead(ctx: Ctx, itemIds: readonly string[]): Promise<void> {
  if (itemIds.length === 0) return
  const { tx } = ctx
  const { tenantId } = ctx.account
  const rows = await tx<LockedRow[]>`
    select ${lockedColumns(ctx)}, i.version as seen_version, now(), false as is_old
    from item i where i.tenant_id = ${tenantId} and i.id in ${tx.list(itemIds)} and i.deleted_at is null`
  aheadOf.set(ctx, new Map(rows.map((row) => [row.id, row])))
}

function takeAhead(ctx: Ctx, itemId: string): LockedRow | undefined {
  const ahead = aheadOf.get(ctx)
  const row = ahead?.get(itemId)
  ahead?.delete(itemId)
  return row
}

export interface TrashedItem extends LockedItem {
  /** Null: it is not in the trash. */
  readonly deletedAt: string | null
  /** It may be deleted itself, or archived. */
  readonly container: ContainerRow
}

/** An item that may be in the trash, locked as `lockItem` does it. Refuses not_found, auth.role_required, precondition.failed. */
export async function lockInTrash(ctx: Ctx, itemId: string, role: Role): Promise<TrashedItem> {
  const [found, container] = await together(
    lockedRow(ctx, itemId, 'and in the trash'),
    containerOfTrashed(ctx, containerOf(ctx, itemId), role),
  )
  const row = found.is_old || container.has_waited ? await lockedRow(ctx, itemId, 'and in the trash') : found
  const locked = lockedOf(row, container)
  ctx.unchanged(locked.item.version)
  return { ...locked, deletedAt: row.deleted_at, container }
}

function lockedOf(
  { is_in_done_bucket, now, is_old, seen_version, deleted_at, ...item }: LockedRow,
  container: ContainerRow,
): LockedItem {
  return { item, isInDoneBucket: is_in_done_bucket, now, policies: effectivePolicies(container) }
}

/**
 * The id of the item's container, for a statement that is sent together with `lockItem`, and behind it: the item may be
 * moved while the lock is waited for.
 */
export const containerOf = ({ tx, account: { tenantId } }: Ctx, itemId: string): Part =>
  tx.part`(select x.container_id from item x where x.tenant_id = ${tenantId} and x.id = ${itemId})`

interface LockedRow extends Item {
  readonly is_in_done_bucket: boolean
  readonly now: string
  /** The version in the statement's snapshot. */
  readonly seen_version: number
  readonly deleted_at: string | null
  /** Whether labels, people and values may have changed since the statement's snapshot. */
  readonly is_old: boolean
}

/** What a change needs to know of the item `i`. */
const lockedColumns = (ctx: Ctx): Part => ctx.tx.part`
  ${representation(ctx)}, i.deleted_at,
  coalesce((select b.is_done_bucket from bucket b where b.tenant_id = i.tenant_id and b.id = i.bucket_id), false) as is_in_done_bucket`

/**
 * Locks the item and reads it. The row is the newest one, also if the lock was waited for; what belongs to it is of the
 * statement's snapshot. That is old if another change of the item committed since, or if the wait was long, because
 * labels and fields change without the item's lock.
 */
async function lockedRow(ctx: Ctx, itemId: string, where?: 'and in the trash'): Promise<LockedRow> {
  const { tenantId } = ctx.account
  const { tx } = ctx
  const isThere = where === undefined ? tx.part`i.deleted_at is null` : tx.part`i.purged_at is null`
  // The outer query runs when the row is locked, and so tells the wait.
  const [row] = await ctx.tx<LockedRow[]>`
    select l.*, now(), l.version <> l.seen_version or ${hasWaited(ctx.tx)} as is_old
    from (
      select ${lockedColumns(ctx)}, (select s.version from item s where s.tenant_id = i.tenant_id and s.id = i.id) as seen_version
      from item i where i.tenant_id = ${tenantId} and i.id = ${itemId} and ${isThere} for update) l`
  return row ?? refuse('not_found')
}

/** Raises the version for a change of one of the item's lists. */
export function touch({ tx, account: { tenantId } }: Ctx, itemId: string, list: 'labels' | 'values'): Promise<unknown> {
  const mayHave = list === 'labels' ? tx.part`without_labels = false` : tx.part`without_values = false`
  return tx`
    update item set ${mayHave}, updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${itemId}`
}

/** The members that a change gives another value. For members that are compared by value: no lists. */
export const changedMembers = (item: Item, members: Partial<Item>): string[] =>
  Object.entries(members)
    .filter(([name, value]) => item[name as keyof Item] !== value)
    .map(([name]) => name)

/** Events whose data is the item after a change, and what it was before. */
type ItemEvent = Exclude<
  Extract<EventName, `work.item.${string}`>,
  `work.item.attachment_${string}` | 'work.item.created' | 'work.item.purged'
>

/**
 * Writes the trail's entry and the event of a change, and answers the item after it: the locked one with the members that
 * the rule writes. It is not read again, so the change and its evidence leave with the commit.
 */
export async function recorded(
  ctx: Ctx,
  { item, now }: Pick<LockedItem, 'item' | 'now'>,
  members: Partial<Item>,
  event: ItemEvent,
  params: Readonly<Record<string, unknown>> = {},
): Promise<Item> {
  const after = { ...item, ...members, updated_at: now, version: item.version + 1 }
  await recordedAs(ctx, item, after, event, params)
  return after
}

/** The same for an item that was read again behind the change. */
export async function recordedAs(
  ctx: Ctx,
  before: Item,
  after: Item,
  event: ItemEvent,
  params: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await ctx.record(event, { ...after, previous: previousOf(before, after) }, params)
}

/**
 * The members that a change gave another value, as they were; `updated_at` and `version` always change. Nothing of an item that
 * left another container: whoever is told of the one need not see the other.
 */
function previousOf(before: Item, after: Item): Partial<Item> {
  if (before.container_id !== after.container_id) return {}
  const names = Object.keys(before) as (keyof Item)[]
  const changed = names.filter(
    (name) => name !== 'updated_at' && name !== 'version' && !isDeepStrictEqual(before[name], after[name]),
  )
  return Object.fromEntries(changed.map((name) => [name, before[name]]))
}
