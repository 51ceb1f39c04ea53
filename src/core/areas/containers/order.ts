/**
 * The order of siblings: the place of a container among those of its hub, or of a hub among the hubs.
 *
 * A transaction that assigns a rank holds the siblings' lock, so that two at once do not assign the same one. Only the
 * row that moves is written. Deleted siblings, and those that the caller does not see, keep their ranks and are
 * skipped, so a restored one is back in its place. Spec: `:reorder`; decision 0100.
 */

import { refuseMember } from '../../contract/problem.ts'
import { lockClasses } from '../../kernel/database/lock-classes.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { rankBetween } from '../../kernel/values/rank.ts'
import { isSeen } from '../access/access.ts'

interface Place {
  readonly parentId: string | null
  /** Absent or null: the end. */
  readonly before: string | null | undefined
  /** The container that moves, which does not count as a neighbour; absent for a new one. */
  readonly moving?: string
}

/** The rank of a place. Refuses request.invalid at /before_container_id, order.exhausted. */
export async function rankAt(ctx: Ctx, place: Place): Promise<string> {
  const { parentId, before, moving } = place
  const { tenantId } = ctx.account
  const { tx } = ctx
  if (before && before === moving) refuseMember('/before_container_id', 'reference.itself')
  void tx`select pg_advisory_xact_lock(${lockClasses.siblings}, hashtext(${tenantId + (parentId ?? '')}))`
  const others = tx.part`
    from container c where c.tenant_id = ${tenantId} and ${siblingsOf(ctx, parentId)} and c.id <> ${moving ?? tenantId}`
  const [gap] = before
    ? await tx<Gap[]>`
        select n.rank as right, (select c.rank ${others} and c.rank < n.rank order by c.rank desc limit 1) as left
        from (${neighbour(ctx, parentId, before)}) n`
    : await tx<Gap[]>`select null as right, (select c.rank ${others} order by c.rank desc limit 1) as left`
  if (!gap) refuseMember('/before_container_id', 'reference.unknown')
  return rankBetween(gap.left, gap.right)
}

/** A place, by its neighbours; null is the open end. */
interface Gap {
  readonly left: string | null
  readonly right: string | null
}

/** The container that the caller sees among the siblings. */
const neighbour = (ctx: Ctx, parentId: string | null, before: string): Part => ctx.tx.part`
  select c.rank from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
  where c.tenant_id = ${ctx.account.tenantId} and c.id = ${before} and ${siblingsOf(ctx, parentId)}
    and c.deleted_at is null and ${isSeen(ctx)}`

/** Whether a container is already at the requested place. */
export async function isInPlace(
  ctx: Ctx,
  { id, parent_id, rank }: { readonly id: string; readonly parent_id: string | null; readonly rank: string },
  before: string | null | undefined,
): Promise<boolean> {
  const { tenantId } = ctx.account
  const [next] = await ctx.tx<{ id: string }[]>`
    select c.id from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
    where c.tenant_id = ${tenantId} and ${siblingsOf(ctx, parent_id)} and c.id <> ${id}
      and c.rank > ${rank} and c.deleted_at is null and ${isSeen(ctx)}
    order by c.rank limit 1`
  return (next?.id ?? null) === (before ?? null)
}

/**
 * 0..n-1 among the siblings that the caller sees, by a statement that `ask` sends; for a deleted container, the place to
 * which it would be restored.
 */
export async function positionOf(ctx: Ctx, containerId: string, ask: Tx['last'] = ctx.tx): Promise<number> {
  const { tenantId } = ctx.account
  // Two queries, because an index finds no row by `is not distinct from`.
  const before = (siblings: Part) => ctx.tx.part`(
    select count(*)::int from container c
    left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
    where c.tenant_id = ${tenantId} and ${siblings} and c.rank < o.rank and c.deleted_at is null and ${isSeen(ctx)})`
  const [row] = await ask<{ position: number }[]>`
    select case when o.parent_id is null then ${before(siblingsOf(ctx, null))}
                else ${before(ctx.tx.part`c.parent_id = o.parent_id`)} end as position
    from container o where o.tenant_id = ${tenantId} and o.id = ${containerId}`
  return row?.position ?? 0
}

const siblingsOf = ({ tx }: Ctx, parentId: string | null) =>
  parentId === null ? tx.part`c.parent_id is null` : tx.part`c.parent_id = ${parentId}`
