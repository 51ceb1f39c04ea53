/**
 * Counts the rows of a workspace. The installation's role has no right to read content, so the
 * transaction takes the workspace's role for statements that answer only numbers.
 *
 *    the standby has replayed what was committed ──▶ count there
 *                                          └─ has not, is none ─▶ count on the primary
 *
 * tables.ts lists what is counted. Each statement reads each table once (about one second for a
 * million rows), within a time limit. Spec: ours; decisions 0104, 0325.
 */

import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { statisticsOperations as ops, TenantStatistics } from '../../contract/statistics/operations.ts'
import { workspaceTables } from '../../contract/tables.ts'
import { readPosition } from '../../kernel/database/snapshots.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation, RunAsRule } from '../../kernel/transaction/installation.ts'
import { together } from '../../kernel/transaction/together.ts'
import type { Actor } from '../../kernel/values/actor.ts'

/** Whole days of UTC, including today. */
const days = 30

interface Counted {
  readonly table: string
  readonly entity: string
  /** The column with the moment when a row was created. */
  readonly since: string | undefined
}

/** The counted tables: those that an export contains. */
const counted: readonly Counted[] = Object.entries(workspaceTables).flatMap(([table, { export: entity, since }]) =>
  typeof entity === 'string' ? [{ table, entity, since }] : [],
)

export interface Counts {
  readonly counted_at: string
  readonly sizes: ReadonlyMap<string, SizeRow>
  readonly growth: ReadonlyMap<string, number[]>
}

type Asked = Received<typeof ops.getTenantStatistics>

/** Counts on the standby, where one serves what was committed before. */
export function countAside(
  installation: Installation,
  _actor: Actor,
  { tenantId }: Asked,
  run: RunAsRule,
): Promise<Counts | undefined> {
  return installation.readAside(
    tenantId,
    () => run(({ tx }) => readPosition(tx)),
    (tx) => count(tx, tenantId),
  )
}

/** Refuses not_found. */
export async function getTenantStatistics(
  ctx: Ctx,
  { tenantId }: Asked,
  aside: Counts | undefined,
): Promise<TenantStatistics> {
  const found = await ctx.tx`select 1 from tenant where id = ${tenantId}`
  if (found.length === 0) refuse('not_found')
  const { counted_at, sizes, growth } = aside ?? (await ctx.inWorkspace(tenantId, () => count(ctx.tx, tenantId)))
  return {
    tenant_id: tenantId,
    counted_at,
    days,
    entities: counted.map(({ table, entity, since }) => ({
      entity,
      rows: sizes.get(table)?.rows ?? 0,
      bytes: sizes.get(table)?.bytes ?? 0,
      new_per_day: since === undefined ? null : (growth.get(table) ?? none()),
    })),
  }
}

async function count(tx: Tx, tenantId: string): Promise<Counts> {
  const moment = tx<{ counted_at: string }[]>`select now() as counted_at`
  const [[now], sizes, growth] = await together(moment, readSizes(tx, tenantId), readGrowth(tx, tenantId))
  return { counted_at: now?.counted_at ?? '', sizes, growth }
}

const none = () => Array.from({ length: days }, () => 0)

interface SizeRow {
  readonly name: string
  readonly rows: number | bigint
  readonly bytes: number | bigint
}

/** The table names are constants of tables.ts, so they can be part of the SQL text. */
async function readSizes(tx: Tx, tenantId: string): Promise<ReadonlyMap<string, SizeRow>> {
  const each = counted.map(
    ({ table }) =>
      `select '${table}' as name, count(*) as rows, coalesce(sum(pg_column_size(t.*)), 0)::bigint as bytes from "${table}" t where tenant_id = $1`,
  )
  const rows = await tx.text<SizeRow[]>(each.join(' union all '), [tenantId])
  return new Map(rows.map((row) => [row.name, row]))
}

async function readGrowth(tx: Tx, tenantId: string): Promise<ReadonlyMap<string, number[]>> {
  const today = "date_trunc('day', now(), 'UTC')"
  const each = counted.flatMap(({ table, since }) =>
    since === undefined
      ? []
      : [
          `select '${table}' as name, (extract(epoch from ${today} - date_trunc('day', "${since}", 'UTC')) / 86400)::int as days_ago, count(*)::int as rows
           from "${table}" where tenant_id = $1 and "${since}" >= ${today} - interval '${days - 1} days' group by 2`,
        ],
  )
  const rows = await tx.text<{ name: string; days_ago: number; rows: number }[]>(each.join(' union all '), [tenantId])
  const growth = new Map<string, number[]>()
  for (const { name, days_ago, rows: count } of rows) {
    const perDay = growth.get(name) ?? none()
    // A clock that fell back leaves rows with a future day; they count for today.
    const at = days - 1 - Math.max(0, days_ago)
    perDay[at] = (perDay[at] ?? 0) + count
    growth.set(name, perDay)
  }
  return growth
}
