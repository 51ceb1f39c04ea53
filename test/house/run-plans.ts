/** Statements that are run to see what they read, as whom they were sent by, and undone. */
import type { Sql } from 'postgres'
import { Json, type Statement } from '../../src/core/kernel/database/statement.ts'
import type { SentStatement } from './sent-statements.ts'

export interface RunPlan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly Plans?: readonly RunPlan[]
}

/** What a call that reads has, whatever its values are, and what a change may have as well. */
export type PlanMode = 'force_generic_plan' | 'force_custom_plan'

/** Runs a statement by each kind of plan. `oracle`: the superuser's connections. */
export async function runPlans(
  oracle: Sql,
  modes: readonly PlanMode[],
  { opening, statement: { text, values } }: SentStatement,
): Promise<RunPlan[]> {
  const connection = await oracle.reserve()
  const plans: RunPlan[] = []
  const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`
  try {
    for (const mode of modes) {
      await connection.unsafe(
        `begin; ${opening}; set local random_page_cost = 1.1; set local plan_cache_mode = '${mode}'; prepare asked as ${text}`,
      )
      const [row] = await connection.unsafe<{ 'QUERY PLAN': readonly { readonly Plan: RunPlan }[] }[]>(
        `explain (analyze, timing off, format json) execute asked${given}`,
      )
      plans.push(row!['QUERY PLAN'][0]!.Plan)
      await connection.unsafe('rollback; deallocate asked')
    }
    return plans
  } finally {
    // A statement that failed has left its transaction open.
    await connection.unsafe('rollback')
    connection.release()
  }
}

function literal(value: Statement['values'][number]): string {
  if (value === null) return 'null'
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  const text = value instanceof Json ? value.text : value instanceof Date ? value.toISOString() : String(value)
  return `'${text.replaceAll("'", "''")}'`
}

/** A plan and all that is beneath it. */
export const nodesOf = (plan: RunPlan): RunPlan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** The rows that a node looks at: those that it hands on, and those that it drops. */
export const looksAt = (plan: RunPlan): number =>
  ((plan['Actual Rows'] ?? 0) +
    (plan['Rows Removed by Filter'] ?? 0) +
    (plan['Rows Removed by Index Recheck'] ?? 0) +
    (plan['Rows Removed by Join Filter'] ?? 0)) *
  (plan['Actual Loops'] ?? 1)
