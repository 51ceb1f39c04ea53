/**
 * Quotas: what a workspace may use, each with the ceiling of the product.
 *
 * The operations, the settings, the event of a change and the tables of the command line
 * derive their members from this list, in its order. What a quota counts is its area's
 * (areas/settings/quotas.ts says how); the compiler asks for it.
 *
 * Spec: Quota semantics; decisions 4, TenantQuotas.
 */

interface QuotaDeclaration {
  /** Of a workspace of a multi-workspace installation, where nobody decided otherwise; a single one has no ceilings. */
  readonly ceiling: number
}

const declared = {
  api_requests_per_minute: { ceiling: 600 },
  items: { ceiling: 100_000 },
  media_bytes: { ceiling: 10_737_418_240 },
  automation_runs_per_hour: { ceiling: 1000 },
  webhook_targets: { ceiling: 20 },
  export_jobs: { ceiling: 2 },
  ai_tokens_per_day: { ceiling: 200_000 },
} as const satisfies Record<string, QuotaDeclaration>

export type QuotaName = keyof typeof declared
export const quotas: Readonly<Record<QuotaName, QuotaDeclaration>> = declared

/** In the order tables show them. */
export const quotaNames = Object.keys(declared) as [QuotaName, ...QuotaName[]]
