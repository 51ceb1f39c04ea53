/**
 * The plan of a withdrawal: for each workspace, the people who can sign in only through this
 * provider.
 *
 * An active person is in the plan if two things are true. The account is connected with no other
 * provider that is in force in the workspace. It has no password, or passwords would not be
 * accepted. Passwords are accepted if the switches allow them, or if this was the workspace's last
 * provider.
 *
 * Of a person operators see only the id, the address and the role, so that they know whom to warn.
 * Spec: Plans before destruction; Offered identity provider.
 */

import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type {
  withdrawalPlanOperations as ops,
  PlannedWorkspace,
  WithdrawalPlan,
} from '../../../contract/providers/offered.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import { hashOfPlan } from '../../../kernel/request/plan.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { roleOnWorkspace } from '../../access/workspace-role.ts'
import { readSwitches } from '../../settings/settings.ts'
import { providersInForce, readProviders } from '../providers/in-force.ts'
import { countWorkspacesOn } from './offered.ts'

const mostWorkspaces = 1000
const mostNamed = 100

interface WorkspaceRow {
  readonly id: string
  readonly slug: string
  readonly display_name: string
}

/** Plans; changes nothing. Refuses not_found. */
export async function getWithdrawalPlan(
  ctx: Ctx,
  { providerId }: Received<typeof ops.getWithdrawalPlan>,
): Promise<WithdrawalPlan> {
  const [provider] = await readProviders(ctx, installationScope, [providerId])
  if (!provider) refuse('not_found')
  const { password_enabled, methods } = await readSwitches(ctx)
  const servesPassword = password_enabled.value && methods.value.includes('PASSWORD')
  const rows = await ctx.tx<WorkspaceRow[]>`
    select t.id, t.slug, t.display_name from provider_switch s join tenant t on t.id = s.tenant_id
    where s.provider_id = ${providerId} order by t.slug limit ${mostWorkspaces}`

  const workspaces: PlannedWorkspace[] = []
  for (const row of rows) workspaces.push(await planWorkspace(ctx, row, providerId, servesPassword))
  const facts = {
    provider_id: providerId,
    display_name: provider.display_name,
    issuer: provider.issuer,
    workspaces_on: await countWorkspacesOn(ctx, providerId),
    stranded_count: workspaces.reduce((sum, { stranded_count }) => sum + stranded_count, 0),
    workspaces,
  }
  return { ...facts, hash: hashOfPlan(facts) }
}

interface StrandedRow {
  readonly account_id: string
  readonly email: string
  readonly role: string
  readonly count: number
}

const planWorkspace = (
  ctx: Ctx,
  workspace: WorkspaceRow,
  providerId: string,
  servesPassword: boolean,
): Promise<PlannedWorkspace> =>
  ctx.inWorkspace(workspace.id, async () => {
    const others = (await providersInForce(ctx, workspace.id)).map(({ id }) => id).filter((id) => id !== providerId)
    const fallsBack = !servesPassword && others.length === 0
    const stranded = await readStranded(ctx, workspace.id, others, servesPassword || fallsBack)
    const [connected] = await ctx.tx<{ count: number }[]>`
      select count(distinct account_id)::int as count from connected_identity
      where tenant_id = ${workspace.id} and provider_id = ${providerId}`
    return {
      ...workspace,
      connected_count: connected?.count ?? 0,
      falls_back_to_password: fallsBack,
      stranded_count: stranded[0]?.count ?? 0,
      stranded: stranded.map(({ account_id, email, role }) => ({ account_id, email, role })),
    }
  })

async function readStranded({ tx }: Ctx, tenantId: string, others: readonly string[], servesPassword: boolean) {
  return tx<StrandedRow[]>`
    select a.id as account_id, coalesce(a.email, a.sign_in_name) as email, coalesce(${roleOnWorkspace(tx)}, 'GUEST') as role, count(*) over ()::int as count
    from account a
    where a.tenant_id = ${tenantId} and a.kind = 'PERSON' and a.state = 'ACTIVE'
      and not (${servesPassword} and a.password_hash is not null)
      and not exists (select from connected_identity c where c.tenant_id = a.tenant_id and c.account_id = a.id
                      and c.provider_id in ${tx.list(others)})
    order by a.id limit ${mostNamed}`
}
