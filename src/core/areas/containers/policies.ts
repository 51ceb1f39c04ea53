/**
 * Policies of a container.
 *
 *    collection ──null──▶ hub ──null──▶ product
 *
 * They are read with the container, so a change holds from the next request on, also for what was deleted before.
 * Spec: items 1, N25; docs/decisions/0205.
 */
import type { Container, containerOperations as ops } from '../../contract/containers/operations.ts'
import type { ContainerPolicies } from '../../contract/containers/policies.ts'
import type { Received } from '../../contract/operation.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { lockWritable } from '../access/access.ts'
import { recorded, represented } from './representation.ts'

/** Refuses not_found, auth.role_required, precondition.failed, container.archived. */
export async function setContainerPolicies(
  ctx: Ctx,
  { containerId, body }: Received<typeof ops.setContainerPolicies>,
): Promise<Container> {
  const row = await lockWritable(ctx, containerId, 'ADMIN')
  const policies: ContainerPolicies = {
    trash_days: body.trash_days ?? null,
    delete_role: body.delete_role ?? null,
  }
  const names = Object.keys(policies) as (keyof ContainerPolicies)[]
  const members = names.filter((name) => policies[name] !== row[name])
  if (members.length === 0) return represented(ctx, row)

  void ctx.tx`
    update container set trash_days = ${policies.trash_days}, delete_role = ${policies.delete_role},
                         updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${containerId}`

  return recorded(ctx, containerId, 'work.container.policies_changed', { members })
}
