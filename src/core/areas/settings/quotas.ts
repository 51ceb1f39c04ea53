/**
 * Quotas: a workspace's ceilings, and the only way to use more of a quota.
 *
 * A ceiling is resolved over the levels product, instance, plan, workspace: the last level that
 * sets it counts, and 0 means unlimited. Plans do not set ceilings yet.
 *
 *    spend ──▶ a tally: one statement adds to it, and fails above the ceiling
 *          └─▶ rows: counted under a lock, so that the second of two concurrent calls counts the first
 *
 * Elsewhere: the list of quotas (contract/quotas.ts); what each counts (its area); all quotas of
 * one workspace (areas/tenants/quotas.ts). The rate of calls is not spent here: the daemon spends
 * it before the call has a transaction (daemon/rate.ts).
 *
 * Spec: Quota semantics; decisions 4, TenantQuotas.
 */

import { refuse } from '../../contract/problem.ts'
import { type QuotaName, quotaNames, quotas } from '../../contract/quotas.ts'
import type { ResolvedQuotas } from '../../contract/tenants/operations.ts'
import type { Config } from '../../kernel/config/config.ts'
import { lockClasses } from '../../kernel/database/lock-classes.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'

export type Integer = number | bigint

/** How an area counts one of its quotas. */
export interface QuotaCount {
  /** What the workspace has used. `limit` is the ceiling in force, 0 if unlimited. */
  used(ctx: Ctx, tenantId: string, limit: Integer): Promise<Integer>
  /**
   * Adds to a tally that is kept in a row, by a statement that fails by `keep_within` if it exceeds `ceilingIn`.
   * Absent: `used` counts rows, and the rule writes the new row after it has spent.
   */
  take?(ctx: Ctx, tenantId: string, amount: number): Promise<unknown>
}

/** The quotas of one area. */
export type QuotaCounts<Name extends QuotaName = QuotaName> = Readonly<Record<Name, QuotaCount>>

/**
 * Uses `amount` more of a quota, in the role of the workspace or of the installation. A tally's statement is sent at the
 * call: a rule need not await it, because the commit fails if it fails. Refuses quota.exceeded.
 */
export async function spend<Name extends QuotaName>(
  ctx: Ctx,
  quotasOfArea: QuotaCounts<Name>,
  name: Name,
  { tenantId, amount = 1 }: { readonly tenantId: string; readonly amount?: number },
): Promise<void> {
  const count: QuotaCount = quotasOfArea[name]
  if (count.take) {
    await count.take(ctx, tenantId, amount)
    return
  }
  const limit = await readCeiling(ctx, tenantId, name)
  if (BigInt(limit) === 0n || (await hasRoom(ctx, name, count, { tenantId, amount, limit }))) return
  refuse('quota.exceeded', { quota: name, limit, used: await count.used(ctx, tenantId, limit) })
}

/** Whether one more fits, for what waits instead of being refused. The answer holds until the end of the transaction. */
export async function hasRoomFor<Name extends QuotaName>(
  ctx: Ctx,
  quotasOfArea: QuotaCounts<Name>,
  name: Name,
  { tenantId }: { readonly tenantId: string },
): Promise<boolean> {
  const limit = await readCeiling(ctx, tenantId, name)
  return BigInt(limit) === 0n || (await hasRoom(ctx, name, quotasOfArea[name], { tenantId, amount: 1, limit }))
}

async function hasRoom(
  ctx: Ctx,
  name: QuotaName,
  count: QuotaCount,
  { tenantId, amount, limit }: { readonly tenantId: string; readonly amount: number; readonly limit: Integer },
): Promise<boolean> {
  await ctx.tx`select pg_advisory_xact_lock(${lockClasses.quota}, hashtext(${name + tenantId}))`
  return BigInt(await count.used(ctx, tenantId, limit)) + BigInt(amount) <= BigInt(limit)
}

/** The ceiling in force of one workspace. */
async function readCeiling(ctx: Ctx, tenantId: string, name: QuotaName): Promise<Integer> {
  const [row] = await ctx.tx<{ ceiling: Integer }[]>`select ${ceilingIn(ctx, tenantId, name)} as ceiling`
  return row?.ceiling ?? 0
}

/** The same, as an expression of a statement of either role. */
export const ceilingIn = ({ tx, config }: Ctx, tenantId: string, name: QuotaName): Part => tx.part`coalesce(
  (select q.ceiling from tenant_quota q where q.tenant_id = ${tenantId} and q.quota = ${name}),
  (select s.value::text::bigint from setting s where s.name = ${`quotas.${name}`}),
  ${ceilingOf(config.mode, name, null, null)}::bigint)`

/** The ceiling in force, 0 if unlimited. `override` is the workspace's, `decided` the installation's; null: not set. */
export const ceilingOf = (
  mode: Config['mode'],
  name: QuotaName,
  override: Integer | null,
  decided: Integer | null,
): Integer => override ?? decided ?? (mode === 'single' ? 0 : quotas[name].ceiling)

/** Every quota as it is answered. `usedOf` answers how much of the ceiling is used. */
export async function resolveQuotas(
  mode: Config['mode'],
  overrides: ReadonlyMap<QuotaName, Integer>,
  decided: ReadonlyMap<QuotaName, Integer>,
  usedOf: (name: QuotaName, ceiling: Integer) => Promise<Integer>,
): Promise<ResolvedQuotas> {
  const resolved: [QuotaName, ResolvedQuotas[QuotaName]][] = []
  for (const name of quotaNames) {
    const override = overrides.get(name) ?? null
    const instance = decided.get(name) ?? null
    const value = ceilingOf(mode, name, override, instance)
    const source = override !== null ? 'WORKSPACE' : instance !== null ? 'INSTANCE' : 'PRODUCT'
    resolved.push([name, { value, source, used: await usedOf(name, value) }])
  }
  return Object.fromEntries(resolved) as ResolvedQuotas
}
