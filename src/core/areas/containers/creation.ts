/** Creating hubs and collections. Spec: Index, Containers; decisions 3. */

import type { Container, containerOperations as ops } from '../../contract/containers/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import { type Role, rankOf } from '../../contract/vocabulary.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
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
  const { parentId, role } = body.kind === 'HUB' ? await hubPlace(ctx, body) : await collectionPlace(ctx, body)
  const rank = await rankAt(ctx, { parentId, before: body.before_container_id })
  const id = newId()

  await ctx.tx`
    insert into container (tenant_id, id, kind, parent_id, name, description, rank, is_private)
    values (${tenantId}, ${id}, ${body.kind}, ${parentId}, ${body.name}, ${body.description ?? null}, ${rank}, ${body.is_private})`
  if (body.is_private || rankOf[role] < rankOf.ADMIN)
    await addMembership(ctx, { account_id: accountId, container_id: id, role: 'OWNER' })

  return recorded(ctx, id, 'work.container.created', { kind: body.kind, parent_id: parentId })
}

/** Where a new container goes, and the role that its creator has there. */
interface NewPlace {
  readonly parentId: string | null
  readonly role: Role
}

async function hubPlace(ctx: Ctx, body: New): Promise<NewPlace> {
  const { role, isGuest } = ctx.account
  if (body.parent_id) refuseMember('/parent_id', 'value.not_taken')
  if (isGuest || rankOf[role] < rankOf.MEMBER) refuse('auth.role_required', { role: 'MEMBER' })
  if (body.is_private) await demandPrivateHubs(ctx)
  return { parentId: null, role }
}

async function collectionPlace(ctx: Ctx, body: New): Promise<NewPlace> {
  if (!body.parent_id) refuseMember('/parent_id', 'member.required')
  return { parentId: body.parent_id, role: await writableHub(ctx, body.parent_id) }
}

/**
 * The caller's role in a hub that a collection goes to. Refuses request.invalid at /parent_id, auth.role_required,
 * container.archived.
 */
export async function writableHub(ctx: Ctx, hubId: string): Promise<Role> {
  const hub = await findVisibleContainer(ctx, hubId)
  if (hub?.kind !== 'HUB') refuseMember('/parent_id', 'reference.unknown')
  return (await writableContainer(ctx, hubId, 'MEMBER')).role
}
