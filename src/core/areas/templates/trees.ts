/** The trees of a content: which item is a part of which, by their places. Spec: items 7; items 1, Tree; docs/decisions/0363. */
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { TemplateItem } from '../../contract/templates/content.ts'
import { rankBehind } from '../../kernel/values/rank.ts'
import { atRoot, type Branch, refuseCrowding, type TreePlace, treeBounds } from '../items/tree/shape.ts'

type Places = readonly Pick<TemplateItem, 'parent'>[]

/** Refuses request.invalid, item.circular, item.tree_full. `pointer`: of the items. */
export function checkTrees(items: Places, pointer: string): void {
  const children = new Map<number, number>()
  for (const [at, { parent }] of items.entries()) {
    if (parent == null) continue
    if (parent >= items.length) refuseMember(`${pointer}/${at}/parent`, 'reference.unknown')
    children.set(parent, (children.get(parent) ?? 0) + 1)
  }
  for (const at of items.keys()) lineOf(items, at)
  const { CHILDREN: limit } = treeBounds
  if (Math.max(0, ...children.values()) > limit) refuseCrowding({ bound: 'CHILDREN', limit })
}

/** The first item, with all the others below it. */
export const branchOf = (items: Places): Branch => ({
  size: items.length,
  levels: Math.max(...items.map((_, at) => lineOf(items, at).length)),
})

/** Where the items are in their trees; `ids`: what they get. `top`: where a root goes. */
export function placesOf(items: Places, ids: readonly string[], top: TreePlace = atRoot): TreePlace[] {
  const last = new Map<number, string>()
  return items.map(({ parent }, at) => {
    if (parent == null) return top
    const sibling_position = rankBehind(last.get(parent) ?? null)
    last.set(parent, sibling_position)
    const root = lineOf(items, at).at(-1) ?? at
    return { parent_id: ids[parent] ?? null, root_id: top.root_id ?? ids[root] ?? null, sibling_position }
  })
}

/** The places from an item up to its root. Refuses item.circular; item.tree_full for more levels than a tree has. */
function lineOf(items: Places, at: number): number[] {
  const line: number[] = []
  for (let up: number | null | undefined = at; up != null; up = items[up]?.parent) {
    if (line.includes(up)) refuse('item.circular')
    line.push(up)
    if (line.length > treeBounds.LEVELS) refuseCrowding({ bound: 'LEVELS', limit: treeBounds.LEVELS })
  }
  return line
}
