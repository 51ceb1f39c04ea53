/**
 * The shape of a tree of items, and its bounds.
 *
 *    root, level 1 ── child, level 2 ── … ── level 5      at most 100 children of one parent, 500 items
 *
 * All of a tree is read at once, by the root that each row names, so nothing here asks the database. Archived items are a
 * part of it, deleted ones are not. Spec: items 1 and 12, Tree; docs/decisions/0340.
 */
import { refuse } from '../../../contract/problem.ts'
import { rankBehind } from '../../../kernel/values/rank.ts'

export interface TreeRow {
  readonly id: string
  readonly parent_id: string | null
  readonly sibling_rank: string | null
  readonly is_archived: boolean
  /** The item with which it was archived; null: itself, or it is not. */
  readonly archived_with: string | null
}

/** The place of an item in a tree; all null: it is a root. */
export interface TreePlace {
  readonly parent_id: string | null
  readonly root_id: string | null
  readonly sibling_position: string | null
}
export const atRoot: TreePlace = { parent_id: null, root_id: null, sibling_position: null }

export const treeBounds = { LEVELS: 5, CHILDREN: 100, ITEMS: 500 } as const

/** What is below an item, parents before their children, children in their order. */
export function below<Row extends Pick<TreeRow, 'id' | 'parent_id' | 'sibling_rank'>>(
  tree: readonly Row[],
  itemId: string,
): Row[] {
  const children = Map.groupBy(tree, ({ parent_id }) => parent_id)
  const found: Row[] = []
  // Deleted rows may form no tree; each is taken once.
  const seen = new Set([itemId])
  const take = (parentId: string) => {
    for (const row of [...(children.get(parentId) ?? [])].sort(bySiblings)) {
      if (seen.has(row.id)) continue
      seen.add(row.id)
      found.push(row)
      take(row.id)
    }
  }
  take(itemId)
  return found
}

const bySiblings = (one: Pick<TreeRow, 'id' | 'sibling_rank'>, other: Pick<TreeRow, 'id' | 'sibling_rank'>) =>
  `${one.sibling_rank} ${one.id}` < `${other.sibling_rank} ${other.id}` ? -1 : 1

/** An item that gets a parent, with what is below it. */
export interface Branch {
  readonly size: number
  readonly levels: number
}
export const single: Branch = { size: 1, levels: 1 }

export function branchOf(itemId: string, rows: readonly Pick<TreeRow, 'id' | 'parent_id'>[]): Branch {
  const levels = new Map([[itemId, 1]])
  for (const { id, parent_id } of rows) levels.set(id, (levels.get(parent_id ?? '') ?? 0) + 1)
  return { size: rows.length + 1, levels: Math.max(...levels.values()) }
}

export interface Crowding {
  readonly bound: keyof typeof treeBounds
  readonly limit: number
}

/** The bound that a tree would break with a branch under this parent. A branch that is in the tree already adds no items. */
export function crowding(
  tree: readonly TreeRow[],
  parentId: string,
  branch: Branch,
  isInTree = false,
): Crowding | undefined {
  const parents = new Map(tree.map(({ id, parent_id }) => [id, parent_id]))
  let level = 0
  for (let at: string | null | undefined = parentId; at && level <= treeBounds.LEVELS; at = parents.get(at)) level += 1
  const children = tree.filter(({ parent_id }) => parent_id === parentId).length
  const size = tree.length + (isInTree ? 0 : branch.size)
  const broken = (
    [
      ['LEVELS', level + branch.levels],
      ['CHILDREN', children + 1],
      ['ITEMS', size],
    ] as const
  ).find(([bound, count]) => count > treeBounds[bound])
  return broken && { bound: broken[0], limit: treeBounds[broken[0]] }
}

/** Refuses item.tree_full. */
export function refuseCrowding(met: Crowding | undefined): void {
  if (met) refuse('item.tree_full', { ...met })
}

/** The place behind the last child of a parent. */
export function lastUnder(tree: readonly TreeRow[], parentId: string, rootId: string): TreePlace {
  const ranks = tree.flatMap(({ parent_id, sibling_rank }) =>
    parent_id === parentId && sibling_rank ? sibling_rank : [],
  )
  const last = ranks.reduce<string | null>(
    (greatest, one) => (greatest === null || one > greatest ? one : greatest),
    null,
  )
  return { parent_id: parentId, root_id: rootId, sibling_position: rankBehind(last) }
}
