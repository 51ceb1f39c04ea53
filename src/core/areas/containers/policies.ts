/**
 * Policies of a container.
 *
 *    collection ──null──▶ hub ──null──▶ workspace ──▶ product
 *
 * The workspace decides the days of two of them, by its rules of retention (areas/retention-rules).
 *
 * They are read with the container, so a change holds from the next request on, also for what was deleted before.
 * Spec: items 1, N25; docs/decisions/0205.
 */
import type { Container, containerOperations as ops } from '../../contract/containers/operations.ts'
import { type ContainerPolicies, policyNames } from '../../contract/containers/policies.ts'
import type { Received } from '../../contract/operation.ts'
import { refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { lockWritable } from '../access/access.ts'
import { recorded, represented } from './representation.ts'

/** Refuses not_found, auth.role_required, precondition.failed, container.archived, request.invalid. */
export async function setContainerPolicies(
  ctx: Ctx,
  { containerId, body }: Received<typeof ops.setContainerPolicies>,
): Promise<Container> {
  const row = await lockWritable(ctx, containerId, 'ADMIN')
  const policies = Object.fromEntries(policyNames.map((name) => [name, body[name] ?? null])) as ContainerPolicies
  const members = policyNames.filter((name) => policies[name] !== row[name])
  if (members.length === 0) return represented(ctx, row)
  if (members.includes('auto_assign_group_id')) await refuseUnknownGroup(ctx, policies.auto_assign_group_id)

  void ctx.tx`
    update container set trash_days = ${policies.trash_days}, archive_done_after_days = ${policies.archive_done_after_days},
                         delete_role = ${policies.delete_role}, comment_role = ${policies.comment_role},
                         complete_needs_children = ${policies.complete_needs_children},
                         complete_children = ${policies.complete_children},
                         auto_assign_group_id = ${policies.auto_assign_group_id},
                         updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${containerId}`

  return recorded(ctx, containerId, 'work.container.policies_changed', { members })
}

async function refuseUnknownGroup({ tx, account: { tenantId } }: Ctx, groupId: string | null): Promise<void> {
  if (groupId === null) return
  const [group] = await tx`select 1 from account_group where tenant_id = ${tenantId} and id = ${groupId}`
  if (!group) refuseMember('/auto_assign_group_id', 'reference.unknown')
}
