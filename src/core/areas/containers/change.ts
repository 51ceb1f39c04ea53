/**
 * Changes of a container: its name, its place, whether it is archived, whether it is deleted.
 *
 *    active ──:archive──▶ archived ──:unarchive──▶ active
 *       └──────DELETE──────┴──▶ deleted ──:restore──▶ as it was
 *
 * The state of a hub applies to its collections, but their own rows do not change. So a restored hub has exactly the
 * collections that it had. Spec: Index, Containers; decisions 3; decision 0102.
 */

import type { Container, containerOperations as ops } from '../../contract/containers/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { lockUnchanged, lockWritable, restorableContainer, visibleContainer } from '../access/access.ts'
import { writableHub } from './creation.ts'
import { isInPlace, positionOf, rankAt } from './order.ts'
import { containerOf, recorded, represented } from './representation.ts'

/** Refuses not_found. */
export async function getContainer(ctx: Ctx, { containerId }: Received<typeof ops.getContainer>): Promise<Container> {
  const [row, position] = await together(visibleContainer(ctx, containerId), positionOf(ctx, containerId, ctx.tx.last))
  return containerOf(row, position)
}

/** Refuses not_found, auth.role_required, precondition.failed, container.archived. */
export async function updateContainer(
  ctx: Ctx,
  { containerId, body }: Received<typeof ops.updateContainer>,
): Promise<Container> {
  const row = await lockWritable(ctx, containerId, 'MEMBER')
  const name = body.name ?? row.name
  const description = body.description === undefined ? row.description : body.description
  const changed = [...(name === row.name ? [] : ['name']), ...(description === row.description ? [] : ['description'])]
  if (changed.length === 0) return represented(ctx, row)

  void ctx.tx`
    update container set name = ${name}, description = ${description}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${containerId}`

  return recorded(ctx, containerId, 'work.container.changed', { members: changed })
}

/** Refuses not_found, auth.role_required, precondition.failed, container.archived, request.invalid, order.exhausted. */
export async function reorderContainer(
  ctx: Ctx,
  { containerId, body }: Received<typeof ops.reorderContainer>,
): Promise<Container> {
  const row = await lockWritable(ctx, containerId, 'MEMBER')
  const { parent_id: parentId } = row
  const [rank, isThere] = await together(
    rankAt(ctx, { parentId, before: body.before_container_id, moving: containerId }),
    isInPlace(ctx, row, body.before_container_id),
  )
  if (isThere) return represented(ctx, row)

  void ctx.tx`
    update container set rank = ${rank}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${containerId}`

  return recorded(ctx, containerId, 'work.container.reordered', { before: body.before_container_id ?? null })
}

/**
 * Moves a collection to another hub, with all its content. Refuses not_found, auth.role_required,
 * precondition.failed, container.archived, request.invalid, order.exhausted.
 */
export async function moveContainer(
  ctx: Ctx,
  { containerId, body }: Received<typeof ops.moveContainer>,
): Promise<Container> {
  const row = await lockWritable(ctx, containerId, 'ADMIN')
  // A hub has no parent, so a move cannot make a cycle.
  if (row.kind === 'HUB') refuseMember('/parent_id', 'value.not_taken')
  const [, rank, isThere] = await together(
    writableHub(ctx, body.parent_id),
    rankAt(ctx, { parentId: body.parent_id, before: body.before_container_id, moving: containerId }),
    row.parent_id === body.parent_id && isInPlace(ctx, row, body.before_container_id),
  )
  if (isThere) return represented(ctx, row)

  void ctx.tx`
    update container set parent_id = ${body.parent_id}, rank = ${rank}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${containerId}`

  return recorded(ctx, containerId, 'work.container.moved', {
    from: row.parent_id,
    to: body.parent_id,
  })
}

/** Refuses not_found, auth.role_required, precondition.failed. */
export async function archiveContainer(
  ctx: Ctx,
  { containerId }: Received<typeof ops.archiveContainer>,
): Promise<Container> {
  const row = await lockUnchanged(ctx, containerId, 'ADMIN')
  if (row.archived_at !== null) return represented(ctx, row)

  void ctx.tx`
    update container set archived_at = now(), updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${containerId}`

  return recorded(ctx, containerId, 'work.container.archived')
}

/** Refuses not_found, auth.role_required, precondition.failed. */
export async function unarchiveContainer(
  ctx: Ctx,
  { containerId }: Received<typeof ops.unarchiveContainer>,
): Promise<Container> {
  const row = await lockUnchanged(ctx, containerId, 'ADMIN')
  if (row.archived_at === null) return represented(ctx, row)

  void ctx.tx`
    update container set archived_at = null, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${containerId}`

  return recorded(ctx, containerId, 'work.container.unarchived')
}

/** Refuses not_found, auth.role_required, precondition.failed. */
export async function deleteContainer(ctx: Ctx, { containerId }: Received<typeof ops.deleteContainer>): Promise<void> {
  const row = await lockUnchanged(ctx, containerId, 'ADMIN')
  const before = await represented(ctx, row)

  const [after] = await ctx.tx<Pick<Container, 'deleted_at' | 'updated_at' | 'version'>[]>`
    update container set deleted_at = now(), deleted_by = ${ctx.account.accountId}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${containerId} returning deleted_at, updated_at, version`

  await ctx.record('work.container.deleted', { ...before, ...after })
}

/** Refuses not_found, auth.role_required, precondition.failed, container.parent_deleted. */
export async function restoreContainer(
  ctx: Ctx,
  { containerId }: Received<typeof ops.restoreContainer>,
): Promise<Container> {
  const row = await restorableContainer(ctx, containerId, 'ADMIN')
  ctx.unchanged(row.version)
  if (row.is_parent_deleted) refuse('container.parent_deleted')
  if (row.deleted_at === null) return represented(ctx, row)

  void ctx.tx`
    update container set deleted_at = null, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${containerId}`

  return recorded(ctx, containerId, 'work.container.restored')
}
