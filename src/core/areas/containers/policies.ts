/**
 * Policies of a container.
 *
 *    collection ──null──▶ hub ──null──▶ product
 *
 * They are read with the container, so a change holds from the next request on, also for what was deleted before.
 * Spec: items 1, N25; docs/decisions/0205.
 */
import type {
  ContainerPolicies,
  ContainerWithPolicies,
  containerPolicyOperations as ops,
} from '../../contract/containers/policies.ts'
import type { Received } from '../../contract/operation.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { type ContainerRow, effectivePolicies, lockWritable, visibleContainer } from '../access/access.ts'
import { positionOf } from './order.ts'

/** Refuses not_found, auth.role_required, precondition.failed, container.archived. */
export async function setContainerPolicies(
  ctx: Ctx,
  { containerId, body }: Received<typeof ops.setContainerPolicies>,
): Promise<ContainerWithPolicies> {
  const row = await lockWritable(ctx, containerId, 'ADMIN')
  const policies: ContainerPolicies = {
    trash_days: body.trash_days ?? null,
    delete_role: body.delete_role ?? null,
  }
  const before = policiesOf(row)
  const names = Object.keys(policies) as (keyof ContainerPolicies)[]
  const members = names.filter((name) => policies[name] !== before[name])
  if (members.length === 0) return withPolicies(row, await positionOf(ctx, containerId))

  void ctx.tx`
    update container set trash_days = ${policies.trash_days}, delete_role = ${policies.delete_role},
                         updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${containerId}`

  const [changed, position] = await together(visibleContainer(ctx, containerId), positionOf(ctx, containerId))
  const container = withPolicies(changed, position)
  await ctx.record('work.container.policies_changed', container, { members })
  return container
}

/** The container with what it decides. */
export const withPolicies = (row: ContainerRow, position: number): ContainerWithPolicies => ({
  ...row,
  position,
  policies: policiesOf(row),
  effective_policies: effectivePolicies(row),
})

const policiesOf = ({ trash_days, delete_role }: ContainerRow): ContainerPolicies => ({ trash_days, delete_role })
