/**
 * Makes, changes and deletes views.
 *
 *    PRIVATE   its maker alone, who needs nothing for it: it stays the maker's when a container is lost from sight
 *    SHARED    its maker as a MEMBER, or an ADMIN: in its container, or on the workspace where it has none
 *
 * Only shared ones are told to others: becoming shared is their creation, and becoming private their deletion.
 * Spec: items 7, O27 to O29; docs/decisions/0207.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  mostPrivate,
  mostShared,
  type viewOperations as ops,
  type View,
  type ViewShown,
} from '../../../contract/items/views.ts'
import type { Received } from '../../../contract/operation.ts'
import { refuse, refuseMember } from '../../../contract/problem.ts'
import { type Role, rankOf } from '../../../contract/vocabulary.ts'
import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { newId } from '../../../kernel/values/id.ts'
import { findVisibleContainer, referencedContainer, writableContainer } from '../../access/access.ts'
import { changedMembers } from '../../structure/changed-members.ts'
import { keptOf } from './kept.ts'
import { columnsOf } from './row.ts'
import { withUnknown } from './unknown.ts'

/** Refuses request.invalid, auth.role_required, container.archived, structure.full. */
export async function createView(ctx: Ctx, { body }: Received<typeof ops.createView>): Promise<ViewShown> {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  const containerId = body.container_id ?? null
  await demandPlace(ctx, containerId, body.visibility)
  const kept = await keptOf(ctx, body, containerId)
  await refuseFull(ctx, body.visibility, accountId)

  const [view] = await tx<[View]>`
    insert into item_view as v (tenant_id, id, container_id, name, layout, filter, sort, group_by, columns, visibility, created_by)
    values (${tenantId}, ${newId()}, ${containerId}, ${body.name}, ${body.layout}, ${jsonOf(ctx, kept.filter)},
            ${jsonOf(ctx, kept.sort)}, ${jsonOf(ctx, kept.group_by)}, ${tx.json(body.columns)}, ${body.visibility}, ${accountId})
    returning ${columnsOf(ctx)}`

  return recorded(ctx, undefined, view)
}

