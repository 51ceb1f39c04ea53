/**
 * Quotas: a workspace's ceilings and what it has used of them.
 *
 * A ceiling resolves over the levels product, instance, plan, workspace: the last one
 * that says anything counts, and 0 means unlimited. Plans say nothing yet.
 *
 * Spec: Quota semantics; decisions 4, TenantQuotas.
 */

import { type QuotaName, quotaNames, type ResolvedQuotas } from '../../contract/tenants/operations.ts'
import type { Config } from '../../kernel/config/config.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { readSettings } from './settings.ts'

type Integer = number | bigint

const unlimited = Object.fromEntries(quotaNames.map((name) => [name, 0])) as Record<QuotaName, Integer>

/** What the product allows a workspace of which nobody decided otherwise. */
export const productCeilings: Record<Config['mode'], Readonly<Record<QuotaName, Integer>>> = {
  single: unlimited,
  multi: {
    api_requests_per_minute: 600,
    items: 100_000,
    media_bytes: 10_737_418_240,
    automation_runs_per_hour: 1000,
    webhook_targets: 20,
    export_jobs: 2,
    ai_tokens_per_day: 200_000,
  },
}

/** The ceiling in force; 0 is unlimited. `override` is the workspace's own, `decided` the installation's; null where they have none. */
export const ceilingOf = (
  mode: Config['mode'],
  name: QuotaName,
  override: Integer | null,
  decided: Integer | null,
): Integer => override ?? decided ?? productCeilings[mode][name]

/** The same inside a transaction, which asks the installation. */
export async function readCeiling(ctx: Ctx, name: QuotaName, override: Integer | null): Promise<Integer> {
  const { quotas } = await readSettings(ctx)
  return ceilingOf(ctx.config.mode, name, override, quotas.get(name) ?? null)
}

/** Every quota as it is answered. */
export function resolveQuotas(
  mode: Config['mode'],
  overrides: ReadonlyMap<QuotaName, Integer>,
  decided: ReadonlyMap<QuotaName, Integer>,
  used: Readonly<Partial<Record<QuotaName, Integer>>>,
): ResolvedQuotas {
  const entries = quotaNames.map((name) => {
    const override = overrides.get(name) ?? null
    const instance = decided.get(name) ?? null
    return [
      name,
      {
        value: ceilingOf(mode, name, override, instance),
        source: override !== null ? 'WORKSPACE' : instance !== null ? 'INSTANCE' : 'PRODUCT',
        used: used[name] ?? 0,
      },
    ]
  })
  return Object.fromEntries(entries) as ResolvedQuotas
}
