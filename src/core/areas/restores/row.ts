/**
 * The row of a restore.
 *
 *    PLANNING ──▶ PLANNED ──:apply──▶ APPLYING ──▶ DONE ──:undo──▶ UNDOING ──▶ UNDONE
 *        │           │                    └─ killed: forward again; it cannot be done: back, and FAILED
 *        └─▶ FAILED  └─ 24 h, or another one: CANCELLED
 *
 * There is one of a workspace that has not ended (the index restore_underway). What the hash of a plan binds is compared again under
 * the row's lock: the archive, the workspace, the holds in force, the accounts that were erased. The hash also changes with time:
 * that of this quarter of an hour counts, and the one before. Spec: Keeping, 1 (Plans) and 3.
 */
import type { Restore, RestoreMode, RestorePlan, RestoreState } from '../../contract/backup/restores.ts'
import { refuse } from '../../contract/problem.ts'
import type { Part } from '../../kernel/database/statement.ts'
import { hashOfPlan } from '../../kernel/request/plan.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { actsForInstallation } from '../../kernel/values/actor.ts'
import { timeNow } from '../../kernel/values/time.ts'
import type { KeptErased, LedgerFacts } from './erasures.ts'

export interface NewTenantFacts {
  readonly slug: string
  readonly display_name: string
  readonly owner_email: string
}

export interface RestoreRow extends Omit<Restore, 'into' | 'source' | 'tenant' | 'plan'> {
  readonly tenant_id: string
  readonly mode: RestoreMode
  readonly slug: string | null
  readonly backup_id: string | null
  readonly target_id: string
  readonly path: string
  readonly source_tenant_id: string
  readonly source_slug: string
  readonly snapshot_at: string
  readonly origin: 'OWN' | 'FOREIGN'
  readonly product_version: string
  readonly archive_sha256: string
  readonly new_tenant: NewTenantFacts | null
  readonly plan: Omit<RestorePlan, 'hash'> | null
  readonly edited_since: 'KEEP' | 'REPLACE' | null
  /** The erasures that were listed at the target when it was planned. */
  readonly erased: readonly KeptErased[]
  /** The legal holds in force in the workspace. */
  readonly holds: readonly string[]
}

/** The columns of a row, of `restore r`. */
export const restoreColumns = ({ tx }: Pick<Ctx, 'tx'>): Part => tx.part`
  r.tenant_id, r.id, r.mode, r.state, r.job_id, r.backup_id, r.target_id, r.path, r.source_tenant_id, r.source_slug, r.snapshot_at,
  r.origin, r.product_version, r.archive_sha256, r.new_tenant, r.plan, r.result, r.failure, r.undo_until, r.edited_since, r.erased, r.created_by,
  r.created_at, r.version, (select t.slug from tenant t where t.id = r.tenant_id) as slug,
  (select coalesce(json_agg(h.id order by h.id), '[]') from legal_hold h
   where h.tenant_id = r.tenant_id and h.released_at is null) as holds`

/** The restores that the caller may name. */
export const isVisible = (ctx: Ctx): Part =>
  actsForInstallation(ctx.actor)
    ? ctx.tx.part`true`
    : ctx.tx.part`r.tenant_id = ${ctx.account.tenantId} and r.mode = 'REPLACE'`

export function restoreOf(row: RestoreRow, facts: LedgerFacts): Restore {
  const { mode, tenant_id, slug, backup_id, target_id, path, snapshot_at, origin, product_version, plan } = row
  const kept = plan && { ...plan.kept, holds: row.holds.length }
  return {
    id: row.id,
    into: mode,
    source: { backup_id, target_id, path, snapshot_at, origin, product_version },
    tenant: slug === null ? null : { id: tenant_id, slug },
    job_id: row.job_id,
    state: row.state,
    plan: plan && kept && { ...plan, kept, hash: hashOf(row, facts, currentQuarter()) },
    result: row.result,
    failure: row.failure,
    undo_until: row.undo_until,
    created_by: row.created_by,
    created_at: row.created_at,
    version: row.version,
  }
}

const quarterMs = 15 * 60 * 1000
const currentQuarter = () => Math.floor(timeNow() / quarterMs)

const hashOf = (row: RestoreRow, facts: LedgerFacts, quarter: number): string =>
  hashOfPlan([
    ...[row.id, row.mode, row.tenant_id, row.path, row.archive_sha256],
    ...[row.holds, facts.erased(row.source_tenant_id).map(({ accountId }) => accountId), quarter],
  ])

/** Compares the plan that was shown with the one that holds now. Refuses plan.stale. */
export function demandHash(row: RestoreRow, facts: LedgerFacts, shown: string): void {
  const quarter = currentQuarter()
  const hash = hashOf(row, facts, quarter)
  if (shown !== hash && shown !== hashOf(row, facts, quarter - 1)) refuse('plan.stale', { hash })
}

/** Locks the row. Refuses not_found. */
export async function lockRestore(ctx: Ctx, restoreId: string): Promise<RestoreRow> {
  const { tx } = ctx
  void tx`select from restore r where ${isVisible(ctx)} and r.id = ${restoreId} for update`
  return (await findRestore(ctx, restoreId)) ?? refuse('not_found')
}

/** One that the caller may name. */
export async function findRestore(ctx: Ctx, restoreId: string): Promise<RestoreRow | undefined> {
  const [row] = await ctx.tx<RestoreRow[]>`
    select ${restoreColumns(ctx)} from restore r where ${isVisible(ctx)} and r.id = ${restoreId}`
  return row
}

/** Refuses restore.state. */
export function demandState(state: RestoreState, ...states: readonly RestoreState[]): void {
  if (!states.includes(state)) refuse('restore.state', { state })
}

/** The row, for a job. */
export async function readRestore({ tx }: Ctx, tenantId: string, restoreId: string): Promise<RestoreRow | undefined> {
  const [row] = await tx<RestoreRow[]>`
    select ${restoreColumns({ tx })} from restore r where r.tenant_id = ${tenantId} and r.id = ${restoreId}`
  return row
}