/** Refuses not_found, request.invalid, auth.role_required, container.archived, precondition.failed, structure.full. */
export async function updateView(ctx: Ctx, { viewId, body }: Received<typeof ops.updateView>): Promise<ViewShown> {
  const { tx } = ctx
  const row = await lockView(ctx, viewId)
  const visibility = body.visibility ?? row.visibility
  if (visibility === 'SHARED' && row.visibility === 'PRIVATE') await demandPlace(ctx, row.container_id, 'SHARED')
  const kept = await keptOf(ctx, body, row.container_id)
  const next = {
    name: body.name ?? row.name,
    layout: body.layout ?? row.layout,
    filter: body.filter === undefined ? row.filter : same(kept.filter, row.filter),
    sort: body.sort === undefined ? row.sort : same(kept.sort, row.sort),
    group_by: body.group_by === undefined ? row.group_by : same(kept.group_by, row.group_by),
    columns: body.columns ?? row.columns,
    visibility,
  }
  const members = changedMembers<View>(row, next)
  if (members.length === 0) return shown(ctx, row)
  if (visibility !== row.visibility) await refuseFull(ctx, visibility, row.created_by)

  const [view] = await tx<[View]>`
    update item_view v set name = ${next.name}, layout = ${next.layout}, filter = ${jsonOf(ctx, next.filter)},
           sort = ${jsonOf(ctx, next.sort)}, group_by = ${jsonOf(ctx, next.group_by)}, columns = ${tx.json(next.columns)},
           visibility = ${visibility}, updated_at = now(), version = version + 1
    where v.tenant_id = ${ctx.account.tenantId} and v.id = ${viewId}
    returning ${columnsOf(ctx)}`

  return recorded(ctx, row, view, { members })
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed. */
export async function deleteView(ctx: Ctx, { viewId }: Received<typeof ops.deleteView>): Promise<void> {
  const row = await lockView(ctx, viewId)
  await ctx.tx`delete from item_view where tenant_id = ${ctx.account.tenantId} and id = ${viewId}`
  await tell(ctx, row, undefined)
}

/** jsonb keeps the members of an object in an order of its own, so equal values are taken to be the same one. */
const same = <Value>(value: Value, old: Value): Value => (isDeepStrictEqual(value, old) ? old : value)

const jsonOf = ({ tx }: Ctx, value: unknown) =>
  value === null || value === undefined ? null : tx.json(value as object)

/** The view, locked. Its container is locked first. */
async function lockView(ctx: Ctx, viewId: string): Promise<View> {
  const { tenantId, accountId } = ctx.account
  const [found] = await ctx.tx<Pick<View, 'container_id' | 'visibility' | 'created_by'>[]>`
    select container_id, visibility, created_by from item_view where tenant_id = ${tenantId} and id = ${viewId}`
  if (!found || (found.visibility === 'PRIVATE' && found.created_by !== accountId)) refuse('not_found')
  if (found.visibility === 'SHARED')
    await demandRole(ctx, found.container_id, found.created_by === accountId ? 'MEMBER' : 'ADMIN')
  const [row] = await ctx.tx<View[]>`
    select ${columnsOf(ctx)} from item_view v where v.tenant_id = ${tenantId} and v.id = ${viewId} for no key update`
  if (!row) refuse('not_found')
  ctx.unchanged(row.version)
  // It became private while this waited.
  if (row.visibility === 'PRIVATE' && row.created_by !== accountId) refuse('not_found')
  return row
}

/** Where a shared view is changed. A guest sees none of the whole workspace. */
async function demandRole(ctx: Ctx, containerId: string | null, role: Role): Promise<void> {
  if (containerId !== null) await writableContainer(ctx, containerId, role)
  else if (ctx.account.isGuest) refuse('not_found')
  else demandOnWorkspace(ctx, role)
}

/** The right to have a view of this kind there. Refuses request.invalid at /container_id, auth.role_required, container.archived. */
async function demandPlace(ctx: Ctx, containerId: string | null, visibility: View['visibility']): Promise<void> {
  if (containerId === null) {
    if (visibility === 'SHARED') demandOnWorkspace(ctx, 'MEMBER')
    return
  }
  const container =
    visibility === 'SHARED'
      ? await referencedContainer(ctx, containerId, 'MEMBER', '/container_id')
      : await findVisibleContainer(ctx, containerId)
  if (container?.kind !== 'COLLECTION') refuseMember('/container_id', 'reference.unknown')
}

function demandOnWorkspace({ account: { role, isGuest } }: Ctx, demanded: Role): void {
  if (isGuest || rankOf[role] < rankOf[demanded]) refuse('auth.role_required', { role: demanded })
}

/** The count is exact: a lock serialises concurrent calls. Refuses structure.full. */
async function refuseFull(ctx: Ctx, visibility: View['visibility'], makerId: string): Promise<void> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const isShared = visibility === 'SHARED'
  const limit = isShared ? mostShared : mostPrivate
  void tx`select pg_advisory_xact_lock(${lockClasses.views}, hashtext(${tenantId + (isShared ? '' : makerId)}))`
  const whose = isShared ? tx.part`visibility = 'SHARED'` : tx.part`visibility = 'PRIVATE' and created_by = ${makerId}`
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from item_view where tenant_id = ${tenantId} and ${whose}`
  if ((row?.count ?? 0) >= limit) refuse('structure.full', { limit })
}

const shown = async (ctx: Ctx, view: View): Promise<ViewShown> => {
  const [one] = await withUnknown(ctx, [view])
  return one as ViewShown
}

async function recorded(ctx: Ctx, before: View | undefined, after: View, params = {}): Promise<ViewShown> {
  await tell(ctx, before, after, params)
  return shown(ctx, after)
}

async function tell(ctx: Ctx, before: View | undefined, after: View | undefined, params = {}): Promise<void> {
  const wasShared = before?.visibility === 'SHARED'
  if (after?.visibility === 'SHARED')
    await ctx.record(wasShared ? 'work.view.changed' : 'work.view.created', after, params)
  else if (before && wasShared) await ctx.record('work.view.deleted', after ?? before, params)
}
