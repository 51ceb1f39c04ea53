/** The parent that an item gets. Spec: items 1, Tree. */
import { refuse, refuseMember } from '../../../contract/problem.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { treeOf } from './reading.ts'
import { type Branch, crowding, lastUnder, refuseCrowding, type TreePlace, type TreeRow } from './shape.ts'

interface Parent {
  readonly id: string
  readonly rootId: string
  readonly isArchived: boolean
  readonly tree: readonly TreeRow[]
}

/**
 * An item of the container that may become a parent; it is neither changed nor deleted until the commit. Undefined: there is
 * none. The trees of the container are held. `containerId`: a query for the id.
 */
export async function findParent(ctx: Ctx, containerId: Part, parentId: string): Promise<Parent | undefined> {
  const { tx } = ctx
  // Both are sent at once; the tree is read behind the lock.
  const locked = tx<{ root_id: string | null; is_archived: boolean }[]>`
    select p.root_id, p.archived_at is not null as is_archived from item p
    where p.tenant_id = ${ctx.account.tenantId} and p.id = ${parentId} and p.container_id = ${containerId} and p.deleted_at is null
    for key share`
  const [[row], tree] = await Promise.all([locked, treeOf(ctx, parentId)])
  return row && { id: parentId, rootId: row.root_id ?? parentId, isArchived: row.is_archived, tree }
}

/**
 * The place of a branch as the last child of a parent that a body names. `itemId`: the branch's, if it is there already.
 * Refuses request.invalid at /parent_id, item.archived, item.circular, item.tree_full.
 */
export function placeUnder(parent: Parent | undefined, branch: Branch, itemId?: string): TreePlace {
  if (!parent) refuseMember('/parent_id', 'reference.unknown')
  if (parent.isArchived)
    refuse('item.archived', undefined, { errors: [{ pointer: '/parent_id', code: 'item.archived', params: {} }] })
  const parents = new Map(parent.tree.map(({ id, parent_id }) => [id, parent_id]))
  for (let at: string | null | undefined = parent.id; at; at = parents.get(at))
    if (at === itemId) refuse('item.circular')
  const isInTree = itemId !== undefined && parents.has(itemId)
  refuseCrowding(crowding(parent.tree, parent.id, branch, isInTree))
  return lastUnder(parent.tree, parent.id, parent.rootId)
}
