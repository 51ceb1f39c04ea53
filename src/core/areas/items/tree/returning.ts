/** How items come back to a board, from the trash or the archive. Spec: items 1; docs/decisions/0340. */
import type { Item } from '../../../contract/items/operations.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { rankBehind } from '../../../kernel/values/rank.ts'
import { placeAt } from '../position.ts'

type Placed = Pick<Item, 'id' | 'container_id' | 'bucket_id'>

/**
 * Ranks at the ends of the items' buckets, in the order of the items, which are of one container and hold no places now. The
 * buckets do not change until the commit. The answer gives each of these items its rank. Refuses request.invalid.
 */
export async function endsFor(ctx: Ctx, items: readonly Placed[]): Promise<(itemId: string) => string> {
  const [first] = items
  if (!first) return noRank
  const container = ctx.tx.part`${first.container_id}::uuid`
  const buckets = [...Map.groupBy(items, ({ bucket_id }) => bucket_id)].sort(byId)
  const ends = await together(...buckets.map(([bucketId]) => placeAt(ctx, container, { bucketId, moving: first.id })))
  const ranks = new Map(
    buckets.flatMap(([, some], at) => {
      let rank = ends[at]?.rank ?? ''
      return some.map(({ id }, n) => {
        if (n > 0) rank = rankBehind(rank)
        return [id, rank] as const
      })
    }),
  )
  return (itemId) => ranks.get(itemId) ?? noRank(itemId)
}

function noRank(itemId: string): never {
  throw new Error(`item ${itemId} was given no place`)
}

const byId = ([one]: readonly [string | null, unknown], [other]: readonly [string | null, unknown]) =>
  (one ?? '') < (other ?? '') ? -1 : 1

/** Makes an item a root, and the root of all that is below it. Sent and not awaited. */
export function leaveParent(ctx: Ctx, itemId: string, all: readonly Pick<Item, 'id'>[]): void {
  const { tenantId } = ctx.account
  void ctx.tx`
    update item set parent_id = null, root_id = null, sibling_rank = null where tenant_id = ${tenantId} and id = ${itemId}`
  takeRoot(ctx, itemId, all)
}

/** Notes the root of what is below an item that has another one now. Not a change of these items: no answer shows it. */
export function takeRoot({ tx, account: { tenantId } }: Ctx, rootId: string, rows: readonly Pick<Item, 'id'>[]): void {
  if (rows.length > 0)
    void tx`update item set root_id = ${rootId} where tenant_id = ${tenantId} and id in ${tx.list(rows.map(({ id }) => id))}`
}
