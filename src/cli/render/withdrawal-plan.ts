/** The accounts that could not sign in after the end of a provider's offer, for people. */
import type { PlannedWorkspace, WithdrawalPlan } from '../../core/contract/providers/offered.ts'
import { details } from './details.ts'
import { type Column, table } from './table.ts'

const workspaceColumns: readonly Column<PlannedWorkspace>[] = [
  { head: 'WORKSPACE', cell: ({ slug }) => slug, whole: true },
  { head: 'CONNECTED', cell: ({ connected_count }) => String(connected_count), align: 'right' },
  {
    head: 'FALLS BACK TO PASSWORD',
    cell: ({ falls_back_to_password }) => (falls_back_to_password ? 'yes' : 'no'),
  },
  { head: 'CANNOT SIGN IN', cell: ({ stranded_count }) => String(stranded_count), align: 'right' },
]

interface Stranded {
  readonly slug: string
  readonly email: string
  readonly role: string
}

const strandedColumns: readonly Column<Stranded>[] = [
  { head: 'WORKSPACE', cell: ({ slug }) => slug, whole: true },
  { head: 'ADDRESS', cell: ({ email }) => email, whole: true },
  { head: 'ROLE', cell: ({ role }) => role },
]

export async function plannedWithdrawal(plan: WithdrawalPlan): Promise<string> {
  const facts = details([
    ['provider', plan.display_name ?? plan.issuer],
    ['issuer', plan.issuer],
    ['workspaces on', plan.workspaces_on],
    ['cannot sign in', plan.stranded_count],
    ['plan', plan.hash],
  ])
  const stranded = plan.workspaces.flatMap(({ slug, stranded: people }) => people.map((one) => ({ slug, ...one })))
  const unnamed = plan.stranded_count - stranded.length
  return [
    facts,
    await table(plan.workspaces, workspaceColumns, 'No workspace has it on.'),
    await table(stranded, strandedColumns, 'Every account could still sign in.'),
    ...(unnamed > 0 ? [`And ${unnamed} more.`] : []),
  ].join('\n\n')
}
