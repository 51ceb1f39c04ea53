/** Making a container private, and opening it again. Spec: Index, Containers (`PUT …/privacy`); decision 0101. */

import type { Container, containerOperations as ops } from '../../contract/containers/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import { rankOf } from '../../contract/vocabulary.ts'
import { beforeNewAudience } from '../../kernel/transaction/admission.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation, RunAsRule } from '../../kernel/transaction/installation.ts'
import type { Actor } from '../../kernel/values/actor.ts'
import { findVisibleContainer, lockWritable } from '../access/access.ts'
import { addMembership } from '../memberships/membership.ts'
import { readSettings } from '../settings/settings.ts'
import { recorded, represented } from './representation.ts'

/** Whether a call hides a hub that its caller may hide. */
export async function hidesHub(
  _installation: Installation,
  _actor: Actor,
  { containerId, body }: Received<typeof ops.setContainerPrivacy>,
  run: RunAsRule,
): Promise<boolean> {
  if (!body.is_private) return false
  const found = await run((ctx) => findVisibleContainer(ctx, containerId))
  return found?.kind === 'HUB' && rankOf[found.role] >= rankOf.ADMIN
}

/** Refuses not_found, auth.role_required, precondition.failed, container.archived. */
export async function setContainerPrivacy(
  ctx: Ctx,
  { containerId, body }: Received<typeof ops.setContainerPrivacy>,
  isHubHidden: boolean,
): Promise<Container> {
  const { tenantId, accountId } = ctx.account
  // Changes of what is in the hub hold the rows of its collections, and not its own.
  if (isHubHidden) void beforeNewAudience(ctx.tx, tenantId)
  const row = await lockWritable(ctx, containerId, 'ADMIN')
  if (body.is_private === row.is_private) return represented(ctx, row)
  if (body.is_private && row.kind === 'HUB') {
    // The caller became an ADMIN behind the look. A change that waits for the hub's row now may have to be repeated.
    if (!isHubHidden) void beforeNewAudience(ctx.tx, tenantId)
    await demandPrivateHubs(ctx)
  }

  void ctx.tx`
    update container set is_private = ${body.is_private}, updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${containerId}`
  // The caller's role may come from a membership that no longer counts, and the caller must not lose the container.
  if (body.is_private && !(await isMember(ctx, containerId)))
    await addMembership(ctx, { account_id: accountId, container_id: containerId, role: 'OWNER' })

  return recorded(ctx, containerId, 'work.container.privacy_changed', { is_private: body.is_private })
}

/** Refuses auth.role_required where the installation lets nobody below ADMIN hide a hub. */
export async function demandPrivateHubs(ctx: Ctx): Promise<void> {
  const { role, isGuest } = ctx.account
  if (!isGuest && rankOf[role] >= rankOf.ADMIN) return
  if (!(await readSettings(ctx)).signIn.private_hubs) refuse('auth.role_required', { role: 'ADMIN' })
}

async function isMember(ctx: Ctx, containerId: string): Promise<boolean> {
  const { tenantId, accountId } = ctx.account
  const [membership] = await ctx.tx`
    select 1 from membership where tenant_id = ${tenantId} and holder_id = ${accountId} and container_id = ${containerId}`
  return membership !== undefined
}
