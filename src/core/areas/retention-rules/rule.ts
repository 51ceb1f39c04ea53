/**
 * A rule of retention, as it stands.
 *
 *    no row, or no days ──decided──▶ days of the workspace ──shorter──▶ next_days ──takes_effect_at──▶ days
 *         the product's                      ▲                              │
 *                                            └─────the same days, or longer─┘
 *
 * What is shorter takes effect by a time that both clocks agree on, by one job (areas/retention-runs): everything else reads
 * `days` alone. Spec: Keeping, 4; docs/decisions/0470.
 */
import { productPolicies } from '../../contract/containers/policies.ts'
import type { Answer } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import {
  type ruleOperations as ops,
  type RetentionRule,
  type RuleKind,
  ruleKinds,
} from '../../contract/retention/rules.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'

export interface RuleRow {
  readonly kind: RuleKind
  readonly days: number | null
  readonly next_days: number | null
  readonly takes_effect_at: string | null
  readonly stopped_at: string | null
  readonly is_released: boolean
  readonly version: number
}

/** The kind of a path. Refuses not_found. */
export const knownKind = (name: string): RuleKind => ruleKinds.find((kind) => kind === name) ?? refuse('not_found')

/** A rule about which nothing was decided. */
export const undecided = (kind: RuleKind): RuleRow => ({
  ...{ kind, days: null, next_days: null, takes_effect_at: null, stopped_at: null, is_released: false, version: 1 },
})

/** How long the product keeps it, in days; 0: for ever. */
function productDays({ config }: Pick<Ctx, 'config'>, kind: RuleKind): number {
  switch (kind) {
    case 'DONE_ITEMS':
      return productPolicies.archive_done_after_days
    case 'TRASH':
      return productPolicies.trash_days
    case 'EVENTS':
      return config.outboxDays
    case 'RECORDS':
      return 90
    case 'REQUESTS':
      return 1095
    case 'TRAIL':
    case 'ACCOUNTS':
      return 0
  }
}

/** How long it is kept now, in days; 0: for ever. */
export const daysInForce = (ctx: Pick<Ctx, 'config'>, { kind, days }: Pick<RuleRow, 'kind' | 'days'>): number =>
  // The operator may have narrowed the window of events since.
  kind === 'EVENTS' && days !== null ? Math.min(days, ctx.config.outboxDays) : (days ?? productDays(ctx, kind))

/** Whether so many days are a shorter time than others. */
export const isShorter = (days: number, others: number): boolean => days > 0 && (others === 0 || days < others)

/** The rule as it is answered. */
export const ruleOf = (ctx: Pick<Ctx, 'config'>, row: RuleRow, lastRunAt: string | null): RetentionRule => ({
  ...{ kind: row.kind, days: daysInForce(ctx, row), source: row.days === null ? 'PRODUCT' : 'WORKSPACE' },
  ...{ takes_effect_at: row.takes_effect_at, next_days: row.next_days, last_run_at: lastRunAt, version: row.version },
})

/** Those about which something was decided, of the workspace in force. */
export const readDecided = ({ tx }: Pick<Ctx, 'tx'>, tenantId: string) => tx<RuleRow[]>`
  select kind, days, next_days, takes_effect_at, stopped_at, is_released, version from retention_rule
  where tenant_id = ${tenantId}`

/** Each kind's, in the order of the kinds. */
export async function listRetentionRules(ctx: Ctx): Promise<Answer<typeof ops.listRetentionRules>> {
  const { tenantId } = ctx.account
  const [decided, runs] = await together(
    readDecided(ctx, tenantId),
    ctx.tx<{ kind: RuleKind; at: string }[]>`
      select kind, max(at) as at from retention_run where tenant_id = ${tenantId} group by kind`,
  )
  const rows = new Map(decided.map((row) => [row.kind, row]))
  const ranAt = new Map(runs.map(({ kind, at }) => [kind, at]))
  return { data: ruleKinds.map((kind) => ruleOf(ctx, rows.get(kind) ?? undecided(kind), ranAt.get(kind) ?? null)) }
}
