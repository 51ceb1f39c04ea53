/**
 * Quotas: a workspace's ceilings, and the only way to use more of a quota.
 *
 * A ceiling is resolved over the levels product, instance, plan, workspace: the last level that
 * sets it counts, and 0 means unlimited. Plans do not set ceilings yet.
 *
 *    spend ──▶ a tally: one statement adds to it, within the ceiling
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
import type { Ctx } from '../../kernel/transaction/context.ts'
import { readSettings } from './settings.ts'

export type Integer = number | bigint

/** How an area counts one of its quotas. */
export interface QuotaCount {
  /** What the workspace has used. `limit` is the ceiling in force, 0 if unlimited. */
  used(ctx: Ctx, tenantId: string, limit: Integer): Promise<Integer>
  /**
   * Adds to a tally that is kept in a row, unless it would exceed the limit. Answers whether it was added. Absent:
   * `used` counts rows, and the rule writes the new row after it has spent.
   */
  take?(ctx: Ctx, tenantId: string, amount: number, limit: Integer): Promise<boolean>
}

/** The quotas of one area. */
export type QuotaCounts<Name extends QuotaName = QuotaName> = Readonly<Record<Name, QuotaCount>>

/** Uses `amount` more of a quota, in the role of the workspace or of the installation. Refuses quota.exceeded. */
export async function spend<Name extends QuotaName>(
  ctx: Ctx,
  quotasOfArea: QuotaCounts<Name>,
  name: Name,
  { tenantId, amount = 1 }: { readonly tenantId: string; readonly amount?: number },
): Promise<void> {
  const count: QuotaCount = quotasOfArea[name]
  const limit = await readCeiling(ctx, tenantId, name)
  const isWithin = count.take
    ? await count.take(ctx, tenantId, amount, limit)
    : BigInt(limit) === 0n || (await hasRoom(ctx, name, count, { tenantId, amount, limit }))
  if (!isWithin) refuse('quota.exceeded', { quota: name, limit, used: await count.used(ctx, tenantId, limit) })
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
  const [[own], { quotas: decided }] = await Promise.all([
    ctx.tx<{ ceiling: Integer }[]>`select ceiling from tenant_quota where tenant_id = ${tenantId} and quota = ${name}`,
    readSettings(ctx),
  ])
  return ceilingOf(ctx.config.mode, name, own?.ceiling ?? null, decided.get(name) ?? null)
}

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
