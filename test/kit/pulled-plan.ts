/** What the statement of a pull visits, as PostgreSQL counts it. */
import { recorded } from '../../bench/recording.ts'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { asTenant } from '../../src/core/kernel/database/roles.ts'
import { adminOf, pulledType } from './events.ts'
import type { TestInstallation } from './installation.ts'

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
const isEvents = (node: Plan) => node['Relation Name']?.startsWith('outbox_event') === true
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)

/**
 * Of a page of ten: the places that are read without an index of the order, the rows that are read and passed over in all
 * months, and what is sorted before the limit cuts it.
 */
export async function visitedByPull(own: TestInstallation, tenantId: string, since: string, role: 'ADMIN' | 'OWNER') {
  const [statement] = (
    await recorded(own.installation, (installation) =>
      performForAnswer(
        installation,
        operations.pullEvents,
        { ...adminOf(tenantId), role },
        { eventType: pulledType, since, limit: 10 },
      ),
    )
  ).filter(({ text }) => text.includes('outbox_event'))
  const { text, values } = statement!
  const [row] = await own.installation.pool.transaction(
    asTenant(tenantId),
    (tx) => tx.text<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>(`explain (analyze, format json, timing off) ${text}`, values),
    { readOnly: true },
  )
  const nodes = nodesOf(row!['QUERY PLAN'][0].Plan)
  const scans = nodes.filter(isEvents)
  const isInOrder = (name = '') => /answered$|tenant_id_type_tx_seq_idx$/.test(name)
  return {
    unordered: scans.filter((node) => !isInOrder(node['Index Name'])).map((node) => node['Relation Name']),
    rows: sum(scans.map((node) => node['Actual Rows'] * node['Actual Loops'])),
    filtered: sum(scans.map((node) => node['Rows Removed by Filter'] ?? 0)),
    sorted: nodes
      .filter((node) => node['Node Type'] === 'Limit')
      .flatMap(nodesOf)
      .filter((node) => node['Node Type'].endsWith('Sort') && nodesOf(node).some(isEvents))
      .map((node) => node['Actual Rows']),
  }
}
