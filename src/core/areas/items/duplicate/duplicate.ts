/**
 * A copy of an item, with what is below it.
 *
 * The original is locked, and the trees of both containers are held, so that the copy is of one moment. What the place of the
 * copy does not take (a label, a value, a person) is left out (fitting.ts). Copies carry the same files; no byte is copied.
 * Spec: items 1, N15; docs/decisions/0341.
 */
import type { Item } from '../../../contract/items/operations.ts'
import { type CopiedPart, copiedParts, type itemTreeOperations as ops } from '../../../contract/items/tree.ts'
import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { newId } from '../../../kernel/values/id.ts'
import { collectionFor } from '../creation.ts'
import { datesOf, undated } from '../dates.ts'
import { lockItem } from '../item.ts'
import { makeItems, type NewItem } from '../making.ts'
import { readEach } from '../tree/branch.ts'
import { findParent, placeUnder } from '../tree/parent.ts'
import { holdTreesBetween, settled, treeOf } from '../tree/reading.ts'
import { endsFor } from '../tree/returning.ts'
import { atRoot, below, branchOf, type TreePlace, type TreeRow } from '../tree/shape.ts'
import { attachEach, filesOf } from './files.ts'
import { fittingFor } from './fitting.ts'

/**
 * Refuses not_found, auth.role_required, container.archived, precondition.failed, request.invalid, item.tree_full,
 * structure.full, quota.exceeded.
 */
export async function duplicateItem(ctx: Ctx, { itemId, body }: Received<typeof ops.duplicateItem>): Promise<Item> {
  const has = (part: CopiedPart) => (body.include ?? copiedParts).includes(part)
  const [held, { item, now }, found] = await together(
    holdTreesBetween(ctx, itemId, body.container_id),
    lockItem(ctx, itemId, { takes: 'archived' }),
    treeOf(ctx, itemId),
  )
  const containerId = body.container_id ?? item.container_id
  const isElsewhere = containerId !== item.container_id
  if (isElsewhere) await collectionFor(ctx, containerId)
  const tree = await settled(ctx, item, held, found)
  const rows = has('CHILDREN') ? copied(tree, item) : []
  const place = isElsewhere ? atRoot : await placeBeside(ctx, item, rows)
  const originals = [item, ...(await readEach(ctx, rows))]

  const ids = new Map(originals.map(({ id }) => [id, newId()]))
  const idOf = (id: string) => ids.get(id) ?? id
  const fitting = await fittingFor(ctx, { from: item.container_id, to: containerId, originals, has })
  const bucketOf = (one: Item) => (isElsewhere ? fitting.bucketFor(null) : fitting.bucketFor(one.bucket_id))
  const first = body.bucket_id === undefined ? bucketOf(item) : body.bucket_id
  const standing = originals.map((one) => ({
    id: idOf(one.id),
    container_id: containerId,
    bucket_id: one === item || isElsewhere ? first : bucketOf(one),
  }))
  const rankOf = await endsFor(ctx, standing)

  const files = has('ATTACHMENTS') ? await filesOf(ctx, [...ids.keys()]) : []
  const wanted = originals.map(
    (one, at): NewItem => ({
      id: idOf(one.id),
      title: one === item ? (body.title ?? one.title) : one.title,
      type: one.type,
      description: one.description,
      bucket_id: standing[at]?.bucket_id ?? null,
      position: rankOf(idOf(one.id)),
      place: one === item ? place : placeBelow(one, idOf, place.root_id ?? idOf(itemId)),
      label_ids: fitting.labelsOf(one),
      values: fitting.valuesOf(one),
      people: fitting.peopleOf(one),
      cover: coverOf(one, files),
      ...(has('DATES') ? datesOf(one) : undated),
    }),
  )
  const [made] = await makeItems(ctx, containerId, wanted, now)
  await attachEach(
    ctx,
    containerId,
    files.map((file) => ({ ...file, item_id: idOf(file.item_id) })),
    now,
  )
  return made ?? refuse('not_found')
}

/** What is below the item and is copied with it: archived ones only where the item is archived itself. */
function copied(tree: readonly TreeRow[], item: Item): TreeRow[] {
  const isTaken = ({ is_archived }: TreeRow) => item.archived_at !== null || !is_archived
  return below(tree.filter(isTaken), item.id)
}

/** The last child of the same parent. Refuses item.tree_full. */
async function placeBeside(ctx: Ctx, item: Item, rows: readonly TreeRow[]): Promise<TreePlace> {
  if (item.parent_id === null) return atRoot
  const parent = await findParent(ctx, ctx.tx.part`${item.container_id}::uuid`, item.parent_id)
  if (!parent || parent.isArchived) return atRoot
  return placeUnder(parent, branchOf(item.id, rows))
}

/** A picture is the cover where the copy carries it. */
function coverOf({ id, cover }: Item, files: Awaited<ReturnType<typeof filesOf>>): Item['cover'] {
  if (cover === null || 'color_token' in cover) return cover
  return files.some(({ item_id, media_id }) => item_id === id && media_id === cover.media_id) ? cover : null
}

const placeBelow = (one: Item, idOf: (id: string) => string, rootId: string): TreePlace => ({
  parent_id: one.parent_id === null ? null : idOf(one.parent_id),
  root_id: rootId,
  sibling_position: one.sibling_position,
})
