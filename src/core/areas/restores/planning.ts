/**
 * The plan of a rewind: counts alone, of what would come back, change back and go away. It changes nothing but staging.
 *
 *    archive ──▶ staging ──erasures repeated──▶ people who left are left out ──▶ the difference is counted
 *
 * Spec: Keeping, 3, N19.
 */
import type { RestorePlan } from '../../contract/backup/restores.ts'
import { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { hasRole } from '../access/held-role.ts'
import { stagedRows } from '../backup/loading/staging.ts'
import type { Erased } from '../erasure/reading.ts'
import { ceilingIn } from '../settings/quotas.ts'
import { type ContentTable, contentOf, contentTables } from './content.ts'
import { computeDifference, countDifference, longSeconds, sumOf, total } from './difference.ts'
import { erasedOf, eraseStaged } from './erasures.ts'
import { noteHeld } from './held.ts'
import { type LaidOut, type Laying, layOut } from './laying-out.ts'
import { type RestoreWork, step } from './work.ts'

/** What a rewind takes of an archive. */
export const ofContent: Laying = { tables: contentOf, compared: contentTables }

export type PlanFacts = Omit<RestorePlan, 'hash'>

/** Refuses archive.invalid, archive.path_refused, backup.target_failed. */
export async function planRewind(work: RestoreWork): Promise<PlanFacts> {
  const laid = await layOut(work, ofContent)
  const tables = contentTables(laid.shape, laid.staged)
  const { dropped } = await step(work, (ctx) => clean(ctx, work, laid))
  return step(work, (ctx) => plan(ctx, work, tables, dropped))
}

type Dropped = PlanFacts['dropped']

interface Cleaned {
  readonly dropped: Dropped
  readonly erased: readonly Erased[]
}

/** Leaves out of staging what must not come back; again, it finds nothing. */
export async function clean(ctx: Ctx, work: RestoreWork, { staged }: LaidOut): Promise<Cleaned> {
  const { tx } = ctx
  const { tenantId, restoreId } = work
  await tx.patience(longSeconds)
  const erased = await erasedOf(ctx, work)
  await eraseStaged(ctx, work, staged, erased)
  const has = (table: string) => (staged[table] ?? []).length > 0
  const rows = (table: string) => new Part([stagedRows(restoreId, table)], [], false)
  const isGone = (column: string) => tx.part`not exists (
    select from account a where a.tenant_id = ${tenantId} and a.id = s.${new Part([`"${column}"`], [], false)} and ${hasRole(tx)})`
  const dropped: Dropped = []
  const note = (what: string, count: number, why: string) => {
    if (count > 0) dropped.push({ what, count, why })
  }
  if (has('item_member')) {
    const { count } = await tx`
      delete from ${rows('item_member')} s where s.tenant_id = ${tenantId} and ${isGone('account_id')}`
    note('item_members', count, 'account.left')
  }
  if (has('item')) {
    const { count } = await tx`
      update ${rows('item')} s set assignee_id = null
      where s.tenant_id = ${tenantId} and s.assignee_id is not null and ${isGone('assignee_id')}`
    note('assignees', count, 'account.left')
  }
  if (has('membership')) {
    const { count } = await tx`
      delete from ${rows('membership')} s where s.tenant_id = ${tenantId} and s.container_id is not null and (
        s.account_id is not null and ${isGone('account_id')}
        or s.group_id is not null and not exists (
          select from account_group g where g.tenant_id = ${tenantId} and g.id = s.group_id))`
    note('memberships', count, 'account.left')
  }
  for (const table of ['comment_mention', 'comment_reaction'])
    if (has(table))
      await tx`
        delete from ${rows(table)} s where s.tenant_id = ${tenantId} and not exists (
          select from account a where a.tenant_id = ${tenantId} and a.id = s.account_id)`
  note('media', has('media') ? await leaveUnfinished(ctx, work, has('media_reference')) : 0, 'media.unfinished')
  return { dropped, erased }
}

/** Files that were not whole when the backup was made, and that are not there now: their bytes are nowhere. */
async function leaveUnfinished(
  { tx }: Ctx,
  { tenantId, restoreId }: RestoreWork,
  hasReferences: boolean,
): Promise<number> {
  const media = new Part([stagedRows(restoreId, 'media')], [], false)
  const references = new Part([stagedRows(restoreId, 'media_reference')], [], false)
  const isUnfinished = tx.part`s.tenant_id = ${tenantId} and s.state in ('UPLOADING', 'SCANNING') and not exists (
    select from media m where m.tenant_id = ${tenantId} and m.id = s.id)`
  if (hasReferences)
    await tx`
      delete from ${references} r where r.tenant_id = ${tenantId} and r.media_id in (select s.id from ${media} s where ${isUnfinished})`
  const { count } = await tx`delete from ${media} s where ${isUnfinished}`
  return count
}

async function plan(
  ctx: Ctx,
  work: RestoreWork,
  tables: readonly ContentTable[],
  dropped: Dropped,
): Promise<PlanFacts> {
  const { tx } = ctx
  const { tenantId, row } = work
  await noteHeld(ctx, work)
  await computeDifference(ctx, work, tables)
  const byEntity = await countDifference(ctx, work, tables)
  const [counts] = await tx<{ people: number; holds: number; restrictions: number }[]>`
    select (select count(*)::int from account a where a.tenant_id = ${tenantId} and a.state = 'ACTIVE' and ${hasRole(tx)}) as people,
           (select count(*)::int from legal_hold h where h.tenant_id = ${tenantId} and h.released_at is null) as holds,
           (select count(*)::int from account_restriction r where r.tenant_id = ${tenantId}) as restrictions`
  return {
    snapshot_at: row.snapshot_at,
    by_entity: byEntity,
    kept: {
      holds: counts?.holds ?? 0,
      erasures_repeated: (await erasedOf(ctx, work)).length,
      restrictions: counts?.restrictions ?? 0,
    },
    dropped,
    over_quota: await overQuota(ctx, work, tables),
    people: counts?.people ?? 0,
    closed_seconds: closedSeconds(total(sumOf(byEntity)), await countStaged(ctx, work, tables)),
  }
}

/** As measured: the comparison of a million rows takes some two seconds, and writing 10,000 one. */
const closedSeconds = (changes: number, rows: number) => Math.ceil(1 + changes / 10_000 + rows / 500_000)

async function countStaged(
  { tx }: Ctx,
  { tenantId, restoreId }: RestoreWork,
  tables: readonly ContentTable[],
): Promise<number> {
  const counts = await Promise.all(
    tables.map(async ({ table }) => {
      const [row] = await tx.text<{ count: number }[]>(
        `select count(*)::int as count from ${stagedRows(restoreId, table)} where tenant_id = $1`,
        [tenantId],
      )
      return row?.count ?? 0
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** A rewind is refused by no ceiling: what is above one only keeps new ones out. */
async function overQuota(
  ctx: Ctx,
  { tenantId, restoreId }: RestoreWork,
  tables: readonly ContentTable[],
): Promise<string[]> {
  const { tx } = ctx
  const isStaged = (name: string) => tables.some(({ table, columns }) => table === name && columns.length > 0)
  const over: string[] = []
  const [ceilings] = await tx<{ items: number | bigint; bytes: number | bigint }[]>`
    select ${ceilingIn(ctx, tenantId, 'items')} as items, ${ceilingIn(ctx, tenantId, 'media_bytes')} as bytes`
  const would = async (table: string, what: string) => {
    if (!isStaged(table)) return 0n
    const [row] = await tx.text<{ sum: number | bigint }[]>(
      `select coalesce(${what}, 0)::int8 as sum from ${stagedRows(restoreId, table)} s where s.tenant_id = $1`,
      [tenantId],
    )
    return BigInt(row?.sum ?? 0)
  }
  const items = BigInt(ceilings?.items ?? 0)
  const bytes = BigInt(ceilings?.bytes ?? 0)
  if (items > 0n && (await would('item', 'count(*) filter (where s.deleted_at is null)')) > items) over.push('items')
  if (bytes > 0n && (await would('media', `sum(s.size_bytes) filter (where s.state <> 'REFUSED')`)) > bytes)
    over.push('media_bytes')
  return over
}
