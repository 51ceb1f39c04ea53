/** Ceilings of one workspace. Spec: Admin: workspaces, rule 5; Quota semantics; decisions 4. */

import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import { type QuotaName, quotaNames } from '../../contract/quotas.ts'
import type { tenantOperations as ops } from '../../contract/tenants/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { aiQuotas } from '../ai/token-budget.ts'
import { exportQuotas } from '../backup/export-quota.ts'
import { itemQuotas } from '../items/item-count.ts'
import { mediaQuotas } from '../media/byte-count.ts'
import { type Integer, type QuotaCounts, resolveQuotas } from '../settings/quotas.ts'
import { readSettings } from '../settings/settings.ts'
import { webhookQuotas } from '../webhooks/subscription.ts'

/** Calls of the current minute: each pays its share of 60 s in advance. The daemon spends them (daemon/rate.ts). */
const rateQuotas = {
  api_requests_per_minute: {
    async used({ tx }, tenantId, limit) {
      const [paid] = await tx<{ minutes: number }[]>`
        select greatest(0, extract(epoch from paid_until - now()) / 60)::float8 as minutes from request_rate where tenant_id = ${tenantId}`
      return shareOf(limit, paid?.minutes ?? 0)
    },
  },
} satisfies Partial<QuotaCounts>

/** Quotas that the contract names, but that do not exist yet. */
const unusedQuotas = {
  automation_runs_per_hour: { used: async () => 0 },
} satisfies Partial<QuotaCounts>

/** The quotas of every area. A quota without a count does not compile. */
const counted: QuotaCounts = {
  ...rateQuotas,
  ...itemQuotas,
  ...mediaQuotas,
  ...webhookQuotas,
  ...exportQuotas,
  ...aiQuotas,
  ...unusedQuotas,
}

/**
 * Sets and clears ceilings, and answers all resolved ceilings. A patch that changes nothing
 * writes nothing, so an empty patch only reads. Refuses not_found.
 */
export async function changeTenantQuotas(
  ctx: Ctx,
  { tenantId, body }: Received<typeof ops.changeTenantQuotas>,
): Promise<Answer<typeof ops.changeTenantQuotas>> {
  const [tenant] = await ctx.tx<{ slug: string }[]>`select slug from tenant where id = ${tenantId} for update`
  if (!tenant) refuse('not_found')
  const overrides = await readOverrides(ctx, tenantId)
  const moved = quotaNames.filter((name) => body[name] !== undefined && body[name] !== (overrides.get(name) ?? null))

  for (const name of moved) {
    const ceiling = body[name] ?? null
    await writeOverride(ctx, tenantId, name, ceiling)
    if (ceiling === null) overrides.delete(name)
    else overrides.set(name, ceiling)
  }
  if (moved.length > 0) await record(ctx, tenantId, tenant.slug, moved, overrides)

  const { quotas: decided } = await readSettings(ctx)
  return resolveQuotas(ctx.config.mode, overrides, decided, (name, ceiling) =>
    counted[name].used(ctx, tenantId, ceiling),
  )
}

async function readOverrides(ctx: Ctx, tenantId: string): Promise<Map<QuotaName, Integer>> {
  const rows = await ctx.tx<
    { quota: QuotaName; ceiling: Integer }[]
  >`select quota, ceiling from tenant_quota where tenant_id = ${tenantId}`
  return new Map(rows.map((row) => [row.quota, row.ceiling]))
}

async function writeOverride(ctx: Ctx, tenantId: string, name: QuotaName, ceiling: Integer | null): Promise<void> {
  if (ceiling === null) {
    await ctx.tx`delete from tenant_quota where tenant_id = ${tenantId} and quota = ${name}`
    return
  }
  await ctx.tx`
    insert into tenant_quota (tenant_id, quota, ceiling) values (${tenantId}, ${name}, ${ceiling})
    on conflict (tenant_id, quota) do update set ceiling = excluded.ceiling`
}

/** The share of a ceiling, rounded up and never above the ceiling; a bigint above 2^53 - 1. */
function shareOf(ceiling: Integer, share: number): Integer {
  const used = share * Number(ceiling)
  if (used >= Number(ceiling)) return ceiling
  return used > Number.MAX_SAFE_INTEGER ? BigInt(Math.ceil(used)) : Math.ceil(used)
}

async function record(
  ctx: Ctx,
  id: string,
  slug: string,
  moved: readonly QuotaName[],
  overrides: ReadonlyMap<QuotaName, Integer>,
): Promise<void> {
  const ceilings = Object.fromEntries(moved.map((name) => [name, overrides.get(name) ?? null]))
  const evidence = {
    params: {
      quotas: Object.fromEntries(
        Object.entries(ceilings).map(([name, value]) => [name, value === null ? null : String(value)]),
      ),
    },
  }
  await ctx.journal('tenant.quotas_changed', { id, slug }, evidence)
  await ctx.inWorkspace(id, () =>
    ctx.record('work.tenant.quotas_changed', { id, slug, quotas: ceilings }, evidence.params),
  )
}
