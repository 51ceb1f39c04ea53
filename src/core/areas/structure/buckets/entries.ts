/**
 * The entries of a bucket that is deleted: counting them, and moving them to another bucket.
 *
 * They move in portions, so that a bucket of any size locks few rows for a short time. Each portion
 * is placed behind the entries that the other bucket has by then, in its old order. It gets new
 * ranks, because a rank is a place in one bucket. A moved entry gets a new version: its bucket
 * changed.
 *
 * Locks in the order that items take them: container, items, bucket, places (areas/items/position.ts).
 * Spec: Structure: buckets, rule 3; decision 0111.
 */
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { rankBetween } from '../../../kernel/values/rank.ts'
import { holdPlaces } from './places.ts'
import { recount } from './tally.ts'

/** Entries that move in one transaction: they are locked for some 50 ms. */
const portionSize = 1_000

/** Whether a bucket has more entries than a portion, deleted and archived ones included. Counts at most one more than a portion. */
export async function isMoreThanPortion(ctx: Ctx, bucketId: string): Promise<boolean> {
  const [row] = await ctx.tx<{ count: number }[]>`
    select count(*)::int as count from (
      select 1 from item where tenant_id = ${ctx.account.tenantId} and bucket_id = ${bucketId} limit ${portionSize + 1}) few`
  return (row?.count ?? 0) > portionSize
}

/** Locks the next portion of a bucket's entries, from the top; those without a place come last. */
export async function lockPortion(ctx: Ctx, containerId: string, bucketId: string): Promise<LockedEntry[]> {
  const { tenantId } = ctx.account
  const entries = await ctx.tx<LockedEntry[]>`
    select id, true as has_place from item
    where tenant_id = ${tenantId} and container_id = ${containerId} and bucket_id = ${bucketId}
      and deleted_at is null and archived_at is null
    order by rank limit ${portionSize} for update`
  if (entries.length === portionSize) return entries
  const others = await ctx.tx<LockedEntry[]>`
    select id, false as has_place from item
    where tenant_id = ${tenantId} and container_id = ${containerId} and bucket_id = ${bucketId}
      and (deleted_at is not null or archived_at is not null)
    order by id limit ${portionSize - entries.length} for update`
  return [...entries, ...others]
}

interface LockedEntry {
  readonly id: string
  /** Deleted and archived entries hold no place. */
  readonly has_place: boolean
}

/** Moves locked entries behind those of another bucket, or of no bucket (null). Answers how many had a place. */
export async function moveEntries(
  ctx: Ctx,
  containerId: string,
  entries: readonly LockedEntry[],
  { from, to: toBucketId }: { readonly from: string; readonly to: string | null },
): Promise<number> {
  const { tenantId } = ctx.account
  const { tx } = ctx
  const [others, alive] = [entries.filter(({ has_place }) => !has_place), entries.filter(({ has_place }) => has_place)]
  if (others.length > 0)
    // They get a place when they come back.
    await tx`
      update item set bucket_id = ${toBucketId}, updated_at = now(), version = version + 1
      where tenant_id = ${tenantId} and id in (select id from jsonb_to_recordset(${tx.json(others)}) as gone (id uuid))`
  if (alive.length === 0) return 0

  await holdPlaces(ctx, tx.part`${containerId}::uuid`, tx.part`${toBucketId}::uuid`)
  const ranks = ranksBehind(await lastRank(ctx, containerId, toBucketId), alive)
  await tx`
    update item i set bucket_id = ${toBucketId}, rank = placed.rank, updated_at = now(), version = i.version + 1
    from jsonb_to_recordset(${tx.json(ranks)}) as placed (id uuid, rank text)
    where i.tenant_id = ${tenantId} and i.id = placed.id`
  recount(ctx, { bucketId: from, by: -alive.length }, { bucketId: toBucketId, by: alive.length })
  return alive.length
}

async function lastRank(ctx: Ctx, containerId: string, bucketId: string | null): Promise<string | null> {
  const { tx } = ctx
  // Written as a value where it is one, and named by the order: otherwise the index serves neither.
  const inBucket = bucketId === null ? tx.part`bucket_id is null` : tx.part`bucket_id = ${bucketId}`
  const [last] = await tx<{ rank: string }[]>`
    select rank from item
    where tenant_id = ${ctx.account.tenantId} and container_id = ${containerId} and ${inBucket}
      and deleted_at is null and archived_at is null
    order by bucket_id desc, rank desc limit 1`
  return last?.rank ?? null
}

function ranksBehind(last: string | null, entries: readonly LockedEntry[]) {
  let rank = last
  return entries.map(({ id }) => {
    rank = rankBetween(rank, null)
    return { id, rank }
  })
}
