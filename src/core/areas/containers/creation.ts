/** Creating hubs and collections. Spec: Index, Containers; decisions 3. */

import type { Container, containerOperations as ops } from '../../contract/containers/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import { type Role, rankOf } from '../../contract/vocabulary.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { newId } from '../../kernel/values/id.ts'
import { findVisibleContainer, writableContainer } from '../access/access.ts'
import { addMembership } from '../memberships/membership.ts'
import { rankAt } from './order.ts'
import { demandPrivateHubs } from './privacy.ts'
import { recorded } from './representation.ts'

type New = Received<typeof ops.createContainer>['body']

/** Refuses request.invalid, auth.role_required, container.archived, order.exhausted. */
export async function createContainer(ctx: Ctx, { body }: Received<typeof ops.createContainer>): Promise<Container> {
  const { tenantId, accountId } = ctx.account
  const isHub = body.kind === 'HUB'
  const parentId = isHub ? null : (body.parent_id ?? null)
  const [role, rank] = await together(
    isHub ? hubPlace(ctx, body) : collectionPlace(ctx, body),
    rankAt(ctx, { parentId, before: body.before_container_id }),
  )
  const id = newId()

  void ctx.tx`
    insert into container (tenant_id, id, kind, parent_id, name, description, rank, is_private)
    values (${tenantId}, ${id}, ${body.kind}, ${parentId}, ${body.name}, ${body.description ?? null}, ${rank}, ${body.is_private})`
  if (body.is_private || rankOf[role] < rankOf.ADMIN)
    await addMembership(ctx, { account_id: accountId, container_id: id, role: 'OWNER' })

  return recorded(ctx, id, 'work.container.created', {
    kind: body.kind,
    parent_id: parentId,
  })
}

/** The role that the creator has where the new hub goes. Refuses request.invalid at /parent_id, auth.role_required. */
async function hubPlace(ctx: Ctx, body: New): Promise<Role> {
  const { role, isGuest } = ctx.account
  if (body.parent_id) refuseMember('/parent_id', 'value.not_taken')
  if (isGuest || rankOf[role] < rankOf.MEMBER) refuse('auth.role_required', { role: 'MEMBER' })
  if (body.is_private) await demandPrivateHubs(ctx)
  return role
}

/** The same for a collection. Refuses container.archived as well. */
async function collectionPlace(ctx: Ctx, body: New): Promise<Role> {
  return body.parent_id ? writableHub(ctx, body.parent_id) : refuseMember('/parent_id', 'member.required')
}

/**
 * The caller's role in a hub that a collection goes to. Refuses request.invalid at /parent_id, auth.role_required,
 * container.archived.
 */
export async function writableHub(ctx: Ctx, hubId: string): Promise<Role> {
  const [, { role }] = await together(refuseNoHub(ctx, hubId), writableContainer(ctx, hubId, 'MEMBER'))
  return role
}

async function refuseNoHub(ctx: Ctx, hubId: string): Promise<void> {
  const hub = await findVisibleContainer(ctx, hubId)
  if (hub?.kind !== 'HUB') refuseMember('/parent_id', 'reference.unknown')
}
