/** An item in the trash, with what was deleted with it, as far as that is below it. Spec: items 1, Tree; docs/decisions/0340. */
import type { Item } from '../../../contract/items/operations.ts'
import type { Role } from '../../../contract/vocabulary.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { lockInTrash, type TrashedItem } from '../item.ts'
import { lockEach } from '../tree/branch.ts'
import { holdTreesOf } from '../tree/reading.ts'
import { below, type TreeRow } from '../tree/shape.ts'

interface TrashedBranch {
  readonly top: TrashedItem
  readonly below: readonly Item[]
}

/** Refuses as `lockInTrash` does. */
export async function lockTrashedBranch(ctx: Ctx, itemId: string, role: Role): Promise<TrashedBranch> {
  const [, top, rows] = await together(
    holdTreesOf(ctx, itemId),
    lockInTrash(ctx, itemId, role),
    deletedWith(ctx, itemId),
  )
  return { top, below: top.deletedAt === null ? [] : await lockEach(ctx, below(rows, itemId)) }
}

/** All that went to the trash with the item, or with the one with which it went. */
function deletedWith({ tx, account: { tenantId } }: Ctx, itemId: string) {
  return tx<Pick<TreeRow, 'id' | 'parent_id' | 'sibling_rank'>[]>`
    select i.id, i.parent_id, i.sibling_rank from item i
    where i.tenant_id = ${tenantId} and i.purged_at is null and i.deleted_with = (
      select coalesce(x.deleted_with, x.id) from item x where x.tenant_id = ${tenantId} and x.id = ${itemId})`
}

interface Row {
  readonly id: string
  readonly container_id: string
}

/**
 * Rows of the trash with all that was deleted with each, locked: as many whole trees as make up a portion, at least one.
 * `roots`: rows that the trash lists, locked. `taken` says how many of them.
 */
export async function wholeTrees(
  tx: Tx,
  tenantId: string,
  roots: readonly Row[],
  portion: number,
): Promise<{ readonly taken: number; readonly items: readonly Row[] }> {
  if (roots.length === 0) return { taken: 0, items: [] }
  const sizes = await tx<{ root: string | null; size: number }[]>`
    select deleted_with as root, count(*)::int as size from item
    where tenant_id = ${tenantId} and deleted_with in ${tx.list(roots.map(({ id }) => id))} and purged_at is null
    group by deleted_with`
  const sizeOf = new Map<string | null, number>(sizes.map(({ root, size }) => [root, size]))
  let rows = 0
  const next = roots.findIndex(({ id }, at) => {
    rows += 1 + (sizeOf.get(id) ?? 0)
    return at > 0 && rows > portion
  })
  const chosen = next < 0 ? roots : roots.slice(0, next)
  const trees = chosen.filter(({ id }) => sizeOf.has(id))
  if (trees.length === 0) return { taken: chosen.length, items: chosen }
  const others = await tx<Row[]>`
    select id, container_id from item
    where tenant_id = ${tenantId} and deleted_with in ${tx.list(trees.map(({ id }) => id))} and purged_at is null
    order by id for update`
  return { taken: chosen.length, items: [...chosen, ...others] }
}
